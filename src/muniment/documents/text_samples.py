"""Is it text, in whichever encoding? Which one exactly is for the reader of the text to find out.

Text has next to no control characters, every binary format is full of them: in random bytes each ninth is one.
"""

import codecs
from collections import Counter
from collections.abc import Iterator
from unicodedata import category

_BOMS = (  # UTF-32 first: its mark begins with that of UTF-16
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
# Stands for every 8-bit and East Asian encoding: it knows all bytes, and its only controls are those of ASCII.
_ANY_OTHER = "cp437"

# With the end mark of DOS, and what terminals and the encodings of Japan and Korea escape and shift with.
_WELCOME_CONTROLS = frozenset("\t\n\v\f\r\x0e\x0f\x1a\x1b\x85")
_ONE_STRAY_IN = 200


def read_text(head: bytes, tail: bytes, size_bytes: int) -> str | None:
    """The text of `head`, exact where it is Unicode and right in its ASCII part otherwise; `None` if it is no text.

    `tail` must be text in the same encoding: an installer may begin with a script and go on with an archive.
    """
    aligned = tail[(len(tail) - size_bytes) % 4 :]
    for encoding, needs_proof in _candidates(head):
        # A character that is cut in two at an edge becomes one stray character, which is allowed.
        text = head.decode(encoding, errors="replace").removeprefix("\ufeff")
        is_text = _is_plausible(text) and _is_plausible(aligned.decode(encoding, errors="replace"))
        if is_text and (not needs_proof or _is_alphabetic(text)):
            return text
    return None


def _candidates(head: bytes) -> Iterator[tuple[str, bool]]:
    """The encodings to try, and whether plausible characters alone do not prove them."""
    for mark, encoding in _BOMS:
        if head.startswith(mark):
            yield encoding, False
            return
    if b"\0" in head:
        yield "utf-16-le", True
        yield "utf-16-be", True
    else:
        yield "utf-8", False
        yield _ANY_OTHER, False


def _is_plausible(text: str) -> bool:
    counts = Counter(text)
    strays = sum(count for character, count in counts.items() if _is_stray(character))
    return "\0" not in counts and strays * _ONE_STRAY_IN <= len(text)


def _is_stray(character: str) -> bool:
    if character in _WELCOME_CONTROLS:
        return False
    # Not assigned: a sign of nonsense among the old characters, the emoji of next year among the others.
    is_unassigned = category(character) == "Cn" and character <= "\uffff"
    return is_unassigned or character == "\ufffd" or category(character) == "Cc"


def _is_alphabetic(text: str) -> bool:
    """Whether this reads like a script with an alphabet. Without a mark, any two bytes make some Chinese character."""
    ascii_count = sum(character.isascii() for character in text)
    low_count = sum(character < "\u2100" for character in text)
    return ascii_count >= 0.05 * len(text) and low_count >= 0.9 * len(text)
