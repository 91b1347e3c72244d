"""What a failed or cancelled run wrote is deleted at once, and documents that are too large write nothing."""

from pathlib import Path
from typing import Any

import pytest

from muniment.processing.readers.contract import ReaderResources
from muniment.processing.readers.errors import Unreadable, UnreadableCode
from muniment.storage.objects.folder.store import FolderObjectStore
from tests.faults.results import stored
from tests.processing.worker_fixture import WorkerFixture, last_attempt
from tests.search.letter_embedder import LetterEmbedder

ARTIFACT_TABLES = ("artifacts_full_text", "artifact_pages", "artifact_paragraphs", "artifact_chunks")


async def left(worker_env: WorkerFixture) -> dict[str, int]:
    """Rows and objects of results, and ledger entries that still wait."""
    counts = {table: worker_env.seed.one(f"SELECT count(*) FROM {table}") for table in ARTIFACT_TABLES}
    packs = [key for key in await stored(worker_env.objects) if key.startswith("artifacts/")]
    waiting = worker_env.seed.one("SELECT count(*) FROM deletions WHERE done_at IS NULL")
    return {name: number for name, number in {**counts, "packs": len(packs), "waiting": waiting}.items() if number}


def error_code(worker_env: WorkerFixture) -> Any:
    return worker_env.seed.one("SELECT processing_errors->0->>'code' FROM documents ORDER BY created_at DESC LIMIT 1")


class BrokenObjectStore(FolderObjectStore):
    """Takes the text pack, and then the worker's transaction fails."""

    def __init__(self, worker_env: WorkerFixture, root: Path) -> None:
        super().__init__(root)
        self._worker_env = worker_env

    async def put(self, key: str, data: bytes) -> None:
        await super().put(key, data)
        if key.startswith("artifacts/"):
            constraint = "ADD CONSTRAINT broken CHECK (page_number < 0) NOT VALID"
            self._worker_env.seed.execute("ALTER TABLE artifact_pages DROP CONSTRAINT IF EXISTS broken")
            self._worker_env.seed.execute(f"ALTER TABLE artifact_pages {constraint}")


async def test_a_text_pack_without_its_rows_is_deleted(worker_env: WorkerFixture, tmp_path: Path) -> None:
    worker_env.objects = BrokenObjectStore(worker_env, tmp_path / "blobs")
    document_id = await worker_env.document()
    await last_attempt(lambda: worker_env.process(document_id))
    assert error_code(worker_env) == "internal"
    assert await left(worker_env) == {}


class RefusingEmbedder(LetterEmbedder):
    """Refuses when the text has been stored and is split."""

    def count_tokens(self, text: str) -> int:
        raise Unreadable(UnreadableCode.CORRUPT, "It cannot be indexed.")


async def test_a_run_that_fails_after_its_text_was_stored_leaves_nothing(worker_env: WorkerFixture) -> None:
    worker_env.embedder = RefusingEmbedder()
    await worker_env.process(await worker_env.document())
    assert error_code(worker_env) == "corrupt"
    assert await left(worker_env) == {}


async def test_a_text_that_another_document_shows_is_kept(worker_env: WorkerFixture) -> None:
    await worker_env.process(await worker_env.document())
    before = await left(worker_env)
    worker_env.seed.execute("DELETE FROM artifact_indexes")
    worker_env.embedder = RefusingEmbedder()
    await worker_env.process(await worker_env.document())
    assert error_code(worker_env) == "corrupt"
    after = await left(worker_env)
    assert {**before, "artifact_chunks": 0} == {**after, "artifact_chunks": 0}
    assert after["artifacts_full_text"] == 1


@pytest.mark.parametrize(
    ("limits", "code"),
    [
        ({"max_pages": 1}, "too_many_pages"),
        ({"max_paragraphs": 2}, "too_large"),
        ({"max_characters": 20}, "too_large"),
        ({"max_rows": 4}, "too_large"),
    ],
)
async def test_a_reader_that_exceeds_a_limit_is_not_believed_and_nothing_is_stored(
    worker_env: WorkerFixture, limits: dict[str, Any], code: str
) -> None:
    worker_env.resources = ReaderResources(**limits)
    await worker_env.process(await worker_env.document())
    assert error_code(worker_env) == code
    assert worker_env.seed.one("SELECT last_error FROM documents").endswith("Split it and upload the parts.")
    assert await left(worker_env) == {}


async def test_a_document_that_was_too_large_is_read_once_the_limit_is_higher(worker_env: WorkerFixture) -> None:
    worker_env.resources = ReaderResources(max_paragraphs=2)
    await worker_env.process(await worker_env.document())
    worker_env.resources = ReaderResources()
    second = await worker_env.document()
    await worker_env.process(second)
    assert worker_env.status(second) == "completed"
