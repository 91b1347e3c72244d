"""What users, operators and programs see of a document between its text and its vectors."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import httpx
import pytest

from muniment.search.embedding.port import EmbeddingsRefused
from muniment.search.indexing.backlog import EmbeddingBacklogSweep
from muniment.search.indexing.model_switch import ModelSwitch
from muniment.search.query.service import SearchService
from muniment.storage.tasks.port import READING, RetryLater
from muniment.storage.vectors.pgvector.search import PgvectorSearch
from muniment.telemetry.metrics import REGISTRY
from tests.processing.events.event_stream_client import open_event_stream
from tests.processing.worker_fixture import WorkerFixture
from tests.search.letter_embedder import LetterEmbedder
from tests.support.live_api import RunningApi

PASSAGES = 2
"""Each of the two pages is one passage."""


async def read_only(worker_env: WorkerFixture) -> str:
    """Return the path of a document whose text is read, and whose vectors are missing."""
    document_id = await worker_env.document()
    await worker_env.worker()(worker_env.job(document_id, READING))
    return f"/api/v1/knowledge-bases/{worker_env.kb_id}/documents/{document_id}"


def moment(body: dict[str, Any]) -> tuple[str, str, int, int]:
    return body["status"], body["processing_status"], body["passages"], body["passages_embedded"]


async def get(client: httpx.AsyncClient, path: str, **parameters: Any) -> Any:
    answer = await client.get(path, params=parameters)
    assert answer.status_code == 200, answer.text
    return answer.json()


async def test_documents_and_lists_tell_how_far_their_passages_are(api: RunningApi, worker_env: WorkerFixture) -> None:
    path = await read_only(worker_env)
    async with api.client(worker_env.owner) as client:
        for is_embedded in (False, True):
            if is_embedded:
                await worker_env.embed()
            status = "analysis_complete" if is_embedded else "basic_complete"
            expected = ("completed", status, PASSAGES, PASSAGES if is_embedded else 0)
            assert moment(await get(client, path)) == expected
            (listed,) = (await get(client, path.rpartition("/")[0]))["items"]
            assert moment(listed) == expected
            assert (await get(client, f"{path}/summary"))["processing_status"] == status
    assert worker_env.seed.one("SELECT processing_status FROM documents") == "basic_complete"


async def test_the_event_stream_announces_the_text_and_the_vectors(api: RunningApi, worker_env: WorkerFixture) -> None:
    async with open_event_stream(api, worker_env.owner) as tab:
        await tab.expect("snapshot")
        await read_only(worker_env)
        while moment(seen := await tab.expect("document")) != ("completed", "basic_complete", PASSAGES, 0):
            assert seen["processing_status"] != "analysis_complete"
        await worker_env.embed()
        while moment(await tab.expect("document")) != ("completed", "analysis_complete", PASSAGES, PASSAGES):
            pass


async def test_keywords_find_the_text_and_the_answer_tells_what_meaning_does_not_find_yet(
    api: RunningApi, worker_env: WorkerFixture
) -> None:
    await read_only(worker_env)
    database, embedder = api.stores.database, worker_env.embedder
    searching = SearchService(database, PgvectorSearch(database), {embedder.model: embedder})
    api.app.state.services = replace(api.services, search=searching)
    async with api.client(worker_env.owner) as client:
        before = await get(client, "/api/v1/search", q="invoices")
        assert (before["mode"], before["passages_without_vectors"]) == ("hybrid", PASSAGES)
        assert [hit["matched"] for hit in before["items"]] == ["text"]
        assert (await get(client, "/api/v1/search", q="invoices", mode="vector"))["items"] == []
        assert (await get(client, "/api/v1/search", q="invoices", mode="text"))["passages_without_vectors"] == 0
        await worker_env.embed()
        after = await get(client, "/api/v1/search", q="invoices")
        assert (after["passages_without_vectors"], after["items"][0]["matched"]) == (0, "both")
        assert (await get(client, "/api/v1/search", q="invoices", mode="vector"))["items"]


async def test_operators_see_the_backlog_its_age_and_the_last_error(api: RunningApi, worker_env: WorkerFixture) -> None:
    await read_only(worker_env)
    worker_env.seed.execute("UPDATE artifact_indexes SET created_at = created_at - interval '90 minutes'")

    class Refusing(LetterEmbedder):
        async def embed(self, texts: Sequence[str]) -> list[list[float]]:
            raise EmbeddingsRefused("The embedding service rejected the request with status 401")

    model, worker_env.embedder = worker_env.embedder, Refusing()
    with pytest.raises(RetryLater):
        await worker_env.embed()
    async with api.client(worker_env.seed.person(is_operator=True)) as operator:
        backlog = (await get(operator, "/api/v1/processing/queue"))["embedding"]
        assert (backlog["passages"], backlog["oldest_seconds"] >= 5400) == (PASSAGES, True)
        assert backlog["error"] == "The embedding service rejected the request with status 401"
        await EmbeddingBacklogSweep(worker_env.database).sweep()
        assert REGISTRY.get_sample_value("muniment_embedding_backlog_passages") == PASSAGES
        assert (REGISTRY.get_sample_value("muniment_embedding_backlog_oldest_seconds") or 0) >= 5400
        worker_env.embedder = model
        await worker_env.embed()
        nothing = {"passages": 0, "oldest_seconds": 0, "error": None}
        assert (await get(operator, "/api/v1/processing/queue"))["embedding"] == nothing


async def test_a_switch_of_the_model_counts_only_documents_with_all_their_vectors(worker_env: WorkerFixture) -> None:
    await read_only(worker_env)
    switch = ModelSwitch(worker_env.database, worker_env.embedder)
    assert ((await switch.status()).completed_documents, (await switch.status()).configured.documents) == (1, 0)
    await worker_env.embed()
    assert (await switch.status()).configured.documents == 1
