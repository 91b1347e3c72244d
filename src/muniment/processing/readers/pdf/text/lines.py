"""Group words into runs, and runs into lines."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from operator import attrgetter

from muniment.processing.readers.contract import Box
from muniment.processing.readers.pdf.text.words import WIDE_GAP, PdfWord

_SPACED_OUT_GAP = 8.0
_SAME_RUN_GAP = 0.6
_SAME_WORD_GAP = 0.05
_MARKER_GAP = 3.0

LIST_MARKER = re.compile(r"(?:[•◦▪▫●○■□‣⁃∙·–—*\uf0b7\uf0a7-]|\(?(?:\d{1,3}|[a-zA-Z]|[ivxIVX]{1,4})[.)])$")
_RIGHT_TO_LEFT = re.compile("[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]")
_LEFT_TO_RIGHT = re.compile("[A-Za-z\u00c0-\u02af\u0370-\u052f]")


@dataclass(slots=True)
class TextRun:
    """Adjacent words without a gap that could separate columns. A line is also a run."""

    words: list[PdfWord] = field(repr=False)
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

    def append(self, word: PdfWord) -> None:
        self.words.append(word)
        if word.right > self.right:
            self.right = word.right
        if word.left < self.left:
            self.left = word.left
        if word.top < self.top:
            self.top = word.top
        if word.bottom > self.bottom:
            self.bottom = word.bottom

    def add_words(self, words: Iterable[PdfWord]) -> None:
        for word in words:
            self.append(word)


def make_run(words: Sequence[PdfWord]) -> TextRun:
    first = words[0]
    run = TextRun([first], first.left, first.top, first.right, first.bottom)
    run.add_words(words[1:])
    return run


def bounds(runs: Iterable[TextRun]) -> Box:
    lefts, tops, rights, bottoms = zip(*(run.box for run in runs), strict=True)
    return min(lefts), min(tops), max(rights), max(bottoms)


def on_same_line(a: TextRun | PdfWord, b: TextRun | PdfWord) -> bool:
    """Whether both are on one line: they share half the height of the lower one, as a superscript does."""
    shared = min(a.bottom, b.bottom) - max(a.top, b.top)
    return shared >= 0.5 * min(a.bottom - a.top, b.bottom - b.top)


def gap_between(a: TextRun | PdfWord, b: TextRun | PdfWord) -> float:
    after, before = b.left - a.right, a.left - b.right
    return after if after > before else before


def group_runs(words: Sequence[PdfWord]) -> list[TextRun]:
    """Group words that are drawn one after the other and adjacent; then merge runs that were drawn separately."""
    runs: list[TextRun] = []
    last: PdfWord | None = None
    for word in words:
        if last is not None and _continues_run(last, word):
            runs[-1].append(word)
        else:
            runs.append(TextRun([word], word.left, word.top, word.right, word.bottom))
        last = word
    return _merge_runs(runs)


def _continues_run(last: PdfWord, word: PdfWord) -> bool:
    height = word.bottom - word.top
    widest = height * (_SPACED_OUT_GAP if word.is_spaced else WIDE_GAP)
    if last.top == word.top and 0 < word.left - last.right < widest:
        return True
    return -0.5 * height < gap_between(last, word) < widest and on_same_line(last, word)


def _merge_runs(runs: list[TextRun]) -> list[TextRun]:
    runs = sorted(runs, key=lambda run: (run.top, run.left))
    merged: list[TextRun] = []
    absorbed: set[int] = set()
    for index, run in enumerate(runs):
        if index in absorbed:
            continue
        _absorb_neighbours(run, runs, index, absorbed)
        merged.append(run)
    return merged


def _absorb_neighbours(run: TextRun, runs: list[TextRun], index: int, absorbed: set[int]) -> None:
    grown = True
    while grown:
        grown = False
        for other_index in range(index + 1, len(runs)):
            other = runs[other_index]
            if other.top >= run.bottom:
                break
            if other_index not in absorbed and on_same_line(run, other) and _belongs_to_run(run, other):
                run.add_words(other.words)
                absorbed.add(other_index)
                grown = True


def _belongs_to_run(run: TextRun, other: TextRun) -> bool:
    height = min(run.height, other.height)
    gap = gap_between(run, other)
    if -0.5 * height < gap < _SAME_RUN_GAP * height:
        return True
    first = run if run.left < other.left else other
    is_marker = len(first.words) == 1 and LIST_MARKER.match(first.words[0].text) is not None
    return is_marker and 0 <= gap < _MARKER_GAP * height


def group_lines(runs: Iterable[TextRun]) -> list[TextRun]:
    """Group the runs of one column into lines, top to bottom, with words in reading order."""
    lines: list[TextRun] = []
    for run in sorted(runs, key=lambda run: (run.top + run.bottom, run.left)):
        if lines and on_same_line(lines[-1], run):
            lines[-1].add_words(run.words)
        else:
            lines.append(TextRun(list(run.words), *run.box))
    for line in lines:
        line.words = words_in_reading_order(line.words)
    return sorted(lines, key=lambda line: line.top)


def is_right_to_left(words: Iterable[PdfWord]) -> bool:
    text = " ".join([word.text for word in words])
    if text.isascii():
        return False
    backwards = _RIGHT_TO_LEFT.findall(text)
    return bool(backwards) and len(backwards) > len(_LEFT_TO_RIGHT.findall(text))


_left = attrgetter("left")


def words_in_reading_order(words: Sequence[PdfWord]) -> list[PdfWord]:
    ordered = sorted(words, key=_left)
    if is_right_to_left(ordered):
        ordered = _right_to_left_order(ordered)
    return _join_word_parts(ordered)


def _right_to_left_order(words: list[PdfWord]) -> list[PdfWord]:
    # Latin words in a Hebrew line keep their own order.
    ordered: list[PdfWord] = []
    foreign: list[PdfWord] = []
    for word in reversed(words):
        if _LEFT_TO_RIGHT.search(word.text) and not _RIGHT_TO_LEFT.search(word.text):
            foreign.insert(0, word)
            continue
        ordered += [*foreign, word]
        foreign = []
    return ordered + foreign


def _join_word_parts(words: list[PdfWord]) -> list[PdfWord]:
    """Join parts of a word that were drawn separately, without a gap as wide as a space."""
    joined = words[:1]
    for word in words[1:]:
        last = joined[-1]
        limit = _SAME_WORD_GAP * (word.bottom - word.top)
        if word.left - last.right >= limit:  # most words; the gap is no smaller than this
            joined.append(word)
        elif -2 * limit < gap_between(last, word) < limit and on_same_line(last, word):
            left, right = min(last.left, word.left), max(last.right, word.right)
            top, bottom = min(last.top, word.top), max(last.bottom, word.bottom)
            joined[-1] = PdfWord(last.text + word.text, left, top, right, bottom, last.char_index)
        else:
            joined.append(word)
    return joined
