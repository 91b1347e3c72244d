"""Snippets around matches, with spans instead of markup, so that a text cannot inject HTML into a page."""

import re
from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass

MAX_SNIPPET_CHARACTERS = 240
ELLIPSIS = "…"
# Includes punctuation inside words: like PostgreSQL, treats `e-mail` and `3.14` as one word.
WORD = re.compile(r"[^\W_]+(?:[.,'’@/_-][^\W_]+)*")

Span = tuple[int, int]


@dataclass(frozen=True)
class Snippet:
    text: str
    highlights: Sequence[Span]
    """Start and end of each match, in characters of `text`."""


def split_words(text: str) -> set[str]:
    """Return the distinct words of a text in lower case."""
    return {match.group().lower() for match in WORD.finditer(text)}


def words_by_language(texts: Iterable[tuple[str, str]]) -> dict[str, set[str]]:
    """Collect the distinct words of each text, grouped by language."""
    words: dict[str, set[str]] = {}
    for language, text in texts:
        words.setdefault(language, set()).update(split_words(text))
    return words


def word_spans(text: str, language: str, matching: Container[tuple[str, str]]) -> list[Span]:
    """Return the spans of all words whose (language, word) pair is in `matching`."""
    return [match.span() for match in WORD.finditer(text) if (language, match.group().lower()) in matching]


def substring_spans(text: str, needles: Iterable[str]) -> list[Span]:
    """Return the spans of all occurrences of the terms, ignoring case."""
    found = [re.finditer(re.escape(needle), text, re.IGNORECASE) for needle in needles if needle]
    return [match.span() for matches in found for match in matches]


def merge_spans(spans: Iterable[Span]) -> list[Span]:
    """Sort the spans and merge those that overlap."""
    merged: list[Span] = []
    for start, end in sorted(spans):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged


def make_snippet(text: str, spans: Iterable[Span], max_length: int = MAX_SNIPPET_CHARACTERS) -> Snippet:
    """Return the part of `text` with the most matches close together, cut at spaces."""
    found = merge_spans(spans)
    start, end = _window(text, found, max_length)
    before = ELLIPSIS if start > 0 else ""
    after = ELLIPSIS if end < len(text) else ""
    shift = len(before) - start
    inside = [(max(left, start), min(right, end)) for left, right in found if left < end and right > start]
    # Each line end becomes one space, so that the spans remain correct.
    shown = re.sub(r"\s", " ", text[start:end])
    return Snippet(before + shown + after, [(left + shift, right + shift) for left, right in inside])


def _window(text: str, spans: Sequence[Span], length: int) -> Span:
    if len(text) <= length:
        return _trim_to_spaces(text, 0, len(text))
    first = _densest_window(spans, length)
    # Matches are centered where the text is long enough on both sides.
    start = max(0, min((first[0] + first[1] - length) // 2, len(text) - length))
    end = start + length
    if start > 0:
        gap = re.compile(r"\s").search(text, start, min(start + 30, max(first[0], start)))
        start = gap.end() if gap else start
    if end < len(text):
        gap_at = max(text.rfind(space, max(end - 30, first[1]), end) for space in " \n\t")
        end = gap_at if gap_at > start else end
    return _trim_to_spaces(text, start, end)


def _densest_window(spans: Sequence[Span], length: int) -> Span:
    """Return the span of the most matches that fit into `length`, or the start of the text without any."""
    best, most, last = (0, 0), 0, 0
    for first, (start, end) in enumerate(spans):
        last = max(last, first)
        while last + 1 < len(spans) and spans[last + 1][1] - start <= length:
            last += 1
        if last - first + 1 > most:
            best, most = (start, max(end, spans[last][1])), last - first + 1
    return best[0], min(best[1], best[0] + length)


def _trim_to_spaces(text: str, start: int, end: int) -> Span:
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    return start, end
