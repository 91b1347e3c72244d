"""PDF files built in memory: each builder draws only what a test is about."""

import io
from collections.abc import Callable, Iterable, Sequence
from functools import partial

import pikepdf
from PIL import Image, ImageDraw, ImageFont
from reportlab.lib.pagesizes import A4
from reportlab.lib.utils import ImageReader
from reportlab.pdfgen.canvas import Canvas

WIDTH, HEIGHT = A4
Draw = Callable[[Canvas], None]

PROSE = (
    "The archive keeps every document that",
    "people have sent to it since the first",
    "day and shows them to those who may",
    "see them while nobody else can even",
    "learn that they are there although the",
    "machine that holds them is the same",
)
"""Lines that fill a column of about 200 points at 11 points."""


def pdf(*pages: Draw) -> bytes:
    """One A4 page per drawing."""
    buffer = io.BytesIO()
    canvas = Canvas(buffer, pagesize=A4, invariant=True)
    for draw in pages:
        draw(canvas)
        canvas.showPage()
    canvas.save()
    return buffer.getvalue()


def write(
    canvas: Canvas,
    left: float,
    top: float,
    lines: Iterable[str],
    *,
    size: float = 11,
    pitch: float = 13.5,
    font: str = "Helvetica",
) -> None:
    """Lines below each other; `top` is measured from the upper edge of the page."""
    canvas.setFont(font, size)
    for place, line in enumerate(lines):
        canvas.drawString(left, HEIGHT - top - place * pitch, line)


def page_of(*texts: str) -> Draw:
    """A page of plain lines."""
    return partial(write, left=72, top=100, lines=texts)


def column(name: str, left: float) -> Draw:
    """Prose in which every line starts with the name of the column."""
    return partial(write, left=left, top=140, lines=[f"{name} {line}" for line in PROSE])


def together(*draws: Draw) -> Draw:
    def draw(canvas: Canvas) -> None:
        for each in draws:
            each(canvas)

    return draw


def table(rows: Sequence[Sequence[str]], lefts: Sequence[float], *, top: float, ruled: bool = False) -> Draw:
    """Rows of cells, drawn row by row, 20 points apart."""

    def draw(canvas: Canvas) -> None:
        for place, row in enumerate(rows):
            for left, cell in zip(lefts, row, strict=True):
                write(canvas, left, top + 20 * place, [cell])
        if ruled:
            edges = [left - 4 for left in lefts] + [lefts[-1] + 90]
            canvas.grid(edges, [HEIGHT - top + 14 - 20 * place for place in range(len(rows) + 1)])

    return draw


def picture(words: str) -> Draw:
    """A page that consists of one image at 150 dpi with these words."""
    image = Image.new("L", (1240, 1754), 255)
    ImageDraw.Draw(image).text((150, 200), words, fill=0, font=ImageFont.load_default(48))

    def draw(canvas: Canvas) -> None:
        canvas.drawImage(ImageReader(image), 0, 0, WIDTH, HEIGHT)

    return draw


def scan(words: str) -> bytes:
    return pdf(picture(words))


def invisible(words: str) -> Draw:
    """Invisible text, as OCR programs put it over a scan."""

    def draw(canvas: Canvas) -> None:
        text = canvas.beginText(72, HEIGHT - 100)
        text.setTextRenderMode(3)
        text.textOut(words)
        canvas.drawText(text)

    return draw


def turned(file: bytes, degrees: int) -> bytes:
    """Return the file with every page rotated clockwise."""

    def turn(document: pikepdf.Pdf) -> None:
        for page in document.pages:
            page.rotate(degrees, relative=False)

    return _changed(file, turn)


def encrypted(file: bytes, *, user: str, owner: str = "owner") -> bytes:
    buffer = io.BytesIO()
    with pikepdf.open(io.BytesIO(file)) as document:
        document.save(buffer, encryption=pikepdf.Encryption(user=user, owner=owner), deterministic_id=False)
    return buffer.getvalue()


def with_broken_page(file: bytes, index: int) -> bytes:
    """Return the file with something that is not a page in its page tree."""

    def damage(document: pikepdf.Pdf) -> None:
        document.Root.Pages.Kids[index] = document.make_indirect(pikepdf.Dictionary(Type=pikepdf.Name.Font))

    return _changed(file, damage)


def repeated(count: int) -> bytes:
    """A file with this number of empty pages."""
    document = pikepdf.new()
    for _ in range(count):
        document.add_blank_page()
    return _saved(document)


def mapped(lines: Sequence[str], *, unmapped: bool = False) -> bytes:
    """Lines of any characters, drawn from left to right: a map in the font gives their meaning. Without the map its
    glyphs have no meaning, as in many old files."""
    alphabet = sorted({character for line in lines for character in line})
    codes = {character: 33 + place for place, character in enumerate(alphabet)}
    document = pikepdf.new()
    page = document.add_blank_page(page_size=(WIDTH, HEIGHT))
    font = pikepdf.Dictionary(
        Type=pikepdf.Name.Font,
        Subtype=pikepdf.Name.Type1,
        BaseFont=pikepdf.Name("/Helvetica"),
        FirstChar=32,
        LastChar=33 + len(alphabet),
        Widths=[600] * (len(alphabet) + 2),
        FontDescriptor=pikepdf.Dictionary(
            Type=pikepdf.Name.FontDescriptor,
            FontName=pikepdf.Name("/Helvetica"),
            Flags=4,
            FontBBox=[0, -200, 1000, 800],
            Ascent=800,
            Descent=-200,
        ),
    )
    meanings = {code: "\ufffd" if unmapped else character for character, code in codes.items()}
    font.ToUnicode = document.make_stream(_unicode_map(meanings))
    page.Resources = pikepdf.Dictionary(Font=pikepdf.Dictionary(F1=document.make_indirect(font)))
    shown = [
        b"1 0 0 1 72 %d Tm <%s> Tj" % (700 - 14 * place, bytes(codes[character] for character in line).hex().encode())
        for place, line in enumerate(lines)
    ]
    page.Contents = document.make_stream(b"BT /F1 12 Tf " + b" ".join(shown) + b" ET")
    return _saved(document)


def _unicode_map(meanings: dict[int, str]) -> bytes:
    entries = "\n".join(f"<{code:02x}> <{text.encode('utf-16-be').hex()}>" for code, text in meanings.items())
    return (
        "/CIDInit /ProcSet findresource begin 12 dict begin begincmap /CMapType 2 def\n"
        "1 begincodespacerange <00> <ff> endcodespacerange\n"
        f"{len(meanings)} beginbfchar\n{entries}\nendbfchar\nendcmap end end"
    ).encode()


def _changed(file: bytes, change: Callable[[pikepdf.Pdf], None]) -> bytes:
    with pikepdf.open(io.BytesIO(file)) as document:
        change(document)
        return _saved(document)


def _saved(document: pikepdf.Pdf) -> bytes:
    buffer = io.BytesIO()
    document.save(buffer, deterministic_id=True)
    return buffer.getvalue()
