"""Generated files, equal on every machine and different from each other where necessary."""

import io
import random

from PIL import Image
from reportlab.lib.pagesizes import A4
from reportlab.lib.utils import ImageReader
from reportlab.pdfgen.canvas import Canvas

PROSE = (
    "the tenant pays rent on first day of each month unless both parties agree in writing invoice number total amount "
    "care plan visit nurse weekly review contract shall end after notice period three months deposit returned within"
)


def text_pdf(pages: int, seed: int, *, lines: int = 45) -> bytes:
    """Full pages of prose, all different."""
    chance, words = random.Random(seed), PROSE.split()
    buffer = io.BytesIO()
    canvas = Canvas(buffer, pagesize=A4, invariant=1)
    for _ in range(pages):
        canvas.setFont("Helvetica", 10)
        for line in range(lines):
            canvas.drawString(60, 790 - 16 * line, " ".join(chance.choices(words, k=14)))
        canvas.showPage()
    canvas.save()
    return buffer.getvalue()


def smallest_pdf(number: int) -> bytes:
    """One page with a few words, in as few bytes as a PDF needs."""
    stream = f"BT /F 12 Tf 72 720 Td (Receipt number {number}) Tj ET".encode()
    objects = [
        b"<</Type/Catalog/Pages 2 0 R>>",
        b"<</Type/Pages/Kids[3 0 R]/Count 1>>",
        b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]/Contents 4 0 R/Resources<</Font<</F 5 0 R>>>>>>",
        b"<</Length %d>>stream\n%s\nendstream" % (len(stream), stream),
        b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
    ]
    return _assembled(objects)


def _assembled(objects: list[bytes]) -> bytes:
    file, offsets = b"%PDF-1.4\n", []
    for index, body in enumerate(objects, start=1):
        offsets.append(len(file))
        file += b"%d 0 obj%s endobj\n" % (index, body)
    table = b"".join(b"%010d 00000 n \n" % offset for offset in offsets)
    count = len(objects) + 1
    head = b"xref\n0 %d\n0000000000 65535 f \n" % count
    return file + head + table + b"trailer<</Size %d/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF\n" % (count, len(file))


def scanned_pages(pages: int, seed: int) -> list[Image.Image]:
    """Images of prose at 200 dpi, as from a scanner."""
    from pypdfium2 import PdfDocument

    document = PdfDocument(text_pdf(pages, seed))
    return [page.render(scale=200 / 72).to_pil().convert("L") for page in document]


def scanned_pdf(pictures: list[Image.Image]) -> bytes:
    buffer = io.BytesIO()
    canvas = Canvas(buffer, pagesize=A4, invariant=1)
    for picture in pictures:
        canvas.drawImage(ImageReader(picture), 0, 0, *A4)
        canvas.showPage()
    canvas.save()
    return buffer.getvalue()
