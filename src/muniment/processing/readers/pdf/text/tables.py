"""Detect tables by their text alone: short cells, aligned in rows, with space between the columns."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median

from muniment.processing.readers.contract import Box
from muniment.processing.readers.pdf.text.lines import (
    TextRun,
    bounds,
    gap_between,
    is_right_to_left,
    on_same_line,
    words_in_reading_order,
)
from muniment.processing.readers.pdf.text.words import PdfWord

Cell = list[PdfWord]
Row = list[TextRun]
"""Cells, or parts of them, on one line."""

_ALIGNED_SHARE = 0.7
_SHORT_CELL_WORDS = 3
_KEY_CELL_WORDS = 2
_WIDE_ENOUGH = 1.5
"""In units of the text height, as is the next."""
_ROW_PITCH = 2.2


@dataclass(frozen=True, slots=True)
class DetectedTable:
    rows: tuple[tuple[Cell, ...], ...]
    """Every row has a cell for every column, possibly empty."""
    box: Box


def group_rows(runs: Sequence[TextRun]) -> list[Row]:
    """Group runs on one line into rows, top to bottom."""
    rows: list[Row] = []
    for run in sorted(runs, key=lambda run: (run.top + run.bottom, run.left)):
        if rows and on_same_line(rows[-1][0], run):
            rows[-1].append(run)
        else:
            rows.append([run])
    return [sorted(row, key=lambda run: run.left) for row in rows]


def table_extent(rows: Sequence[Row], first: int, last: int) -> tuple[int, int]:
    """Return the first and last row of a possible table around two rows that surely belong to it."""
    left = min(row[0].left for row in rows[first : last + 1])
    while first > 0 and _continues_table(rows[first - 1], rows[first], left, outer=rows[first - 1]):
        first -= 1
    while last + 1 < len(rows) and _continues_table(rows[last], rows[last + 1], left, outer=rows[last + 1]):
        last += 1
    return first, last


def _continues_table(above: Row, below: Row, left: float, *, outer: Row) -> bool:
    """Whether a row next to the table belongs to it: it has its own cells, or continues one that is not the first."""
    height = outer[0].height
    return _pitch(above, below) < _ROW_PITCH * height and (len(outer) > 1 or outer[0].left > left + height)


def find_table(rows: Sequence[Row]) -> DetectedTable | None:
    """Return the table formed by all these rows, if they form one."""
    runs = [run for row in rows for run in row]
    columns = _find_columns(rows)
    if not (_has_enough_rows(rows, columns) and _is_aligned(rows) and _has_short_cells(rows, columns)):
        return None
    cells = _join_continued_cells([_split_cells(row, columns) for row in rows], rows)
    if is_right_to_left(word for run in runs for word in run.words):
        cells = [list(reversed(row)) for row in cells]
    return DetectedTable(tuple(tuple(row) for row in cells), bounds(runs))


def _has_enough_rows(rows: Sequence[Row], columns: Sequence[tuple[float, float]]) -> bool:
    """Whether most rows have several cells or continue another cell than the first.

    Two rows alone must be set apart.
    """
    several = [row for row in rows if len(row) > 1]
    if len(columns) < 2 or len(several) < 2 or (len(several) < 3 and _narrowest_gap(several) < _WIDE_ENOUGH):
        return False
    alone = sum(len(row) == 1 and _column_of(row[0], columns) == 0 for row in rows)
    return alone <= len(several)


def _narrowest_gap(rows: Sequence[Row]) -> float:
    return min(gap_between(a, b) / (a.height or 1.0) for row in rows for a, b in pairwise(row))


def _find_columns(rows: Sequence[Row]) -> list[tuple[float, float]]:
    """Return the column ranges, from the rows with the most cells: a heading over two columns must not merge them."""
    usual = sorted(len(row) for row in rows)[-2:][0]
    columns: list[tuple[float, float]] = []
    for left, right in sorted((run.left, run.right) for row in rows if len(row) >= usual for run in row):
        if columns and left < columns[-1][1]:
            columns[-1] = columns[-1][0], max(columns[-1][1], right)
        else:
            columns.append((left, right))
    return columns


def _column_of(run: TextRun, columns: Sequence[tuple[float, float]]) -> int:
    for column, (_, right) in enumerate(columns):
        if run.left < right:
            return column
    return len(columns) - 1


def _is_aligned(rows: Sequence[Row]) -> bool:
    right_hand = [(row[0], run) for row in rows if len(row) > 1 for run in row[1:]]
    aligned = sum(abs(first.bottom - run.bottom) < 0.25 * run.height for first, run in right_hand)
    return aligned >= _ALIGNED_SHARE * len(right_hand)


def _has_short_cells(rows: Sequence[Row], columns: Sequence[tuple[float, float]]) -> bool:
    """Whether most cells are short, or all cells of one column that is present in most rows, such as a date."""
    runs = [run for row in rows for run in row]
    if median(len(run.words) for run in runs) <= _SHORT_CELL_WORDS:
        return True
    most = max(2, sum(len(row) > 1 for row in rows) / 2)
    by_column: dict[int, list[int]] = {}
    for run in runs:
        by_column.setdefault(_column_of(run, columns), []).append(len(run.words))
    return any(len(counts) >= most and median(counts) <= _KEY_CELL_WORDS for counts in by_column.values())


def _split_cells(row: Row, columns: Sequence[tuple[float, float]]) -> list[Cell]:
    cells: list[Cell] = [[] for _ in columns]
    for run in row:
        column = _column_of(run, columns)
        for word in words_in_reading_order(run.words):
            column = max(column, _column_starting_with(word, columns))
            cells[column].append(word)
    return [words_in_reading_order(cell) for cell in cells]


def _column_starting_with(word: PdfWord, columns: Sequence[tuple[float, float]]) -> int:
    """Return the column that begins with this word: headings of narrow columns may have no gap between them."""
    tolerance = 0.2 * (word.bottom - word.top)
    return next((column for column, (left, _) in enumerate(columns) if abs(word.left - left) < tolerance), -1)


def _join_continued_cells(cells: list[list[Cell]], rows: Sequence[Row]) -> list[list[Cell]]:
    """Merge a line without a first cell into the row above, if it is closer than rows are."""
    pitches = [_pitch(above, row) for above, row in pairwise(rows) if _is_first_in_column(row, rows)]
    usual = median(pitches) if pitches else 0.0
    joined = [cells[0]]
    for index in range(1, len(cells)):
        close = _pitch(rows[index - 1], rows[index]) < 0.9 * usual
        if cells[index][0] or not close:
            joined.append(cells[index])
        else:
            joined[-1] = [above + below for above, below in zip(joined[-1], cells[index], strict=True)]
    return joined


def _is_first_in_column(row: Row, rows: Sequence[Row]) -> bool:
    left = min(run.left for first in rows for run in first)
    return any(run.left - left < run.height for run in row)


def _pitch(above: Row, row: Row) -> float:
    return min(run.top for run in row) - min(run.top for run in above)
