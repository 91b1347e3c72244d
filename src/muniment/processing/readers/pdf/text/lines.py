"""Group words into runs, and runs into lines."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from muniment.processing.readers.contract import Box
from muniment.processing.readers.pdf.text.words import WIDE_GAP, DrawnWord

_SPACED_OUT_GAP = 8.0
_SAME_RUN_GAP = 0.6
_SAME_WORD_GAP = 0.05
_MARKER_GAP = 3.0

LIST_MARKER = re.compile(r"(?:[•◦▪▫●○■□‣⁃∙·–—*\uf0b7\uf0a7-]|\(?(?:\d{1,3}|[a-zA-Z]|[ivxIVX]{1,4})[.)])$")
_RIGHT_TO_LEFT = re.compile("[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]")
_LEFT_TO_RIGHT = re.compile("[A-Za-z\u00c0-\u02af\u0370-\u052f]")


@dataclass(slots=True)
class Run:
    """Words beside each other, without a gap that could part columns. A line is a run, too."""

    words: list[DrawnWord] = field(repr=False)
    left: float
    top: float
    right: float
    bottom: float

    @property
    def height(self) -> float:
        return self.bottom - self.top

    @property
    def box(self) -> Box:
        return self.left, self.top, self.right, self.bottom

    def append(self, word: DrawnWord) -> None:
        self.words.append(word)
        if word.right > self.right:
            self.right = word.right
        if word.left < self.left:
            self.left = word.left
        if word.top < self.top:
            self.top = word.top
        if word.bottom > self.bottom:
            self.bottom = word.bottom

    def take(self, words: Iterable[DrawnWord]) -> None:
        for word in words:
            self.append(word)


def run_of(words: Sequence[DrawnWord]) -> Run:
    first = words[0]
    run = Run([first], first.left, first.top, first.right, first.bottom)
    run.take(words[1:])
    return run


def bounds(runs: Iterable[Run]) -> Box:
    lefts, tops, rights, bottoms = zip(*(run.box for run in runs), strict=True)
    return min(lefts), min(tops), max(rights), max(bottoms)


def side_by_side(a: Run | DrawnWord, b: Run | DrawnWord) -> bool:
    """Whether both stand on one line: they share half the height of the lower one (a superscript does)."""
    shared = min(a.bottom, b.bottom) - max(a.top, b.top)
    return shared >= 0.5 * min(a.bottom - a.top, b.bottom - b.top)


def gap_between(a: Run | DrawnWord, b: Run | DrawnWord) -> float:
    after, before = b.left - a.right, a.left - b.right
    return after if after > before else before


def runs_of(words: Sequence[DrawnWord]) -> list[Run]:
    """Words drawn one after the other and beside each other; then what was drawn apart and belongs together."""
    runs: list[Run] = []
    last: DrawnWord | None = None
    for word in words:
        if last is not None and _follows(last, word):
            runs[-1].append(word)
        else:
            runs.append(Run([word], word.left, word.top, word.right, word.bottom))
        last = word
    return _merged(runs)


def _follows(last: DrawnWord, word: DrawnWord) -> bool:
    height = word.bottom - word.top
    widest = height * (_SPACED_OUT_GAP if word.is_spaced else WIDE_GAP)
    if last.top == word.top and 0 < word.left - last.right < widest:
        return True
    return -0.5 * height < gap_between(last, word) < widest and side_by_side(last, word)


def _merged(runs: list[Run]) -> list[Run]:
    runs = sorted(runs, key=lambda run: (run.top, run.left))
    kept: list[Run] = []
    gone: set[int] = set()
    for place, run in enumerate(runs):
        if place in gone:
            continue
        _take_neighbours(run, runs, place, gone)
        kept.append(run)
    return kept


def _take_neighbours(run: Run, runs: list[Run], place: int, gone: set[int]) -> None:
    grown = True
    while grown:
        grown = False
        for other_place in range(place + 1, len(runs)):
            other = runs[other_place]
            if other.top >= run.bottom:
                break
            if other_place not in gone and side_by_side(run, other) and _belongs(run, other):
                run.take(other.words)
                gone.add(other_place)
                grown = True


def _belongs(run: Run, other: Run) -> bool:
    height = min(run.height, other.height)
    gap = gap_between(run, other)
    if -0.5 * height < gap < _SAME_RUN_GAP * height:
        return True
    first = run if run.left < other.left else other
    is_marker = len(first.words) == 1 and LIST_MARKER.match(first.words[0].text) is not None
    return is_marker and 0 <= gap < _MARKER_GAP * height


def lines_of(runs: Iterable[Run]) -> list[Run]:
    """Runs of one column as lines from top to bottom, the words of each as they are read."""
    lines: list[Run] = []
    for run in sorted(runs, key=lambda run: (run.top + run.bottom, run.left)):
        if lines and side_by_side(lines[-1], run):
            lines[-1].take(run.words)
        else:
            lines.append(Run(list(run.words), *run.box))
    for line in lines:
        line.words = in_reading_order(line.words)
    return sorted(lines, key=lambda line: line.top)


def is_right_to_left(words: Iterable[DrawnWord]) -> bool:
    text = " ".join(word.text for word in words)
    backwards = _RIGHT_TO_LEFT.findall(text)
    return bool(backwards) and len(backwards) > len(_LEFT_TO_RIGHT.findall(text))


def in_reading_order(words: Sequence[DrawnWord]) -> list[DrawnWord]:
    ordered = sorted(words, key=lambda word: word.left)
    if is_right_to_left(ordered):
        ordered = _from_the_right(ordered)
    return _pieced_together(ordered)


def _from_the_right(words: list[DrawnWord]) -> list[DrawnWord]:
    # Latin words inside of a Hebrew line keep their own order among themselves.
    ordered: list[DrawnWord] = []
    foreign: list[DrawnWord] = []
    for word in reversed(words):
        if _LEFT_TO_RIGHT.search(word.text) and not _RIGHT_TO_LEFT.search(word.text):
            foreign.insert(0, word)
            continue
        ordered += [*foreign, word]
        foreign = []
    return ordered + foreign


def _pieced_together(words: list[DrawnWord]) -> list[DrawnWord]:
    """A word whose parts were drawn apart, without the gap of a space, is one word."""
    pieced = words[:1]
    for word in words[1:]:
        last = pieced[-1]
        limit = _SAME_WORD_GAP * (word.bottom - word.top)
        if -2 * limit < gap_between(last, word) < limit and side_by_side(last, word):
            left, right = min(last.left, word.left), max(last.right, word.right)
            top, bottom = min(last.top, word.top), max(last.bottom, word.bottom)
            pieced[-1] = DrawnWord(last.text + word.text, left, top, right, bottom, last.place)
        else:
            pieced.append(word)
    return pieced
