"""The real readers inside the real sandbox, where imports are no longer possible."""

import contextlib
import io
from collections.abc import AsyncIterator, Callable

import docx
import openpyxl
import pptx
import pytest
from PIL import Image as Pillow
from reportlab.pdfgen.canvas import Canvas

from muniment.processing.readers.contract import ExtractionMethod, ReaderResources, ReadingOptions
from muniment.processing.readers.errors import Unreadable, UnreadableCode
from muniment.processing.readers.ocr.engine import find_engine
from muniment.processing.sandbox.client import Sandbox
from tests.processing.sandbox.conftest import a_file
from tests.support import corpus

PDF = "application/pdf"
OFFICE = "application/vnd.openxmlformats-officedocument"


def a_pdf() -> bytes:
    file = io.BytesIO()
    canvas = Canvas(file, invariant=True)
    canvas.drawString(100, 700, "Some words")
    canvas.save()
    return file.getvalue()


def a_docx() -> bytes:
    document, file = docx.Document(), io.BytesIO()
    document.add_paragraph("Some words")
    document.save(file)
    return file.getvalue()


def an_xlsx() -> bytes:
    book, file = openpyxl.Workbook(), io.BytesIO()
    assert book.active is not None
    book.active["A1"] = "Some words"
    book.save(file)
    return file.getvalue()


def a_pptx() -> bytes:
    show, file = pptx.Presentation(), io.BytesIO()
    show.slides.add_slide(show.slide_layouts[0]).shapes[0].text_frame.text = "Some words"
    show.save(file)
    return file.getvalue()


@pytest.fixture(scope="module")
def resources() -> ReaderResources:
    engine = find_engine()
    return ReaderResources(tesseract=engine.path, tessdata=engine.data_folder) if engine else ReaderResources()


@pytest.fixture
async def sandbox(resources: ReaderResources) -> AsyncIterator[Sandbox]:
    sandbox = Sandbox(resources)
    yield sandbox
    await sandbox.close()


@pytest.mark.parametrize(
    ("media_type", "build"),
    [
        (PDF, a_pdf),
        (f"{OFFICE}.wordprocessingml.document", a_docx),
        (f"{OFFICE}.spreadsheetml.sheet", an_xlsx),
        (f"{OFFICE}.presentationml.presentation", a_pptx),
        ("text/html", lambda: b"<p>Some words</p>"),
        ("text/markdown", lambda: b"# Some words"),
        ("text/plain", lambda: "Some words, größer".encode("cp1252")),
    ],
)
async def test_every_kind_of_file_is_read(sandbox: Sandbox, media_type: str, build: Callable[[], bytes]) -> None:
    with a_file(build()) as file:
        async with sandbox.read(file, media_type, ReadingOptions()) as reading:
            pages = [page async for page in reading.pages]
    assert len(pages) == reading.total_pages == 1
    assert "Some words" in pages[0].text
    assert pages[0].problem is None


def three_page_pdf() -> bytes:
    file = io.BytesIO()
    canvas = Canvas(file)
    for number in (1, 2, 3):
        canvas.drawString(72, 700, f"Page {number}")
        canvas.showPage()
    canvas.save()
    return file.getvalue()


def three_page_tiff() -> bytes:
    file = io.BytesIO()
    first, *others = [Pillow.new("1", (40, 40), 1) for _ in range(3)]
    first.save(file, "TIFF", save_all=True, append_images=others)
    return file.getvalue()


@pytest.mark.parametrize(
    ("media_type", "build"),
    [
        (PDF, three_page_pdf),
        ("image/tiff", three_page_tiff),
        ("text/plain", lambda: b"\n\n".join(b"word " * 1_900 for _ in range(3))),
    ],
)
@pytest.mark.parametrize("first_page", [1, 3, 4])
async def test_pages_before_the_first_one_are_skipped(
    sandbox: Sandbox, media_type: str, build: Callable[[], bytes], first_page: int
) -> None:
    with a_file(build()) as file:
        async with sandbox.read(file, media_type, ReadingOptions(), first_page=first_page) as reading:
            numbers = [page.number async for page in reading.pages]
    assert reading.total_pages == 3
    assert numbers == list(range(first_page, 4))


async def test_scanned_words_are_recognised_by_a_program_that_the_child_executes(
    sandbox: Sandbox, resources: ReaderResources
) -> None:
    with a_file(a_pdf()) as file:
        picture = await sandbox.render_page(file, PDF, 1, 1654)
    with a_file(picture.png) as scan:
        async with sandbox.read(scan, "image/png", ReadingOptions()) as reading:
            [page] = [page async for page in reading.pages]
    assert (page.method, page.text.strip()) == (ExtractionMethod.OCR, "Some words") or not resources.tesseract


async def test_picture_of_a_page_has_the_width_that_was_asked_for(sandbox: Sandbox) -> None:
    with a_file(a_pdf()) as file:
        image = await sandbox.render_page(file, PDF, 1, 300)
    assert image.width_px == 300
    assert Pillow.open(io.BytesIO(image.png)).size == (image.width_px, image.height_px)


async def test_damaged_file_says_so(sandbox: Sandbox) -> None:
    with a_file(b"%PDF-1.7 and no more") as file, pytest.raises(Unreadable) as caught:
        await sandbox.render_page(file, PDF, 1, 300)
    assert caught.value.code is UnreadableCode.CORRUPT


async def test_real_files_give_all_their_pages_or_say_why_not(sandbox: Sandbox) -> None:
    for path in corpus.FILES[:5]:
        with path.open("rb") as file, contextlib.suppress(Unreadable):  # one of them has a password
            async with sandbox.read(file, PDF, ReadingOptions()) as reading:
                numbers = [page.number async for page in reading.pages]
            assert numbers == list(range(1, reading.total_pages + 1))


async def test_the_child_itself_stops_at_a_limit() -> None:
    sandbox = Sandbox(ReaderResources(max_characters=5))
    try:
        with a_file(a_pdf()) as file, pytest.raises(Unreadable) as refused:
            async with sandbox.read(file, PDF, ReadingOptions()) as reading:
                _ = [page async for page in reading.pages]
    finally:
        await sandbox.close()
    assert refused.value.code is UnreadableCode.TOO_LARGE
