"""Values cut to a length that fits an error message."""

import reprlib


class _Repr(reprlib.Repr):
    def repr_int(self, x: int, level: int) -> str:
        # Python refuses to write out an integer of more than 4300 digits.
        return super().repr_int(x, level) if x.bit_length() < 1000 else f"<int of {x.bit_length()} bits>"


_REPR = _Repr()
_REPR.maxstring = _REPR.maxother = 60
_REPR.maxlist = _REPR.maxtuple = _REPR.maxset = _REPR.maxdict = 4
_REPR.maxlevel = 2


def shorten(value: object, limit: int = 60) -> str:
    """The representation of a value, cut for an error message.

    Args:
        value: anything, of any size; a large value is not written out in full first.
        limit: most characters to return, >= 1.

    Returns:
        At most `limit` characters, in one line.
    """
    text = _REPR.repr(value).replace("\n", " ")
    return text if len(text) <= limit else text[: limit - 1] + "…"
