"""A file of every supported type becomes a completed document with its text in the store."""

import io
from collections.abc import AsyncIterator, Callable

import openpyxl
import pptx
import pytest
import pytest_asyncio

from muniment.documents.media_types import types
from muniment.documents.media_types.detection import detect_media_type
from muniment.documents.media_types.types import SUPPORTED, MediaType
from tests.processing.readers.image_files import a_scan
from tests.processing.readers.office_files import a_docx, an_odt, w
from tests.processing.readers.pdf_files import page_of, pdf
from tests.processing.sandboxed_worker_fixture import SandboxedWorkerFixture, a_sandbox, open_sandboxed_worker
from tests.support.cluster import Cluster

pytestmark = pytest.mark.asyncio(loop_scope="module")

WORDS = "Seven boats are lying in the harbour"
HEADERS = (
    "From: a@example.org\nTo: b@example.org\nSubject: Boats\nDate: Mon, 1 Jan 2024 10:00:00 +0000\nMIME-Version: 1.0\n"
)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def sandboxed_worker(
    cluster: Cluster, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[SandboxedWorkerFixture]:
    async with open_sandboxed_worker(
        cluster, tmp_path_factory.mktemp("sandboxed_worker"), a_sandbox()
    ) as sandboxed_worker:
        yield sandboxed_worker


def a_picture(format_name: str) -> Callable[[], bytes]:
    def build() -> bytes:
        file = io.BytesIO()
        a_scan([WORDS]).save(file, format_name)
        return file.getvalue()

    return build


def an_xlsx() -> bytes:
    book, file = openpyxl.Workbook(), io.BytesIO()
    book.worksheets[0]["A1"] = WORDS
    book.save(file)
    return file.getvalue()


def a_pptx() -> bytes:
    deck, file = pptx.Presentation(), io.BytesIO()
    deck.slides.add_slide(deck.slide_layouts[0]).shapes[0].text_frame.text = WORDS
    deck.save(file)
    return file.getvalue()


FILES: dict[MediaType, Callable[[], bytes]] = {
    types.PDF: lambda: pdf(page_of(WORDS)),
    types.DOCX: lambda: a_docx(w(WORDS)),
    types.PPTX: a_pptx,
    types.XLSX: an_xlsx,
    types.ODT: lambda: an_odt(f"<text:p>{WORDS}</text:p>"),
    types.RTF: lambda: rf"{{\rtf1\ansi {WORDS}\par}}".encode(),
    types.HTML: lambda: f"<!doctype html><p>{WORDS}</p>".encode(),
    types.MARKDOWN: lambda: f"# {WORDS}\n\n*and wait*\n".encode(),
    types.TEXT: lambda: f"{WORDS}\n".encode("utf-16"),
    types.EML: lambda: (HEADERS + f"\n{WORDS}\n").encode(),
    types.PNG: a_picture("PNG"),
    types.JPEG: a_picture("JPEG"),
    types.TIFF: a_picture("TIFF"),
    types.WEBP: a_picture("WEBP"),
    types.GIF: a_picture("GIF"),
    types.BMP: a_picture("BMP"),
}


@pytest.mark.parametrize("kind", SUPPORTED, ids=lambda kind: kind.name)
async def test_a_file_of_every_known_kind_is_recognised_and_completed_with_its_text(
    sandboxed_worker: SandboxedWorkerFixture, kind: MediaType
) -> None:
    content = FILES[kind]()
    assert detect_media_type(content, content, len(content), name=f"boats{kind.extension}") == kind
    outcome = await sandboxed_worker.process(content, kind.media_type)
    assert (outcome.code, outcome.problems, outcome.total_pages) == (None, [], 1)
    assert WORDS in outcome.texts[0]
    assert outcome.ocr_pages == kind.media_type.startswith("image/")
    assert sandboxed_worker.processes_left() == sandboxed_worker.files_left() == []
