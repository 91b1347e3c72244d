"""Every read is audited without any of the text, and damaged text is never shown."""

import json
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import httpx
import pytest

from muniment.documents.repository import DocumentNotFound
from muniment.processing.readers.contract import ExtractedPage, ExtractionMethod
from muniment.processing.results.viewer import ResultViewer
from muniment.storage.objects.folder.store import FolderObjectStore
from tests.processing.results.results_fixture import FIRST, PICTURE_KEY, SECOND, ResultsFixture
from tests.support.log_lines import Lines, capture_logs
from tests.support.seed import Seed

KINDS = {
    "pages": ("page", None),
    "pages/1": ("page", 1),
    "paragraphs": ("paragraphs", None),
    "paragraphs?page_number=2": ("paragraphs", 2),
    "diagrams": ("diagrams", None),
    "summary": ("summary", None),
    "text": ("text", None),
    "pages/2/image": ("image", 2),
    f"diagrams/{PICTURE_KEY}/image": ("image", 1),
}
WORDS = ("Rechnung", "Größe", "invoice", "Scanned", "Figure 1", "damaged")
WITH_TEXT = ("pages/1", "paragraphs", "text")


@pytest.fixture
def lines(capsys: pytest.CaptureFixture[str]) -> Iterator[Lines]:
    with capture_logs(capsys) as read:
        yield read


async def test_each_read_is_noted_with_who_what_and_where_and_no_word_of_the_text(
    results_env: ResultsFixture, lines: Lines
) -> None:
    document_id = await results_env.document()
    content_key, pack_key = results_env.seed.one("SELECT content_hmac FROM documents"), results_env.pack_key()
    lines()
    for place, (kind, page) in KINDS.items():
        assert (await results_env.get(document_id, place)).status_code == 200
        written = lines()
        (noted,) = [line for line in written if line["event"] == "artifacts.read"]
        assert (noted["user_id"], noted["document_id"]) == (str(results_env.owner.id), str(document_id))
        assert (noted["kind"], noted["page"]) == (kind, page)
        everything = json.dumps(written, ensure_ascii=False)
        assert not any(secret in everything for secret in (*WORDS, content_key, pack_key))


async def test_whoever_may_not_read_is_not_noted_as_a_reader(results_env: ResultsFixture, lines: Lines) -> None:
    document_id = await results_env.document()
    lines()
    async with results_env.api.client(results_env.colleague(None)) as client:
        for place in KINDS:
            assert (await client.get(results_env.path(document_id, place))).status_code == 404
    assert [line for line in lines() if line["event"] == "artifacts.read"] == []


async def spoil(results_env: ResultsFixture, how: str) -> None:
    key = results_env.pack_key()
    data = await results_env.api.stores.objects.get(key)
    if how == "missing":
        await results_env.api.stores.objects.delete(key)
        return
    flipped = data[:12] + bytes([data[12] ^ 1]) + data[13:]
    await results_env.api.stores.objects.put(key, {"cut short": data[:20], "flipped": flipped, "empty": b""}[how])


@pytest.mark.parametrize("how", ["missing", "cut short", "flipped", "empty"])
async def test_damaged_text_is_an_error_that_the_log_has_and_never_wrong_text(
    results_env: ResultsFixture, lines: Lines, how: str
) -> None:
    document_id = await results_env.document()
    await spoil(results_env, how)
    for place in WITH_TEXT:
        answer = await results_env.get(document_id, place)
        assert (answer.status_code, answer.json()["detail"][:27]) == (500, "The stored text is damaged.")
        damaged = [line for line in lines() if line["event"] == "artifacts.damaged"]
        assert {(line["level"], line["document_id"]) for line in damaged} == {("error", str(document_id))}


async def test_a_text_of_another_page_is_not_taken_for_this_one(results_env: ResultsFixture) -> None:
    document_id = await results_env.document()
    results_env.seed.execute(
        "UPDATE artifact_pages SET page_text_uri ="
        " (SELECT page_text_uri FROM artifact_pages WHERE page_number = 2) WHERE page_number = 1"
    )
    assert (await results_env.get(document_id, "pages/1")).status_code == 500


async def test_a_long_text_that_is_damaged_at_its_end_never_comes_to_its_end(results_env: ResultsFixture) -> None:
    # All pieces differ, so that the text stays long when compressed.
    pages = [
        ExtractedPage(n, " ".join(str(hash((n, i))) for i in range(20_000)), ExtractionMethod.TEXT) for n in range(1, 9)
    ]
    document_id = await results_env.document(pages)
    whole = await results_env.get(document_id, "text")
    assert whole.text == "".join(page.text + "\f" for page in pages)
    key = results_env.pack_key()
    await results_env.api.stores.objects.put(key, (await results_env.api.stores.objects.get(key))[:-5])
    with pytest.raises(httpx.RemoteProtocolError):
        await results_env.get(document_id, "text")


async def test_an_artifact_that_a_purge_took_away_meanwhile_is_no_damage(
    results_env: ResultsFixture, lines: Lines
) -> None:
    document_id = await results_env.document()
    results_env.seed.execute("ALTER TABLE documents DROP CONSTRAINT fk_documents_artifact_text_id")
    results_env.seed.execute("ALTER TABLE document_revisions DROP CONSTRAINT fk_document_revisions_artifact_text_id")
    results_env.seed.execute("DELETE FROM artifacts_full_text")
    for place in ("pages", *WITH_TEXT, "summary", "diagrams"):
        assert (await results_env.get(document_id, place)).json() == {"detail": "Document not found"}, place
    assert [line for line in lines() if line["level"] == "error"] == []


class StorePurgedDuringRead(FolderObjectStore):
    """Store in which a purge happens after the rows were read and before their bytes are."""

    def __init__(self, root: Path, seed: Seed) -> None:
        super().__init__(root)
        self._seed = seed

    async def read(self, key: str, *, start: int = 0, end: int | None = None) -> AsyncIterator[bytes]:
        for table in ("documents", "artifacts_full_text"):
            self._seed.execute(f"DELETE FROM {table}")
        async for piece in super().read(key, start=start, end=end):  # from another folder, which is empty
            yield piece


async def test_bytes_that_a_purge_took_away_meanwhile_are_no_damage(
    results_env: ResultsFixture, lines: Lines, tmp_path: Path
) -> None:
    document_id = await results_env.document()
    objects = StorePurgedDuringRead(tmp_path / "purged", results_env.seed)
    viewer = ResultViewer(results_env.api.stores.database, objects, results_env.owner.principal)
    with pytest.raises(DocumentNotFound):
        await viewer.get_page(results_env.kb_id, document_id, 1)
    assert [line for line in lines() if line["level"] == "error"] == []


class ByteByByteStore(FolderObjectStore):
    """Returns one byte at a time: many a chunk decompresses to nothing."""

    async def read(self, key: str, *, start: int = 0, end: int | None = None) -> AsyncIterator[bytes]:
        async for piece in super().read(key, start=start, end=end):
            for byte in piece:
                yield bytes([byte])


async def test_the_text_is_the_same_however_its_bytes_come_in(results_env: ResultsFixture) -> None:
    document_id = await results_env.document()
    objects = ByteByByteStore(results_env.api.settings.server.data_dir / "blobs")
    viewer = ResultViewer(results_env.api.stores.database, objects, results_env.owner.principal)
    pieces = [piece async for piece in viewer.stream_text(await viewer.get_published(results_env.kb_id, document_id))]
    assert len(pieces) > 1
    assert b"".join(pieces).decode() == f"{FIRST}\f{SECOND}\f\f"
