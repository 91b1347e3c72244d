"""Distinguish tables, frames and text boxes from diagrams: they consist of lines that run from end to end."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from pypdfium2 import raw

from muniment.processing.readers.contract import Box
from muniment.processing.readers.pdf.figures.shapes import CLOSE_PATH, Segment

STRAIGHT_TOLERANCE = 0.5
"""Tolerance in points of a horizontal or vertical line."""
SAME_LEVEL_TOLERANCE = 3.0
"""Points within which two lines count as one: both sides of a thin bar, or the borders of two cells."""
FULL_COVERAGE = 0.9
"""A line that covers this share of the cluster runs from end to end."""
LOOSE_COVERAGE = 0.35
"""A line that covers less belongs to no grid: the end of a bar, the side of a box in an organization chart."""
MAX_LOOSE_SHARE = 0.25
MAX_SLANTED_SHARE = 0.05

LineSpan = tuple[float, float, float]
"""Level, start and end of a line."""


@dataclass(slots=True)
class RuleLines:
    """All lines of a cluster of paths."""

    horizontal: list[LineSpan] = field(default_factory=list)
    vertical: list[LineSpan] = field(default_factory=list)
    slanted: int = 0

    @property
    def count(self) -> int:
        return len(self.horizontal) + len(self.vertical) + self.slanted

    def add_path(self, segments: Iterable[Segment]) -> None:
        begin = start = (0.0, 0.0)
        for kind, x, y in segments:
            end = begin if kind == CLOSE_PATH else (x, y)
            if kind == raw.FPDF_SEGMENT_MOVETO:
                begin = end
            elif kind == raw.FPDF_SEGMENT_BEZIERTO:
                self.slanted += 1
            else:
                self._add(start, end)
            start = end

    def form_table_or_frame(self, box: Box) -> bool:
        """Whether the lines only frame or rule the box (left, bottom, right, top)."""
        if self.slanted > MAX_SLANTED_SHARE * self.count:
            return False
        rows = _coverages(self.horizontal, box[2] - box[0])
        columns = _coverages(self.vertical, box[3] - box[1])
        is_framed = max(_full_lines(rows), _full_lines(columns)) >= 2
        return is_framed and _loose_share(rows) <= MAX_LOOSE_SHARE and _loose_share(columns) <= MAX_LOOSE_SHARE

    def _add(self, start: tuple[float, float], end: tuple[float, float]) -> None:
        (x, y), (to_x, to_y) = start, end
        if start == end:
            return
        if abs(y - to_y) <= STRAIGHT_TOLERANCE:
            self.horizontal.append((y, min(x, to_x), max(x, to_x)))
        elif abs(x - to_x) <= STRAIGHT_TOLERANCE:
            self.vertical.append((x, min(y, to_y), max(y, to_y)))
        else:
            self.slanted += 1


def _coverages(spans: list[LineSpan], length: float) -> list[float]:
    """Return for each level the share of the length that its lines cover together."""
    levels: list[list[LineSpan]] = []
    for span in sorted(spans):
        if levels and span[0] - levels[-1][0][0] <= SAME_LEVEL_TOLERANCE:
            levels[-1].append(span)
        else:
            levels.append([span])
    # The short sides of thin bars are not lines.
    covered = [_covered(level) for level in levels]
    return [each / length for each in covered if each > SAME_LEVEL_TOLERANCE]


def _covered(level: list[LineSpan]) -> float:
    total, reached = 0.0, float("-inf")
    for _, begin, end in sorted(level, key=lambda span: span[1]):
        total += max(0.0, end - max(begin, reached))
        reached = max(reached, end)
    return total


def _full_lines(coverages: list[float]) -> int:
    return sum(1 for each in coverages if each >= FULL_COVERAGE)


def _loose_share(coverages: list[float]) -> float:
    return sum(1 for each in coverages if each < LOOSE_COVERAGE) / len(coverages) if coverages else 0.0
