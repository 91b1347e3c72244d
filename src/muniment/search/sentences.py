"""Where sentences, lines and words begin and end, as spans of a text. Pure; blank space belongs to none of them."""

import re
from collections.abc import Callable, Iterator

Place = tuple[int, int]

# Behind a mark that ends a sentence, its closing quotes and a blank; Chinese and Japanese write no blank there.
_END = re.compile(r"[.!?…]+[\"'»«”“’)\]]*(?=\s)|[。！？]+[」』）]*")
_LAST_WORD = re.compile(r"(\w+)\.$")
_ABBREVIATIONS = re.compile(
    "abs|art|bzw|ca|cf|co|corp|dr|etc|fig|gmbh|inc|kap|ltd|mr|mrs|ms|no|nos|nr|pp|prof|rev|sec|st|str|tel|usw|vgl|vol|vs"
)
_LINE = re.compile(r"\S(?:[^\n]*\S)?")
_WORD = re.compile(r"\S+")


def sentence_spans(text: str, start: int, end: int) -> Iterator[Place]:
    begin = start
    for match in _END.finditer(text, start, end):
        if _goes_on(text, match, end):
            continue
        yield from _trimmed(text, begin, match.end())
        begin = match.end()
    yield from _trimmed(text, begin, end)


def _goes_on(text: str, mark: re.Match[str], end: int) -> bool:
    """An abbreviation or the like: the sentence does not end here."""
    following = text[mark.end() : min(mark.end() + 8, end)].lstrip()
    if following[:1].islower():
        return True
    before = _LAST_WORD.search(text, max(mark.start() - 12, 0), mark.end())
    if before is None:
        return False
    word = before[1]
    return (len(word) == 1 and word.isalpha()) or _ABBREVIATIONS.fullmatch(word.lower()) is not None


def line_spans(text: str, start: int, end: int) -> Iterator[Place]:
    """Rows of a table."""
    return (match.span() for match in _LINE.finditer(text, start, end))


def word_spans(text: str, start: int, end: int) -> Iterator[Place]:
    return (match.span() for match in _WORD.finditer(text, start, end))


def bisect_span(start: int, end: int, is_small: Callable[[int, int], bool]) -> Iterator[Place]:
    """The span itself if it is small enough, or else its halves, and theirs."""
    if end - start <= 1 or is_small(start, end):
        yield start, end
        return
    middle = (start + end) // 2
    yield from bisect_span(start, middle, is_small)
    yield from bisect_span(middle, end, is_small)


def _trimmed(text: str, start: int, end: int) -> Iterator[Place]:
    found = text[start:end]
    begin = start + len(found) - len(found.lstrip())
    if begin < end:
        yield begin, start + len(found.rstrip())
