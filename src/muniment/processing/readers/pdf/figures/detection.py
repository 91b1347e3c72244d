"""Detect the figures of a page: embedded images, and drawings that are neither tables nor frames around text."""

import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from pypdfium2 import PdfPage

from muniment.processing.readers.captions import nearest_caption
from muniment.processing.readers.contract import MAX_FIGURE_SIDE, Box, Figure, FigureKind, ReadingOptions
from muniment.processing.readers.pdf.figures.clustering import cluster_boxes
from muniment.processing.readers.pdf.figures.rules import RuleLines
from muniment.processing.readers.pdf.figures.shapes import (
    CLOSE_PATH,
    MAX_SEGMENTS,
    Shape,
    image_bytes,
    image_size,
    list_segments,
    list_shapes,
)

CLUSTER_GAP = 12.0
"""Maximum distance in points between two shapes of one figure."""
FULL_PAGE_SHARE = 0.9
THIN = 4.0
DRAWING_DPI = 150
MAX_FIGURES = 500
TEXT_BOX_SHAPES = 3
TEXT_BOX_SHARE = 0.3
"""Share of text above which a few shapes are only its background."""
COORDINATE_SCALE = 10
"""Outlines are compared in tenths of a point."""


@dataclass(frozen=True, slots=True)
class _ShapeGroup:
    """Shapes of one figure, and their bounding box in user space."""

    shapes: list[Shape]
    box: Box

    @property
    def images(self) -> list[Shape]:
        return [shape for shape in self.shapes if shape.is_image]

    @property
    def paths(self) -> list[Shape]:
        return [shape for shape in self.shapes if not shape.is_image]


def find_figures(
    page: PdfPage, to_page: Callable[[Box], Box], paragraphs: Sequence[tuple[str, Box]], options: ReadingOptions
) -> tuple[Figure, ...]:
    """Return images and drawings of at least `figure_min_points`, top to bottom, then left to right."""
    visible = page.get_bbox()
    shapes = [clipped for shape in list_shapes(page) if (clipped := _visible_shape(shape, visible))]
    groups = [
        part
        for group in _group_shapes(shapes, options)
        for part in _without_rules_and_frames(group, to_page, paragraphs, options)
    ]
    figures = [_make_figure(group, to_page, paragraphs) for group in groups[:MAX_FIGURES]]
    return tuple(sorted(figures, key=_sort_position))


def _visible_shape(shape: Shape, page: Box) -> Shape | None:
    """Return the visible part of a shape, unless it is off the page, a background, a frame or an edge-to-edge line."""
    left, bottom = max(shape.box[0], page[0]), max(shape.box[1], page[1])
    right, top = min(shape.box[2], page[2]), min(shape.box[3], page[3])
    width, height = right - left, top - bottom
    if width < 0 or height < 0:
        return None
    is_wide, is_high = width >= FULL_PAGE_SHARE * (page[2] - page[0]), height >= FULL_PAGE_SHARE * (page[3] - page[1])
    is_ornament = (is_wide or is_high) if not shape.is_image or min(width, height) < THIN else False
    if is_ornament:
        return None
    return Shape(shape.handle, shape.is_image, (left, bottom, right, top), shape.container, shape.paint)


def _group_shapes(shapes: list[Shape], options: ReadingOptions) -> list[_ShapeGroup]:
    found = cluster_boxes([shape.box for shape in shapes], CLUSTER_GAP, options.figure_min_points)
    return [_ShapeGroup([shapes[index] for index in each.members], each.box) for each in found]


def _without_rules_and_frames(
    group: _ShapeGroup, to_page: Callable[[Box], Box], paragraphs: Sequence[tuple[str, Box]], options: ReadingOptions
) -> list[_ShapeGroup]:
    """Return the group if it shows something. If its paths are only rules or frames, return the images between them."""
    if not group.paths:
        return [group]
    is_text_box = len(group.paths) <= TEXT_BOX_SHAPES and _text_share(to_page(group.box), paragraphs) > TEXT_BOX_SHARE
    if is_text_box or _rule_lines(group.paths).form_table_or_frame(_bounding_box(group.paths)):
        return _group_shapes(group.images, options) if group.images else []
    return [group]


def _rule_lines(paths: list[Shape]) -> RuleLines:
    lines = RuleLines()
    for path in paths:
        lines.add_path(list_segments(path))
        if lines.count > MAX_SEGMENTS:
            break
    return lines


def _bounding_box(shapes: list[Shape]) -> Box:
    lefts, bottoms, rights, tops = zip(*(shape.box for shape in shapes), strict=True)
    return min(lefts), min(bottoms), max(rights), max(tops)


def _text_share(box: Box, paragraphs: Sequence[tuple[str, Box]]) -> float:
    covered = sum(_box_area(_intersection(box, text_box)) for _, text_box in paragraphs)
    return covered / max(1.0, _box_area(box))


def _intersection(one: Box, other: Box) -> Box:
    return max(one[0], other[0]), max(one[1], other[1]), min(one[2], other[2]), min(one[3], other[3])


def _box_area(box: Box) -> float:
    return max(0.0, box[2] - box[0]) * max(0.0, box[3] - box[1])


def _is_pictorial(group: _ShapeGroup) -> bool:
    return sum(_box_area(shape.box) for shape in group.images) >= _box_area(group.box) / 2


def _make_figure(group: _ShapeGroup, to_page: Callable[[Box], Box], paragraphs: Sequence[tuple[str, Box]]) -> Figure:
    box = to_page(group.box)
    kind = FigureKind.PICTURE if _is_pictorial(group) else FigureKind.DRAWING
    width, height = _pixels(group, box)
    return Figure(kind, _digest(group), width, height, box, nearest_caption(box, paragraphs))


def _pixels(group: _ShapeGroup, box: Box) -> tuple[int, int]:
    if len(group.shapes) == 1 and group.images:
        width, height = image_size(group.shapes[0])
        return min(width, MAX_FIGURE_SIDE), min(height, MAX_FIGURE_SIDE)
    return round((box[2] - box[0]) * DRAWING_DPI / 72), round((box[3] - box[1]) * DRAWING_DPI / 72)


def _digest(group: _ShapeGroup) -> str:
    """Return a digest of the content. Shapes include their relative positions; a single image does not."""
    digest = hashlib.sha256()
    unlisted = MAX_SEGMENTS
    for shape in group.shapes:
        if len(group.shapes) > 1:
            digest.update(" ".join(_relative_box(shape.box, group.box)).encode())
        if shape.is_image:
            digest.update("picture {} {}\n".format(*image_size(shape)).encode() + image_bytes(shape))
        else:
            outline = list(islice(_outline(shape, group.box), unlisted))
            unlisted -= len(outline)
            digest.update(f"path {shape.paint}\n".encode() + "\n".join(outline).encode())
    return digest.hexdigest()


def _relative_box(box: Box, origin: Box) -> Iterator[str]:
    for index, side in enumerate(box):
        yield str(round((side - origin[index % 2]) * COORDINATE_SCALE))


def _outline(shape: Shape, origin: Box) -> Iterator[str]:
    for kind, x, y in list_segments(shape):
        point = (
            ""
            if kind == CLOSE_PATH
            else f"{round((x - origin[0]) * COORDINATE_SCALE)} {round((y - origin[1]) * COORDINATE_SCALE)}"
        )
        yield f"{kind} {point}"


def _sort_position(figure: Figure) -> tuple[float, float]:
    assert figure.box is not None
    return figure.box[1], figure.box[0]
