"""The cache of embeddings: its limit, and who goes first."""

import random
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from argscichat_metric.embedding_cache import EmbeddingCache

KEYS = st.integers(0, 12)
SIZES = st.integers(0, 40)


class CacheMachine(RuleBasedStateMachine):
    """Any sequence of generations, puts and gets, beside a record of what was ever put."""

    def __init__(self):
        super().__init__()
        self.limit = 0
        self.cache = EmbeddingCache()
        self.sizes: dict[int, int] = {}

    @rule(limit=st.integers(0, 100))
    def start_generation(self, limit):
        self.limit = limit
        self.cache.start_generation(limit)

    @rule(key=KEYS, size=SIZES, is_reference=st.booleans())
    def put(self, key, size, is_reference):
        was_there = self.cache.get(key) is not None
        self.cache.put(key, ("value of", key), size, is_reference=is_reference)
        if not was_there:
            self.sizes[key] = size

    @rule(key=KEYS)
    def get(self, key):
        assert self.cache.get(key) in (None, ("value of", key))

    @invariant()
    def the_limit_holds(self):
        assert 0 <= self.cache.used_bytes <= self.limit

    def teardown(self):
        stored = [key for key in range(13) if self.cache.get(key) is not None]
        assert len(self.cache) == len(stored)
        assert self.cache.used_bytes == sum(self.sizes[key] for key in stored)


TestAnySequence = CacheMachine.TestCase


def filled(max_bytes: int, references: str = "", replies: str = "") -> EmbeddingCache:
    """A cache that holds entries of one byte each, put in a generation that is over."""
    cache = EmbeddingCache()
    cache.start_generation(max_bytes)
    for texts, is_reference in ((references, True), (replies, False)):
        for text in texts:
            cache.put(text, text.upper(), 1, is_reference=is_reference)
    cache.start_generation(max_bytes)
    return cache


def held(cache: EmbeddingCache, texts: str) -> str:
    """Which of the texts are there."""
    return "".join(text for text in texts if cache.get(text))


def test_a_new_cache_stores_nothing():
    cache = EmbeddingCache()
    cache.put("a", "A", 1, is_reference=True)
    assert (len(cache), cache.used_bytes, cache.get("a")) == (0, 0, None)


def test_a_value_comes_back_by_its_key_only():
    cache = filled(10, "a", "b")
    assert (cache.get("a"), cache.get("b"), cache.get("c")) == ("A", "B", None)


def test_the_least_recently_used_of_a_rank_goes_first():
    cache = filled(3, replies="abc")
    assert cache.get("a")
    cache.put("d", "D", 1, is_reference=False)
    assert held(cache, "abcd") == "acd"


def test_replies_never_push_out_references():
    cache = filled(2, references="ab")
    cache.put("x", "X", 1, is_reference=False)
    assert held(cache, "abx") == "ab"


def test_references_push_out_replies_also_those_of_the_same_generation():
    cache = filled(2, replies="xy")
    assert held(cache, "xy") == "xy"
    for reference in "ab":
        cache.put(reference, reference, 1, is_reference=True)
    assert held(cache, "xyab") == "ab"


def test_references_outlive_many_generations_of_new_replies():
    cache = filled(5, references="abc")
    for generation in range(20):
        cache.start_generation(5)
        assert held(cache, "abc") == "abc"
        for number in range(10):
            cache.put(("reply", generation, number), "x", 1, is_reference=False)
        assert cache.used_bytes == 5


def test_references_of_earlier_generations_make_room_for_new_ones():
    cache = filled(2, references="ab")
    for reference in "cd":
        cache.put(reference, reference, 1, is_reference=True)
    assert held(cache, "abcd") == "cd"


@given(st.integers(1, 30), st.integers(1, 30), st.booleans())
def test_a_list_larger_than_the_cache_does_not_push_itself_out(n_texts, max_bytes, is_reference):
    cache = EmbeddingCache()
    hits = []
    for _epoch in range(4):
        cache.start_generation(max_bytes)
        hits.append(0)
        for text in range(n_texts):
            hits[-1] += cache.get(text) is not None
            cache.put(text, "x", 1, is_reference=is_reference)
    # A plain least-recently-used cache would have no hit at all where the list is the longer one.
    assert hits == [0] + [min(n_texts, max_bytes)] * 3


def test_a_value_larger_than_the_cache_pushes_nothing_out():
    cache = filled(3, "a", "bc")
    cache.put("huge", "x", 4, is_reference=True)
    assert held(cache, "abc") == "abc"


def test_a_value_that_is_there_is_not_counted_twice():
    cache = filled(10, references="a")
    for is_reference in (True, False):
        cache.put("a", "other", 5, is_reference=is_reference)
    assert (len(cache), cache.used_bytes, cache.get("a")) == (1, 1, "A")


@pytest.mark.parametrize(("limit", "left"), [(5, "abxyz"), (4, "abyz"), (2, "ab"), (1, "b"), (0, "")])
def test_a_lower_limit_throws_out_at_once_replies_first_and_oldest_first(limit, left):
    cache = filled(5, references="ab", replies="xyz")
    cache.start_generation(limit)
    assert cache.used_bytes == len(left)
    assert held(cache, "abxyz") == left


def test_threads_can_share_a_cache():
    cache = EmbeddingCache()
    limit = 50

    def work(seed: int) -> None:
        chance = random.Random(seed)
        for _ in range(2000):
            key = chance.randrange(40)
            action = chance.randrange(20)
            if action == 0:
                cache.start_generation(limit)
            elif action < 10:
                cache.put(key, key, key, is_reference=chance.random() < 0.5)
            else:
                assert cache.get(key) in (None, key)
            assert cache.used_bytes <= limit

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(work, range(8)))
    stored = [key for key in range(40) if cache.get(key) is not None]
    assert cache.used_bytes == sum(stored) > 0
    assert len(cache) == len(stored)
