"""A cache of token embeddings with a limit in bytes, for texts that are scored again and again.

The references of a training loop come back after every epoch; the replies mostly do not. So replies are the first
to go.
"""

import threading
from collections import OrderedDict
from collections.abc import Hashable
from typing import Any, NamedTuple


class _Entry(NamedTuple):
    value: Any
    size: int
    generation: int


class EmbeddingCache:
    """Least recently used values, limited by their size in bytes; usable from several threads.

    A generation is one computation. An entry never pushes out one of its own rank and generation: a list of texts
    that is larger than the cache would otherwise push out each entry just before it is asked for again.

    Args:
        max_bytes: limit of the sum of the sizes; 0 stores nothing.
    """

    def __init__(self, max_bytes: int = 0):
        self._max_bytes = max_bytes
        self._used = 0
        self._generation = 0
        self._references: OrderedDict[Hashable, _Entry] = OrderedDict()
        self._replies: OrderedDict[Hashable, _Entry] = OrderedDict()
        self._lock = threading.Lock()

    def start_generation(self, max_bytes: int) -> None:
        """Mark the start of a computation and set the limit for it.

        Args:
            max_bytes: the new limit; what goes beyond it is thrown out at once, replies first.
        """
        with self._lock:
            self._generation += 1
            self._max_bytes = max_bytes
            while self._used > max_bytes:
                self._drop_oldest(self._replies or self._references)

    def get(self, key: Hashable) -> Any | None:
        """Look a value up.

        Args:
            key: everything that changes the value.

        Returns:
            The value, or None where it is not there.
        """
        with self._lock:
            for entries in (self._references, self._replies):
                if key in entries:
                    entries[key] = entries[key]._replace(generation=self._generation)
                    entries.move_to_end(key)
                    return entries[key].value
            return None

    def put(self, key: Hashable, value: Any, size: int, *, is_reference: bool) -> None:
        """Store a value if there is room for it, or if room can be made.

        Args:
            key: everything that changes the value.
            value: the value; the caller must not change it afterwards.
            size: its size in bytes.
            is_reference: whether the text is a reference, which goes before replies.
        """
        with self._lock:
            known = key in self._references or key in self._replies
            if known or not self._make_room(size, is_reference):
                return
            entries = self._references if is_reference else self._replies
            entries[key] = _Entry(value, size, self._generation)
            self._used += size

    def __len__(self) -> int:
        """Count the entries."""
        return len(self._references) + len(self._replies)

    @property
    def used_bytes(self) -> int:
        """Sum of the sizes of what is stored, in bytes."""
        return self._used

    def _make_room(self, size: int, is_reference: bool) -> bool:
        if size > self._max_bytes:
            return False
        while self._used + size > self._max_bytes:
            if self._replies and (is_reference or self._is_old(self._replies)):
                self._drop_oldest(self._replies)
            elif is_reference and self._references and self._is_old(self._references):
                self._drop_oldest(self._references)
            else:
                return False
        return True

    def _is_old(self, entries: OrderedDict[Hashable, _Entry]) -> bool:
        return next(iter(entries.values())).generation != self._generation

    def _drop_oldest(self, entries: OrderedDict[Hashable, _Entry]) -> None:
        _, entry = entries.popitem(last=False)
        self._used -= entry.size
