"""Turn texts into the terms of an index and questions into the terms of a query.

Several terms may share a position: the spellings of a word, a compound and its parts, a code and its parts. The length
of a text is therefore the number of its positions, not of its tokens. Stop words take a position but give no token, so
that phrases keep their distances.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

from muniment.search.analysis.exact_terms import (
    ExactTerms,
    SpacedValue,
    analyze_address,
    analyze_code,
    analyze_url,
    spaced_values,
)
from muniment.search.analysis.segments import PIECES, is_url, normalize, split_runs
from muniment.search.analysis.words import MAX_TERM_CHARACTERS, WordAnalyzer, word_analyzer

ANALYSIS_VERSION = 1
"""Raised when the same text gives other terms. Lexical forms of an older version are rebuilt."""
MAX_POSITION = 16_383
"""PostgreSQL stores no higher position, and at most 255 positions of a term."""

_PART_WEIGHT = 0.5
"""What the parts of a value weigh together in a query, compared with the whole."""
_MAX_JOINED_PIECES = 4
_MAX_JOINED_LENGTH = 40
_MAX_CACHED_RUNS = 20_000
_DIGIT = re.compile(r"\d")
_ADDRESS = re.compile(r"[\w.+'&/-]+@[\w-]+(?:\.[\w-]+)+")
_ABBREVIATED = re.compile(r"[^\W\d_]{2,}\.(?=\d)")
_INITIALS = re.compile(r"[^\W\d_](?:\.[^\W\d_])+")
_IDEOGRAMS = re.compile(r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]+")


class Token(NamedTuple):
    """A term at a position of a text; `start` and `end` are the characters it stands for."""

    term: str
    position: int
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class QueryTerm:
    """What a query asks for at one position: any of the alternatives.

    A passage that has several alternatives matches once. The weight multiplies the score of the term.
    """

    alternatives: tuple[str, ...]
    position: int
    weight: float = 1.0


class _IndexTerm(NamedTuple):
    term: str
    position: int
    start: int
    end: int


class _Asked(NamedTuple):
    alternatives: tuple[str, ...]
    position: int
    weight: float


class _RunTerms(NamedTuple):
    """The terms of a run, at positions and characters counted from its beginning."""

    width: int
    indexed: tuple[_IndexTerm, ...]
    asked: tuple[_Asked, ...]


def analyze(text: str, language: str) -> list[Token]:
    """Return the terms of a text for an index, in the order of their positions."""
    runs = _run_analyzer(language)
    tokens: list[Token] = []
    values = spaced_values(text) if _DIGIT.search(text) else []
    next_value = 0
    position = 1
    for start, end in split_runs(text):
        while next_value < len(values) and values[next_value].start < end:
            value = values[next_value]
            tokens += [Token(term, min(position, MAX_POSITION), value.start, value.end) for term in value.whole]
            next_value += 1
        width, indexed, _ = runs.terms(text[start:end])
        for term, offset, first, last in indexed:
            tokens.append(Token(term, min(position + offset, MAX_POSITION), start + first, start + last))
        position += width
    return tokens


def analyze_query(text: str, language: str) -> list[QueryTerm]:
    """Return what a question asks for. Stop words are left out; a question of stop words alone asks for nothing."""
    runs = _run_analyzer(language)
    found: list[tuple[int, QueryTerm]] = []
    position = 1
    for start, end in split_runs(text):
        width, _, asked = runs.terms(text[start:end])
        found += [(start, QueryTerm(alternatives, position + offset, weight)) for alternatives, offset, weight in asked]
        position += width
    for value in spaced_values(text, in_query=True):
        found = _with_value(found, value)
    return [term for _, term in found]


def count_positions(tokens: Sequence[Token]) -> int:
    """Return the length of a text for ranking: the number of positions that have a token."""
    return len({token.position for token in tokens})


def _with_value(found: list[tuple[int, QueryTerm]], value: SpacedValue) -> list[tuple[int, QueryTerm]]:
    """Let a value that is written with spaces match in one piece as well, and if it is certain, above all so."""
    starts = [start for start, _ in found]
    first, last = bisect_right(starts, value.start - 1), bisect_right(starts, value.end - 1)
    inner = found[first:last]
    if not inner:
        return found
    share = _PART_WEIGHT / len(inner) if value.is_certain else 1.0
    parts = [
        (start, QueryTerm(tuple(dict.fromkeys(term.alternatives + value.whole)), term.position, term.weight * share))
        for start, term in inner
    ]
    whole = [(inner[0][0], QueryTerm(value.whole, inner[0][1].position))] if value.is_certain else []
    return [*found[:first], *whole, *parts, *found[last:]]


class _RunAnalyzer:
    """Analyzes the runs of one language. Runs of letters repeat and are cached."""

    def __init__(self, words: WordAnalyzer) -> None:
        self._words = words
        self._cache: dict[str, _RunTerms] = {}

    def terms(self, run: str) -> _RunTerms:
        known = self._cache.get(run)
        if known is not None:
            return known
        normalized = normalize(run)
        if is_url(normalized):
            return self._exact(run, normalized, analyze_url(normalized))
        if "@" in normalized and _ADDRESS.fullmatch(normalized):
            return self._exact(run, normalized, analyze_address(normalized))
        if _DIGIT.search(normalized):
            return self._code(run, normalized)
        terms = self._letters(run, normalized)
        if len(self._cache) >= _MAX_CACHED_RUNS:
            self._cache.clear()
        self._cache[run] = terms
        return terms

    def _code(self, run: str, normalized: str) -> _RunTerms:
        # `Nr.5` is an abbreviation before a number; `AX.4711` in capitals is a code.
        if (
            (match := _ABBREVIATED.match(normalized))
            and len(run) == len(normalized)
            and not run[: match.end()].isupper()
        ):
            first = self.terms(run[: match.end() - 1])
            rest = self.terms(run[match.end() :])
            return _RunTerms(
                first.width + rest.width,
                first.indexed
                + tuple(
                    _IndexTerm(term, first.width + position, match.end() + start, match.end() + end)
                    for term, position, start, end in rest.indexed
                ),
                first.asked
                + tuple(
                    _Asked(alternatives, first.width + position, weight)
                    for alternatives, position, weight in rest.asked
                ),
            )
        return self._exact(run, normalized, analyze_code(normalized))

    def _exact(self, run: str, normalized: str, exact: ExactTerms) -> _RunTerms:
        """Return the terms of a value, all at one position."""
        whole = tuple(term[:MAX_TERM_CHARACTERS] for term in exact.whole if term)
        parts: list[tuple[tuple[str, ...], str]] = [
            ((part[:MAX_TERM_CHARACTERS],), part) for part in exact.parts if part
        ]
        parts += [(spellings, word) for word in exact.words if (spellings := self._words.terms(word).spellings)]
        terms: dict[str, tuple[int, int]] = dict.fromkeys(whole, (0, len(run)))
        for spellings, written in parts:
            start = normalized.find(written) if len(run) == len(normalized) else -1
            span = (start, start + len(written)) if start >= 0 else (0, len(run))
            for term in spellings:
                terms.setdefault(term, span)
        indexed = tuple(_IndexTerm(term, 0, *span) for term, span in terms.items())
        if not whole:
            return _RunTerms(1, indexed, tuple(_Asked(spellings, 0, 1.0) for spellings, _ in parts))
        rest = [spellings for spellings, _ in parts if not set(spellings) & set(whole)]
        weight = _PART_WEIGHT / len(rest) if rest else 0.0
        return _RunTerms(
            1, indexed, (_Asked(whole, 0, 1.0), *(_Asked((*spellings, *whole), 0, weight) for spellings in rest))
        )

    def _letters(self, run: str, normalized: str) -> _RunTerms:
        if _INITIALS.fullmatch(normalized):  # `U.S.A`, `z.B`
            normalized = normalized.replace(".", "")
        pieces = list(PIECES.finditer(normalized))
        is_aligned = len(run) == len(normalized)
        indexed: list[_IndexTerm] = []
        asked: list[_Asked] = []
        position = 0
        joined = self._joined([piece[0] for piece in pieces])
        if joined:
            indexed += [_IndexTerm(term, 0, 0, len(run)) for term in joined]
        for piece in pieces:
            start, end = piece.span() if is_aligned else (0, len(run))
            for spellings, parts in self._words_of(piece[0]):
                if spellings:
                    alternatives = tuple(dict.fromkeys(spellings + joined))
                    asked.append(_Asked(alternatives, position, 1.0))
                indexed += [_IndexTerm(term, position, start, end) for term in (*spellings, *parts)]
                position += 1
        return _RunTerms(position, tuple(dict.fromkeys(indexed)), tuple(asked))

    def _joined(self, pieces: Sequence[str]) -> tuple[str, ...]:
        """Return the terms of a hyphenated word written as one: those of `email` for `e-mail`."""
        if not 1 < len(pieces) <= _MAX_JOINED_PIECES:
            return ()
        word = "".join(pieces).replace("'", "")
        return self._words.terms(word).spellings if len(word) <= _MAX_JOINED_LENGTH else ()

    def _words_of(self, piece: str) -> Iterator[tuple[tuple[str, ...], tuple[str, ...]]]:
        """Yield spellings and parts of the words of a piece, one for each position."""
        word = self._words.without_elision(piece).strip("'").removesuffix("'s")
        if (
            _IDEOGRAMS.fullmatch(word) and len(word) > 1
        ):  # without a dictionary, words are found by their pairs of signs
            yield from (((word[first : first + 2],), ()) for first in range(len(word) - 1))
            return
        inner = tuple(part for part in word.split("'") if len(part) > 2) if "'" in word else ()
        terms = self._words.terms(word.replace("'", ""))
        parts = terms.parts + tuple(term for part in inner for term in self._words.terms(part).spellings)
        yield terms.spellings, tuple(term for term in parts if term not in terms.spellings) if terms.spellings else ()


@cache
def _run_analyzer(language: str) -> _RunAnalyzer:
    return _RunAnalyzer(word_analyzer(language))
