"""Find the sentences of a text. Pure. Chunks and snippets are split between them."""

import re
from collections.abc import Iterator

TextSpan = tuple[int, int]


# A punctuation mark, closing quotes and a space. Chinese and Japanese use no space there.
_SENTENCE_END = re.compile(r"[.!?…]+[\"'»«”“’)\]]*(?=\s)|[。！？]+[」』）]*")


_LAST_WORD = re.compile(r"(\w+)\.$")


_ABBREVIATIONS = re.compile(
    "abs|art|bzw|ca|cf|co|corp|dr|etc|fig|gmbh|inc|kap|ltd|mr|mrs|ms|no|nos|nr|pp|prof|rev|sec|st|str|tel|usw|vgl|vol|vs"
)


def sentence_spans(text: str, start: int, end: int) -> Iterator[TextSpan]:
    """Yield the sentences between `start` and `end`."""
    begin = start
    for match in _SENTENCE_END.finditer(text, start, end):
        if _continues(text, match, end):
            continue
        yield from _trim_span(text, begin, match.end())
        begin = match.end()
    yield from _trim_span(text, begin, end)


def _continues(text: str, mark: re.Match[str], end: int) -> bool:
    """Return whether the sentence continues after the mark, for example because it ends an abbreviation."""
    following = text[mark.end() : min(mark.end() + 8, end)].lstrip()
    if following[:1].islower():
        return True
    before = _LAST_WORD.search(text, max(mark.start() - 12, 0), mark.end())
    if before is None:
        return False
    word = before[1]
    return (len(word) == 1 and word.isalpha()) or _ABBREVIATIONS.fullmatch(word.lower()) is not None


def _trim_span(text: str, start: int, end: int) -> Iterator[TextSpan]:
    found = text[start:end]
    begin = start + len(found) - len(found.lstrip())
    if begin < end:
        yield begin, start + len(found.rstrip())
