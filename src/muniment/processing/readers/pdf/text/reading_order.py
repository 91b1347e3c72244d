"""Determine the reading order of a page: full-width blocks first, then column by column, tables row by row."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise

from muniment.processing.readers.pdf.text.lines import TextRun, bounds, group_lines, is_right_to_left
from muniment.processing.readers.pdf.text.tables import DetectedTable, Row, find_table, group_rows, table_extent

_MAX_GUTTERS = 4
_MARGIN_SHARE = 0.12
_MARGIN_ROWS = 3
_DENSE_SHARE = 0.35


@dataclass(frozen=True, slots=True)
class Column:
    """Lines below each other."""

    lines: tuple[TextRun, ...]


LayoutBlock = Column | DetectedTable


def reading_order(runs: Sequence[TextRun], page_height: float) -> list[LayoutBlock]:
    """Return the blocks of a page in reading order."""
    header, body, footer = _separate_margins(runs, page_height)
    parts = [_as_columns(header), split_columns(body), _as_columns(footer)]
    return [block for part in parts for block in part]


def _separate_margins(
    runs: Sequence[TextRun], page_height: float
) -> tuple[list[TextRun], list[TextRun], list[TextRun]]:
    """Separate header and footer, which belong to the page and not to the column next to them."""
    rows = group_rows(runs)
    head = _head_rows(rows, page_height)
    foot = _foot_rows(rows[head:], page_height)
    end = len(rows) - foot
    return _flatten(rows[:head]), _flatten(rows[head:end]), _flatten(rows[end:])


def _head_rows(rows: Sequence[Row], page_height: float) -> int:
    for count in range(min(_MARGIN_ROWS, len(rows) - 1), 0, -1):
        lowest = max(run.bottom for row in rows[:count] for run in row)
        if lowest >= _MARGIN_SHARE * page_height:
            continue
        if min(run.top for row in rows[count:] for run in row) - lowest > rows[count - 1][0].height:
            return count
    return 0


def _foot_rows(rows: Sequence[Row], page_height: float) -> int:
    for count in range(min(_MARGIN_ROWS, len(rows) - 1), 0, -1):
        highest = min(run.top for row in rows[-count:] for run in row)
        if highest <= (1 - _MARGIN_SHARE) * page_height:
            continue
        if highest - max(run.bottom for row in rows[:-count] for run in row) > rows[-count][0].height:
            return count
    return 0


def _flatten(rows: Sequence[Row]) -> list[TextRun]:
    return [run for row in rows for run in row]


def _as_columns(runs: Sequence[TextRun]) -> list[LayoutBlock]:
    return [Column(tuple(group_lines(runs)))] if runs else []


def split_columns(runs: Sequence[TextRun]) -> list[LayoutBlock]:
    """Return blocks in reading order; a region without a gutter is one column."""
    for gutter in _find_gutters(runs):
        blocks = _split_at_gutter(runs, gutter)
        if blocks:
            return blocks
    return _as_columns(runs)


def _split_at_gutter(runs: Sequence[TextRun], gutter: float) -> list[LayoutBlock]:
    """Split the region into bands along a gutter; return nothing if no band is a table or has columns."""
    blocks: list[LayoutBlock] = []
    spanning: list[TextRun] = []
    ordered = sorted(runs, key=lambda run: run.top + run.bottom)
    for crosses, group in groupby(ordered, key=lambda run: run.left < gutter < run.right):
        band = list(group)
        before, found, after = ([], [], band) if crosses else _read_band(band, gutter)
        spanning += before
        if found:
            blocks += [*split_columns(spanning), *found]
            spanning = []
        spanning += after
    return [*blocks, *split_columns(spanning)] if blocks else []


def _read_band(band: list[TextRun], gutter: float) -> tuple[list[TextRun], list[LayoutBlock], list[TextRun]]:
    """Yield what the band contains above its table or columns, these, and what follows below."""
    rows = group_rows(band)
    wide = [index for index, row in enumerate(rows) if _is_split(row, gutter)]
    if not wide:
        return band, [], []
    first, last = table_extent(rows, wide[0], wide[-1])
    table = find_table(rows[first : last + 1])
    if table is not None:
        return _flatten(rows[:first]), [table], _flatten(rows[last + 1 :])
    left = [run for run in band if run.right <= gutter]
    right = [run for run in band if run.left >= gutter]
    if not _are_columns(left, right):
        return band, [], []
    sides = (right, left) if is_right_to_left(word for run in band for word in run.words) else (left, right)
    return [], [block for side in sides for block in split_columns(side)], []


def _is_split(row: Row, gutter: float) -> bool:
    return any(run.right <= gutter for run in row) and any(run.left >= gutter for run in row)


def _are_columns(left: Sequence[TextRun], right: Sequence[TextRun]) -> bool:
    # Two lines of justified text can have a wide gap at the same position by chance; three hardly ever.
    counts = sorted((len(group_rows(left)), len(group_rows(right))))
    return counts[0] >= 2 and counts[1] >= 3 and _is_dense(left) and _is_dense(right)


def _is_dense(side: Sequence[TextRun]) -> bool:
    """Whether lines follow each other closely; scattered text on the right belongs to the line beside it."""
    _, top, _, bottom = bounds(side)
    return sum(row[0].height for row in group_rows(side)) > _DENSE_SHARE * (bottom - top)


def _find_gutters(runs: Sequence[TextRun]) -> list[float]:
    """Return the positions that most adjacent runs leave free between them, wider ones first."""
    edges = sorted(edge for gap in _find_gaps(runs) for edge in ((gap[0], 1), (gap[1], -1)))
    found: list[tuple[int, float, float]] = []
    depth = 0
    for (position, step), (following, next_step) in pairwise(edges):
        depth += step
        if step > 0 > next_step and depth > 1:
            found.append((depth, following - position, (position + following) / 2))
    found.sort(key=lambda gutter: (-gutter[0], -gutter[1], gutter[2]))
    return [middle for _, _, middle in found[:_MAX_GUTTERS]]


def _find_gaps(runs: Sequence[TextRun]) -> Iterator[tuple[float, float]]:
    """Return the free space from each run to its nearest neighbor on the right."""
    ordered = sorted(runs, key=lambda run: run.top)
    nearest: dict[int, float] = {}
    for index, run in enumerate(ordered):
        for other in range(index + 1, len(ordered)):
            beside = ordered[other]
            if beside.top >= run.bottom - 0.3 * run.height:
                break
            if beside.left >= run.right:
                nearest[index] = min(nearest.get(index, beside.left), beside.left)
            elif run.left >= beside.right:
                nearest[other] = min(nearest.get(other, run.left), run.left)
    return ((ordered[index].right, left) for index, left in nearest.items() if left > ordered[index].right)
