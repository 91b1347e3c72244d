"""Snippets that begin with the best sentence. Matches are spans, not markup: a text cannot inject HTML into a page.

The best sentence has the most matching words; a word counts more, the fewer sentences of the result contain it.
"""

import re
from collections import Counter
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import log

from muniment.search.analysis.analyzer import analyze
from muniment.search.sentences import sentence_spans

MAX_SNIPPET_CHARACTERS = 240
ELLIPSIS = "…"
# Includes punctuation inside words: like PostgreSQL, treats `e-mail` and `3.14` as one word.
WORD = re.compile(r"[^\W_]+(?:[.,'’@/_-][^\W_]+)*")

_PARAGRAPH_BREAK = re.compile(r"\n[^\S\n]*\n\s*")

Span = tuple[int, int]


@dataclass(frozen=True)
class Snippet:
    text: str
    highlights: Sequence[Span]
    """Start and end of each match, in characters of `text`."""


def term_spans(text: str, language: str, terms: Container[str]) -> list[Span]:
    """Return the spans of all words of a text whose terms are among these."""
    return [(token.start, token.end) for token in analyze(text, language) if token.term in terms]


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


def rarity_weights(texts: Iterable[tuple[str, Iterable[Span]]]) -> dict[str, float]:
    """Return a weight for each matching word of these texts: higher, the fewer of their sentences contain it."""
    counts: Counter[str] = Counter()
    total = 0
    for text, spans in texts:
        found = merge_spans(spans)
        for sentence in _sentences(text):
            total += 1
            counts.update(_words_within(text, found, sentence))
    return {word: log(1 + total / count) for word, count in counts.items()}


def make_snippet(
    text: str,
    spans: Iterable[Span],
    weights: Mapping[str, float] | None = None,
    max_length: int = MAX_SNIPPET_CHARACTERS,
) -> Snippet:
    """Return the part of `text` that begins with its best sentence, cut at a space.

    Without a match it begins with the first sentence. In a sentence that is too long to show its matches from its
    beginning, it is the part with the most of them close together.
    """
    found = merge_spans(spans)
    sentence = _best_sentence(text, found, weights or {})
    start, end = _window(text, found, sentence, max_length)
    before = ELLIPSIS if start > sentence[0] else ""
    after = ELLIPSIS if end < len(text.rstrip()) else ""
    shift = len(before) - start
    inside = [(max(left, start), min(right, end)) for left, right in found if left < end and right > start]
    # Each line end becomes one space, so that the spans remain correct.
    shown = re.sub(r"\s", " ", text[start:end])
    return Snippet(before + shown + after, [(left + shift, right + shift) for left, right in inside])


def _sentences(text: str) -> Iterator[Span]:
    """Yield the sentences of each paragraph, so that a heading is not part of the sentence below it."""
    begin = 0
    for gap in _PARAGRAPH_BREAK.finditer(text):
        yield from sentence_spans(text, begin, gap.start())
        begin = gap.end()
    yield from sentence_spans(text, begin, len(text))


def _words_within(text: str, spans: Iterable[Span], sentence: Span) -> set[str]:
    return {text[left:right].lower() for left, right in spans if left < sentence[1] and right > sentence[0]}


def _best_sentence(text: str, spans: Sequence[Span], weights: Mapping[str, float]) -> Span:
    """Return the first of the sentences with the highest weight of distinct matching words."""
    sentences = list(_sentences(text)) or [(0, len(text))]
    return max(
        sentences,
        key=lambda sentence: sum(weights.get(word, 1.0) for word in _words_within(text, spans, sentence)),
    )


def _window(text: str, spans: Sequence[Span], sentence: Span, length: int) -> Span:
    start = sentence[0]
    within = [span for span in spans if span[0] < sentence[1] and span[1] > start]
    first = _densest_window(within, length) if within else (start, start)
    if first[1] > start + length:
        # Matches are centered where the text is long enough on both sides.
        start = max(start, min((first[0] + first[1] - length) // 2, len(text) - length))
        gap = re.compile(r"\s").search(text, start, min(start + 30, max(first[0], start)))
        start = gap.end() if gap else start
    end = min(start + length, len(text))
    if end < len(text):
        gap_at = max(text.rfind(space, max(end - 30, first[1], start), end) for space in " \n\t")
        end = gap_at if gap_at > start else end
    return _trim_to_spaces(text, start, end)


def _densest_window(spans: Sequence[Span], length: int) -> Span:
    """Return the span of the most matches that fit into `length`."""
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
