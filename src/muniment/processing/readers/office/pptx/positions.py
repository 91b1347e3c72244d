"""Positions of shapes on a slide, inherited by placeholders, and the reading order that follows from them."""

from collections.abc import Iterator
from dataclasses import dataclass

from muniment.processing.readers.office.package import OfficePackage
from muniment.processing.readers.office.xml import (
    Element,
    Relationships,
    attribute,
    descendants,
    find,
    local_name,
    parse_part,
)

SHAPES = frozenset({"sp", "pic", "graphicFrame", "cxnSp"})
_SAME_LINE_EMU = 90_000
"""Shapes whose upper edges differ by less (0.1 inch) are side by side."""


@dataclass(frozen=True, slots=True)
class _GroupTransform:
    """Transformation from the coordinates of a group to those of the slide."""

    x: float = 0
    y: float = 0
    scale_x: float = 1
    scale_y: float = 1

    def to_slide(self, x: float, y: float) -> tuple[float, float]:
        return self.x + x * self.scale_x, self.y + y * self.scale_y

    def inside(self, group: Element) -> "_GroupTransform":
        frame = find(group, "grpSpPr", "xfrm")
        if frame is None:
            return self
        (x, y), (width, height) = _pair(frame, "off", "x", "y"), _pair(frame, "ext", "cx", "cy")
        (inner_x, inner_y), (inner_width, inner_height) = (
            _pair(frame, "chOff", "x", "y"),
            _pair(frame, "chExt", "cx", "cy"),
        )
        scale_x, scale_y = width / inner_width if inner_width else 1, height / inner_height if inner_height else 1
        left, top = self.to_slide(x - inner_x * scale_x, y - inner_y * scale_y)
        return _GroupTransform(left, top, self.scale_x * scale_x, self.scale_y * scale_y)


class PlaceholderPositions:
    """Positions of placeholders, inherited from the slide layout and its master."""

    def __init__(self, package: OfficePackage, slide: Relationships) -> None:
        self._positions: dict[tuple[str, str], tuple[float, float]] = {}
        for layout in slide.targets_of_type("slideLayout"):
            for master in Relationships(package, layout).targets_of_type("slideMaster"):
                self._load_part(package, master)
            self._load_part(package, layout)

    def find(self, shape: Element) -> tuple[float, float] | None:
        frame = next(descendants(shape, "xfrm"), None)
        if frame is not None and find(frame, "off") is not None:
            return _pair(frame, "off", "x", "y")
        mark = next(descendants(shape, "ph"), None)
        return next((self._positions[key] for key in _lookup_keys(mark) if key in self._positions), None)

    def _load_part(self, package: OfficePackage, part: str) -> None:
        for shape in descendants(parse_part(package, part), "sp") if part in package else ():
            mark = next(descendants(shape, "ph"), None)
            position = self.find(shape)
            if mark is not None and position:
                self._positions.update(dict.fromkeys(_lookup_keys(mark), position))


def in_reading_order(tree: Element, positions: PlaceholderPositions) -> list[Element]:
    """Sort shapes line by line, left to right. Shapes without a position follow their predecessor in the file."""
    positioned: list[tuple[float, float, int, Element]] = []
    x = y = 0.0
    for number, (shape, space) in enumerate(_flatten(tree, _GroupTransform())):
        if found := positions.find(shape):
            x, y = space.to_slide(*found)
        positioned.append((y, x, number, shape))
    positioned.sort(key=lambda each: each[:3])
    lines: list[list[tuple[float, float, int, Element]]] = []
    for each in positioned:
        if lines and each[0] - lines[-1][0][0] < _SAME_LINE_EMU:
            lines[-1].append(each)
        else:
            lines.append([each])
    return [shape for line in lines for _, _, shape in sorted((x, number, shape) for _, x, number, shape in line)]


def _flatten(tree: Element, transform: _GroupTransform) -> Iterator[tuple[Element, _GroupTransform]]:
    for child in tree:
        name = local_name(child)
        if name == "grpSp":
            yield from _flatten(child, transform.inside(child))
        elif name == "AlternateContent":
            choice = find(child, "Choice")
            yield from _flatten(choice, transform) if choice is not None else ()
        elif name in SHAPES:
            yield child, transform


def _lookup_keys(placeholder: Element | None) -> list[tuple[str, str]]:
    """Yield the keys of a placeholder: its index identifies it, its type is the fallback."""
    if placeholder is None:
        return []
    kind = (attribute(placeholder, "type") or "body").replace("ctrTitle", "title")
    index = attribute(placeholder, "idx")
    return [*([("idx", index)] if index else []), ("type", kind)]


def _pair(frame: Element, name: str, first: str, second: str) -> tuple[float, float]:
    element = find(frame, name)
    return (_number(element, first), _number(element, second)) if element is not None else (0.0, 0.0)


def _number(element: Element, name: str) -> float:
    try:
        return float(int(attribute(element, name) or ""))
    except ValueError:
        return 0.0
