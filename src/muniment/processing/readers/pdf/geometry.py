"""Coordinates of a PDF page: from user space, upwards and unrotated, to the page as a person sees it."""

from collections.abc import Callable
from dataclasses import dataclass

from pypdfium2 import PdfPage

from muniment.processing.readers.contract import Box

ToPage = Callable[[Box], Box]


def turn(box: Box, quarters: int, width: float, height: float) -> Box:
    """Where a box lies after its page of this size was turned clockwise by so many quarters."""
    left, top, right, bottom = box
    match quarters % 4:
        case 1:
            return height - bottom, left, height - top, right
        case 2:
            return width - right, height - bottom, width - left, height - top
        case 3:
            return top, width - right, bottom, width - left
        case _:
            return box


def rounded(box: Box) -> Box:
    """To a hundredth of a point: PDFium's numbers are no more exact than that."""
    left, top, right, bottom = box
    return round(left, 2), round(top, 2), round(right, 2), round(bottom, 2)


@dataclass(frozen=True, slots=True)
class PageSpace:
    """The visible part of a page in user space, and the quarters by which it is shown turned."""

    left: float
    top: float
    unturned_width: float
    unturned_height: float
    quarters: int

    @property
    def width(self) -> float:
        return self.unturned_height if self.quarters % 2 else self.unturned_width

    @property
    def height(self) -> float:
        return self.unturned_width if self.quarters % 2 else self.unturned_height

    @property
    def rotation(self) -> int:
        """Degrees clockwise."""
        return self.quarters * 90

    @property
    def visible(self) -> Box:
        """Left, top, right, bottom in user space, where top is the greater one."""
        return self.left, self.top, self.left + self.unturned_width, self.top - self.unturned_height

    def unturned(self, box: Box) -> Box:
        """A raw rectangle (left, bottom, right, top) from the upper left corner, the rotation not yet applied."""
        left, bottom, right, top = box
        return left - self.left, self.top - top, right - self.left, self.top - bottom

    def to_page(self, box: Box) -> Box:
        """A raw rectangle (left, bottom, right, top) in the page as shown."""
        return rounded(turn(self.unturned(box), self.quarters, self.unturned_width, self.unturned_height))

    def upright_to_page(self, direction: int) -> ToPage:
        """From the frame in which text of this direction (clockwise quarters) stands upright, to the page as shown."""
        width, height = self.upright_size(direction)
        quarters = (direction + self.quarters) % 4
        if quarters == 0:
            return rounded
        return lambda box: rounded(turn(box, quarters, width, height))

    def upright_size(self, direction: int) -> tuple[float, float]:
        if direction % 2:
            return self.unturned_height, self.unturned_width
        return self.unturned_width, self.unturned_height


def space_of(page: PdfPage) -> PageSpace:
    left, bottom, right, top = page.get_bbox()
    return PageSpace(left, top, right - left, top - bottom, page.get_rotation() // 90)
