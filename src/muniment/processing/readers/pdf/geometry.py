"""Convert coordinates of a PDF page from user space (upwards, unrotated) to the page as displayed."""

from collections.abc import Callable
from dataclasses import dataclass

from pypdfium2 import PdfPage

from muniment.processing.readers.contract import Box

ToPage = Callable[[Box], Box]


def unchanged(box: Box) -> Box:
    return box


def rotate_box(box: Box, quarter_turns: int, width: float, height: float) -> Box:
    """Return a box after its page of this size is rotated clockwise by quarter turns."""
    left, top, right, bottom = box
    match quarter_turns % 4:
        case 1:
            return height - bottom, left, height - top, right
        case 2:
            return width - right, height - bottom, width - left, height - top
        case 3:
            return top, width - right, bottom, width - left
        case _:
            return box


def rounded_box(box: Box) -> Box:
    """Round to a hundredth of a point, the precision of PDFium."""
    left, top, right, bottom = box
    return round(left, 2), round(top, 2), round(right, 2), round(bottom, 2)


@dataclass(frozen=True, slots=True)
class PageGeometry:
    """The visible part of a page in user space, and its rotation in quarter turns."""

    left: float
    top: float
    unrotated_width: float
    unrotated_height: float
    quarter_turns: int

    @property
    def width(self) -> float:
        return self.unrotated_height if self.quarter_turns % 2 else self.unrotated_width

    @property
    def height(self) -> float:
        return self.unrotated_width if self.quarter_turns % 2 else self.unrotated_height

    @property
    def rotation(self) -> int:
        """Rotation in degrees clockwise."""
        return self.quarter_turns * 90

    @property
    def visible_box(self) -> Box:
        """Left, top, right, bottom in user space, where top is greater than bottom."""
        return self.left, self.top, self.left + self.unrotated_width, self.top - self.unrotated_height

    def unrotated(self, box: Box) -> Box:
        """Convert a rectangle (left, bottom, right, top) to the origin at the upper left, without rotation."""
        left, bottom, right, top = box
        return left - self.left, self.top - top, right - self.left, self.top - bottom

    def to_page(self, box: Box) -> Box:
        """Convert a rectangle (left, bottom, right, top) to the page as displayed."""
        return rounded_box(
            rotate_box(self.unrotated(box), self.quarter_turns, self.unrotated_width, self.unrotated_height)
        )

    def upright_to_page(self, direction: int) -> ToPage:
        """Convert from the upright frame of text of this direction (clockwise quarters) to the page as displayed."""
        width, height = self.upright_size(direction)
        quarters = (direction + self.quarter_turns) % 4
        if quarters == 0:
            return unchanged
        return lambda box: rotate_box(box, quarters, width, height)

    def upright_size(self, direction: int) -> tuple[float, float]:
        if direction % 2:
            return self.unrotated_height, self.unrotated_width
        return self.unrotated_width, self.unrotated_height


def page_geometry(page: PdfPage) -> PageGeometry:
    left, bottom, right, top = page.get_bbox()
    return PageGeometry(left, top, right - left, top - bottom, page.get_rotation() // 90)
