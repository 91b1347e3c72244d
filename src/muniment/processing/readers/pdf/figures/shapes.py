"""Images and paths drawn on a PDF page, including those inside form XObjects."""

from collections.abc import Iterator
from ctypes import byref, c_float, c_int, c_uint, c_ulong, create_string_buffer
from dataclasses import dataclass

from pypdfium2 import PdfPage, raw

from muniment.processing.readers.contract import Box

MAX_SHAPES = 20_000
"""Limit per page. A map has more, and the first ones are enough to detect it as one figure."""
MAX_DEPTH = 8
MAX_SEGMENTS = 20_000
"""Limit per path, and for all paths of a figure together."""

Matrix = tuple[float, float, float, float, float, float]
Segment = tuple[int, float, float]
"""PDFium's segment type and its end point; type -1 closes the outline."""
CLOSE_PATH = -1

_IDENTITY: Matrix = (1.0, 0.0, 0.0, 1.0, 0.0, 0.0)
_NEARLY_WHITE = 250


@dataclass(frozen=True, slots=True)
class Shape:
    """An image or a path with its box (left, bottom, right, top) in the page's user space."""

    handle: object
    is_image: bool
    box: Box
    container: Matrix
    """Matrix from the containing form XObject to the page."""
    paint: str = ""
    """How a path is filled and stroked."""


def list_shapes(page: PdfPage) -> list[Shape]:
    """Return the first `MAX_SHAPES` visible shapes in drawing order."""
    return [shape for shape, _ in zip(_walk_page(page), range(MAX_SHAPES), strict=False)]


def list_segments(shape: Shape) -> Iterator[Segment]:
    """Return the outline of a path in the page's user space, limited to `MAX_SEGMENTS`."""
    matrix = _compose(_object_matrix(shape.handle), shape.container)
    x, y = c_float(), c_float()
    for index in range(min(raw.FPDFPath_CountSegments(shape.handle), MAX_SEGMENTS)):
        segment = raw.FPDFPath_GetPathSegment(shape.handle, index)
        raw.FPDFPathSegment_GetPoint(segment, x, y)
        yield raw.FPDFPathSegment_GetType(segment), *_transform_point(matrix, x.value, y.value)
        if raw.FPDFPathSegment_GetClose(segment):
            yield CLOSE_PATH, 0.0, 0.0


def image_size(shape: Shape) -> tuple[int, int]:
    """Return the size of the image in pixels."""
    width, height = c_uint(), c_uint()
    raw.FPDFImageObj_GetImagePixelSize(shape.handle, width, height)
    return width.value, height.value


def image_bytes(shape: Shape) -> bytes:
    """Return the compressed image data of the file; equal images written by one program have equal bytes."""
    length = raw.FPDFImageObj_GetImageDataRaw(shape.handle, None, 0)
    buffer = create_string_buffer(length)
    raw.FPDFImageObj_GetImageDataRaw(shape.handle, buffer, c_ulong(length))
    return buffer.raw


def _walk_page(page: PdfPage) -> Iterator[Shape]:
    handle = page.raw
    for index in range(raw.FPDFPage_CountObjects(handle)):
        yield from _visit_object(raw.FPDFPage_GetObject(handle, index), _IDENTITY, 0)


def _walk_form(form: object, container: Matrix, depth: int) -> Iterator[Shape]:
    inner = _compose(_object_matrix(form), container)
    for index in range(raw.FPDFFormObj_CountObjects(form)):
        yield from _visit_object(raw.FPDFFormObj_GetObject(form, index), inner, depth)


def _visit_object(handle: object, container: Matrix, depth: int) -> Iterator[Shape]:
    kind = raw.FPDFPageObj_GetType(handle)
    if kind == raw.FPDF_PAGEOBJ_TEXT:
        return
    if kind == raw.FPDF_PAGEOBJ_FORM:
        if depth < MAX_DEPTH:
            yield from _walk_form(handle, container, depth + 1)
    elif kind == raw.FPDF_PAGEOBJ_PATH:
        if paint := _visible_paint(handle):
            yield Shape(handle, False, _object_bounds(handle, container), container, paint)
    elif kind == raw.FPDF_PAGEOBJ_IMAGE:
        yield Shape(handle, True, _clip_box(handle, _object_bounds(handle, container), container), container)


def _visible_paint(path: object) -> str:
    """Return the paint, or an empty string for invisible paths: clipping outlines and white areas."""
    fill_mode, is_stroked = c_int(), c_int()
    raw.FPDFPath_GetDrawMode(path, fill_mode, is_stroked)
    fill = _read_color(raw.FPDFPageObj_GetFillColor, path) if fill_mode.value else ""
    stroke = _read_color(raw.FPDFPageObj_GetStrokeColor, path) if is_stroked.value else ""
    return f"{fill}/{stroke}" if fill or stroke else ""


def _read_color(ask: object, path: object) -> str:
    red, green, blue, alpha = c_uint(), c_uint(), c_uint(), c_uint(255)
    assert callable(ask)
    ask(path, red, green, blue, alpha)
    is_white = min(red.value, green.value, blue.value) >= _NEARLY_WHITE
    if is_white or alpha.value == 0:
        return ""
    return f"{red.value:02x}{green.value:02x}{blue.value:02x}{alpha.value:02x}"


def _object_bounds(handle: object, container: Matrix) -> Box:
    left, bottom, right, top = c_float(), c_float(), c_float(), c_float()
    raw.FPDFPageObj_GetBounds(handle, left, bottom, right, top)
    box = (left.value, bottom.value, right.value, top.value)
    return box if container is _IDENTITY else _bounding_box(_transform_corners(box, container))


def _clip_box(handle: object, box: Box, container: Matrix) -> Box:
    """Return the visible part of a clipped image."""
    clip = raw.FPDFPageObj_GetClipPath(handle)
    for path in range(raw.FPDFClipPath_CountPaths(clip) if clip else 0):
        points = [_transform_point(container, *each) for each in _clip_points(clip, path)]
        if points:
            box = _intersection(box, _bounding_box(points)) or box
    return box


def _clip_points(clip: object, path: int) -> Iterator[tuple[float, float]]:
    x, y = c_float(), c_float()
    for index in range(min(raw.FPDFClipPath_CountPathSegments(clip, path), MAX_SEGMENTS)):
        raw.FPDFPathSegment_GetPoint(raw.FPDFClipPath_GetPathSegment(clip, path, index), x, y)
        yield x.value, y.value


def _intersection(one: Box, other: Box) -> Box | None:
    left, bottom, right, top = (*map(max, one[:2], other[:2]), *map(min, one[2:], other[2:]))
    return (left, bottom, right, top) if left < right and bottom < top else None


def _object_matrix(handle: object) -> Matrix:
    matrix = raw.FS_MATRIX()
    raw.FPDFPageObj_GetMatrix(handle, byref(matrix))
    return matrix.a, matrix.b, matrix.c, matrix.d, matrix.e, matrix.f


def _compose(first: Matrix, then: Matrix) -> Matrix:
    if then is _IDENTITY:
        return first
    a, b, c, d, e, f = first
    (e, f), (u, v) = _transform_point(then, e, f), (then[4], then[5])
    (a, b), (c, d) = _transform_point(then, a, b), _transform_point(then, c, d)
    return a - u, b - v, c - u, d - v, e, f


def _transform_point(matrix: Matrix, x: float, y: float) -> tuple[float, float]:
    a, b, c, d, e, f = matrix
    return a * x + c * y + e, b * x + d * y + f


def _transform_corners(box: Box, matrix: Matrix) -> list[tuple[float, float]]:
    return [_transform_point(matrix, x, y) for x in (box[0], box[2]) for y in (box[1], box[3])]


def _bounding_box(points: list[tuple[float, float]]) -> Box:
    xs, ys = [x for x, _ in points], [y for _, y in points]
    return min(xs), min(ys), max(xs), max(ys)
