"""Bad files fail with a code and a message, or are read in part; the worker continues."""

import socket
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pytest
import pytest_asyncio

from muniment.documents.media_types.types import DOCX, EML, HTML, JPEG, ODT, PDF, PNG, PPTX, TEXT, TIFF, XLSX, MediaType
from tests.processing import bad_files
from tests.processing.readers import pdf_files
from tests.processing.readers.pdf_files import mapped, page_of, pdf, repeated, with_broken_page
from tests.processing.sandboxed_worker_fixture import SandboxedWorkerFixture, a_sandbox, open_sandboxed_worker
from tests.support.cluster import Cluster

pytestmark = pytest.mark.asyncio(loop_scope="module")

MEMORY = 512 << 20
PACKED = (DOCX, ODT, PPTX, XLSX)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def sandboxed_worker(
    cluster: Cluster, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[SandboxedWorkerFixture]:
    sandbox = a_sandbox(memory_bytes=MEMORY)
    async with open_sandboxed_worker(cluster, tmp_path_factory.mktemp("sandboxed_worker"), sandbox) as sandboxed_worker:
        yield sandboxed_worker


@pytest.fixture
def listener() -> Iterator[socket.socket]:
    """A local server that no file may reach."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        listening.setblocking(False)
        yield listening


def good_pdf(words: str) -> bytes:
    return pdf(page_of(words))


@dataclass(frozen=True)
class RejectedFile:
    name: str
    kind: MediaType
    build: Callable[[], bytes]
    code: str


REFUSED = [
    RejectedFile("encrypted", PDF, lambda: pdf_files.encrypted(pdf(page_of("secret")), user="needed"), "encrypted"),
    RejectedFile("truncated", PDF, bad_files.truncated_pdf, "corrupt"),
    RejectedFile("noise", PDF, bad_files.pdf_of_noise, "corrupt"),
    RejectedFile("5000 pages", PDF, lambda: repeated(5000), "too_many_pages"),
    RejectedFile("no pages", PDF, lambda: repeated(0), "corrupt"),
    *(RejectedFile("packing bomb", kind, partial(bad_files.packing_bomb, kind), "reader_memory") for kind in PACKED),
    *(RejectedFile("laughing", kind, partial(bad_files.laughing, kind), "corrupt") for kind in (DOCX, ODT, XLSX)),
    RejectedFile("memory bomb", DOCX, lambda: bad_files.memory_bomb_docx(60_000_000), "too_large"),
    RejectedFile("50 MB", TEXT, lambda: bad_files.long_text(50_000_000), "too_many_pages"),
    RejectedFile("crowded slide", PPTX, lambda: bad_files.crowded_slide(100_001), "too_large"),
    RejectedFile("deep", DOCX, lambda: bad_files.deep_docx(100_000), "corrupt"),
]


@pytest.mark.parametrize("rejected", REFUSED, ids=lambda rejected: f"{rejected.name} {rejected.kind.name}")
async def test_a_file_that_cannot_be_read_fails_with_its_code_and_a_sentence(
    sandboxed_worker: SandboxedWorkerFixture, rejected: RejectedFile
) -> None:
    outcome = await sandboxed_worker.process(rejected.build(), rejected.kind.media_type)
    assert outcome.code == rejected.code
    assert outcome.texts == []
    await sandboxed_worker.require_sound(good_pdf, PDF.media_type)


@dataclass(frozen=True)
class UnusualFile:
    name: str
    kind: MediaType
    build: Callable[[], bytes]
    text: str = ""
    """Text that must have been read."""
    unread: tuple[int, ...] = ()
    """Pages that must be reported as unread."""


COMPLETED = [
    UnusualFile("20,000 pixels", PNG, bad_files.large_png, unread=(1,)),
    UnusualFile("20,000 pixels", TIFF, bad_files.large_tiff, unread=(1,)),
    UnusualFile("20,000 pixels", JPEG, bad_files.large_jpeg),
    UnusualFile("20,000 points", PDF, lambda: bad_files.large_page_pdf(20_000, "Far away"), "Far away"),
    UnusualFile("2,000,000,000 points", PDF, lambda: bad_files.large_page_pdf(2e9, "Far away"), unread=(1,)),
    UnusualFile("10,000 kilometres", PDF, lambda: bad_files.large_letter_pdf("Close by"), "Close by"),
    UnusualFile("lying picture", DOCX, lambda: bad_files.docx_with_lying_picture("The text"), "The text"),
    UnusualFile("scan of 20,000 pixels", PDF, bad_files.large_scan_pdf),
    UnusualFile("drawing bomb", PDF, lambda: bad_files.drawing_bomb_pdf(4)),
    UnusualFile("unpacking bomb", PDF, lambda: bad_files.unpacking_bomb_pdf(60_000_000)),
    UnusualFile("circular pages", PDF, bad_files.pdf_with_circular_pages),
    UnusualFile("no Unicode map", PDF, lambda: mapped(["abc def"], unmapped=True)),
    UnusualFile("blank", PDF, lambda: repeated(1)),
    UnusualFile(
        "broken page", PDF, lambda: with_broken_page(pdf(*map(page_of, ("one", "two", "three"))), 1), "three", (2,)
    ),
    UnusualFile("laughing", PPTX, lambda: bad_files.laughing(PPTX), unread=(1,)),
    UnusualFile("strange numbers", XLSX, bad_files.xlsx_of_strange_numbers, "The last cell"),
    UnusualFile("40,000,000 × 2 pixels", PNG, lambda: bad_files.blank_png(40_000_000, 2)),
    UnusualFile("nested", HTML, lambda: bad_files.nested_html(20_000), "the end"),
    UnusualFile("broken", EML, bad_files.broken_mail, "Still to be read"),
    UnusualFile("5 MB", TEXT, lambda: bad_files.long_text(5_000_000), "The last words."),
]


@pytest.mark.parametrize("unusual", COMPLETED, ids=lambda unusual: f"{unusual.name} {unusual.kind.name}")
async def test_what_can_be_read_of_a_file_is_read_and_the_rest_is_named(
    sandboxed_worker: SandboxedWorkerFixture, unusual: UnusualFile
) -> None:
    outcome = await sandboxed_worker.process(unusual.build(), unusual.kind.media_type)
    assert outcome.code is None
    assert outcome.problems is not None
    assert tuple(problem["page"] for problem in outcome.problems) == unusual.unread
    assert all(problem["message"].endswith(".") for problem in outcome.problems)
    assert unusual.text in " ".join(outcome.texts)
    await sandboxed_worker.require_sound(good_pdf, PDF.media_type)


@pytest.mark.parametrize("kind", [*PACKED, HTML], ids=lambda kind: kind.name)
@pytest.mark.parametrize("target", ["file", "network"])
async def test_a_file_makes_its_reader_fetch_nothing(
    sandboxed_worker: SandboxedWorkerFixture, listener: socket.socket, tmp_path: Path, kind: MediaType, target: str
) -> None:
    secret = tmp_path / "secret"
    secret.write_text("root:x:0:0")
    network = f"http://127.0.0.1:{listener.getsockname()[1]}/x.dtd"
    address = secret.as_uri() if target == "file" else network
    content = bad_files.reaching_out_html(address) if kind is HTML else bad_files.reaching_out(kind, address)
    outcome = await sandboxed_worker.process(content, kind.media_type)
    assert outcome.code == (None if kind in (HTML, PPTX) else "corrupt")
    assert "root:x" not in " ".join(outcome.texts)
    with pytest.raises(BlockingIOError):
        listener.accept()
    await sandboxed_worker.require_sound(good_pdf, PDF.media_type)
