"""Optional real PDF files next to the repository are processed by a whole worker."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from muniment.documents.media_types.types import PDF
from tests.processing.sandboxed_worker_fixture import SandboxedWorkerFixture, a_sandbox, open_sandboxed_worker
from tests.support import corpus
from tests.support.cluster import Cluster

pytestmark = pytest.mark.asyncio(loop_scope="module")

ENCRYPTED = {"005-libreoffice-writer-password.pdf"}
WITH_DIAGRAMS = {"003-pdflatex-image.pdf", "019-grayscale-image.pdf"}
WITHOUT_TEXT = {"007-imagemagick-images.pdf", "019-grayscale-image.pdf"}
"""Images of a few pixels and a photo: there is no text to recognize."""


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def sandboxed_worker(
    cluster: Cluster, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[SandboxedWorkerFixture]:
    async with open_sandboxed_worker(
        cluster, tmp_path_factory.mktemp("sandboxed_worker"), a_sandbox()
    ) as sandboxed_worker:
        yield sandboxed_worker


async def test_real_files_are_completed_with_all_their_pages_or_ask_for_their_password(
    sandboxed_worker: SandboxedWorkerFixture,
) -> None:
    for path in corpus.FILES:
        await check(sandboxed_worker, path)


async def check(sandboxed_worker: SandboxedWorkerFixture, path: Path) -> None:
    outcome = await sandboxed_worker.process(path.read_bytes(), PDF.media_type)
    if path.name in ENCRYPTED:
        assert outcome.code == "encrypted"
    else:
        assert (outcome.code, outcome.problems) == (None, [])
        assert outcome.total_pages == len(outcome.texts) > 0
    assert outcome.diagrams > 0 or path.name not in WITH_DIAGRAMS
    assert any(outcome.texts) == (path.name not in ENCRYPTED | WITHOUT_TEXT)
    assert sandboxed_worker.processes_left() == sandboxed_worker.files_left() == []
