"""Files that control their reader: whatever they make it do, only their own document fails."""

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from muniment.processing.readers.contract import ReaderResources
from muniment.processing.sandbox.client import Sandbox
from tests.processing.sandbox.conftest import WORKPLACE
from tests.processing.sandboxed_worker_fixture import SandboxedWorkerFixture, open_sandboxed_worker
from tests.support.cluster import Cluster

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def sandboxed_worker(
    cluster: Cluster, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[SandboxedWorkerFixture]:
    """Worker whose reader does what the media type says."""
    sandbox = Sandbox(ReaderResources(), memory_bytes=256 << 20, stall_seconds=2, server_config=WORKPLACE)
    async with open_sandboxed_worker(cluster, tmp_path_factory.mktemp("sandboxed_worker"), sandbox) as sandboxed_worker:
        yield sandboxed_worker


@pytest.mark.parametrize(
    ("deed", "code"),
    [
        ("abort", "corrupt"),
        ("segfault", "corrupt"),
        ("exit", "corrupt"),
        ("stumble", "corrupt"),
        ("crash_with_family", "corrupt"),
        ("late_failure", "corrupt"),
        ("close_output", "reader_timeout"),
        ("hang_with_family", "reader_timeout"),
        ("burn", "reader_timeout"),
        ("hog", "reader_memory"),
        ("hog_and_abort", "reader_memory"),
    ],
)
async def test_a_reader_that_crashes_hangs_or_takes_too_much_fails_its_document_only(
    sandboxed_worker: SandboxedWorkerFixture, deed: str, code: str
) -> None:
    outcome = await sandboxed_worker.process(deed.encode(), deed)
    assert outcome.code == code
    assert outcome.texts == []
    await sandboxed_worker.require_sound(str.encode, "echo")
