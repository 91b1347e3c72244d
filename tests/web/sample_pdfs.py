"""Realistic PDFs for viewer and search: pages, paragraphs, a drawing with its caption."""

import io
from collections.abc import Iterable

from reportlab.lib.pagesizes import A4
from reportlab.pdfgen.canvas import Canvas

WIDTH, HEIGHT = A4
TERM = (
    "This agreement enters into force on signature by both parties and runs for an",
    "indefinite time, at the least until 31 December 2027.",
)
NOTICE = (
    "Either party may terminate this agreement by giving three months written warning",
    "to the end of a quarter. The notice period begins when the letter arrives.",
)
DEVICES = ("On termination the supplier collects all devices on loan within fourteen days.",)
CAPTION = "Figure 3. Response times on working days"


def agreement_pdf(pages: int = 6, *, with_notice: Iterable[int] = (2, 5), with_figure: int = 2) -> bytes:
    """Return a PDF whose pages have two paragraphs; those `with_notice` have another one that contains `notice period`
    once."""
    buffer = io.BytesIO()
    canvas = Canvas(buffer, pagesize=A4, invariant=True)
    for number in range(1, pages + 1):
        top = _write(canvas, 110, [f"{number} Term and termination"], font="Times-Bold", size=14)
        top = _write(canvas, top, TERM)
        if number in tuple(with_notice):
            top = _write(canvas, top, NOTICE)
        top = _write(canvas, top, DEVICES)
        if number == with_figure:
            _figure(canvas, top)
        canvas.showPage()
    canvas.save()
    return buffer.getvalue()


def letter_pdf(*lines: str) -> bytes:
    """Return a PDF with one page and one paragraph."""
    buffer = io.BytesIO()
    canvas = Canvas(buffer, pagesize=A4, invariant=True)
    _write(canvas, 110, lines)
    canvas.save()
    return buffer.getvalue()


def _write(canvas: Canvas, top: float, lines: Iterable[str], *, font: str = "Times-Roman", size: float = 11) -> float:
    canvas.setFont(font, size)
    for line in lines:
        canvas.drawString(64, HEIGHT - top, line)
        top += 14
    return top + 16


def _figure(canvas: Canvas, top: float) -> None:
    for place, word in enumerate(("Call", "Technician", "Device")):
        left = 80 + place * 150
        canvas.rect(left, HEIGHT - top - 60, 110, 44)
        canvas.drawCentredString(left + 55, HEIGHT - top - 42, word)
        if place < 2:
            canvas.line(left + 110, HEIGHT - top - 38, left + 150, HEIGHT - top - 38)
    canvas.setFont("Times-Italic", 10)
    canvas.drawCentredString(WIDTH / 2, HEIGHT - top - 84, CAPTION)
