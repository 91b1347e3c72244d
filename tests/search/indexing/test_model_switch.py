"""Switching models: nothing is read again, the old model answers until the switch, and the switch is refused while
documents would become unfindable."""

from collections.abc import AsyncIterator
from pathlib import Path
from uuid import UUID

import pytest
from sqlalchemy import insert

from muniment.audit.events import Event
from muniment.audit.log import event_row
from muniment.audit.tables import AuditEvent
from muniment.errors import Forbidden
from muniment.lifecycle.reprocess import BulkReread
from muniment.search.indexing.model_switch import DocumentsNotIndexed, IndexSwitched, ModelSwitch
from muniment.search.query.request import SearchMode, SearchRequest
from muniment.search.query.service import SearchService, SemanticSearchUnavailable
from muniment.search.variants import variant_for
from muniment.storage.db.address import DatabaseAddress
from muniment.storage.db.advisory_locks import AdvisoryLocks
from muniment.storage.db.principal import SYSTEM, Service
from muniment.storage.db.work import Database
from muniment.storage.objects.folder.store import FolderObjectStore
from muniment.storage.tasks.port import RunRequest
from muniment.storage.tasks.procrastinate.queue import ProcrastinateQueue
from muniment.storage.vectors.pgvector.search import PgvectorSearch
from tests.processing.worker_fixture import WorkerFixture
from tests.search.letter_embedder import LetterEmbedder
from tests.support.cluster import service_login
from tests.support.seed import Seed

OLD, NEW = LetterEmbedder("letters"), LetterEmbedder("newer letters")
OLD_NAME, NEW_NAME = variant_for(OLD).fingerprint, variant_for(NEW).fingerprint


@pytest.fixture
async def worker_env(
    address: DatabaseAddress, database: Database, seed: Seed, tmp_path: Path
) -> AsyncIterator[WorkerFixture]:
    locks = AdvisoryLocks(service_login(address), max_connections=4)
    yield WorkerFixture(seed, database, FolderObjectStore(tmp_path / "blobs"), locks)
    await locks.close()


def set_up(worker_env: WorkerFixture) -> ModelSwitch:
    """Configure the new model: workers index for both."""
    worker_env.embedder, worker_env.other_embedders = NEW, (OLD,)
    return ModelSwitch(worker_env.database, NEW)


async def processed(worker_env: WorkerFixture, content: bytes = b"bytes") -> UUID:
    document_id = await worker_env.document(content)
    await worker_env.process(document_id)
    return document_id


async def reprocess(worker_env: WorkerFixture, *documents: UUID) -> None:
    assert await BulkReread(worker_env.database, ProcrastinateQueue(), RunRequest()).enqueue() == len(documents)
    for document_id in documents:
        await worker_env.process(document_id)


def variants_of(worker_env: WorkerFixture, document_id: UUID) -> set[str]:
    """Return the variants for which passages exist."""
    question = """SELECT DISTINCT c.fingerprint FROM documents d
                    JOIN artifact_chunks c ON c.artifact_text_id = d.artifact_text_id WHERE d.id = %s"""
    return {fingerprint for (fingerprint,) in worker_env.seed.rows(question, document_id)}


async def answering(worker_env: WorkerFixture, embedder: LetterEmbedder) -> set[UUID]:
    """Return what semantic search finds when only this model is available."""
    searching = SearchService(worker_env.database, PgvectorSearch(worker_env.database), {embedder.model: embedder})
    answer = await searching.search(worker_env.owner.principal, SearchRequest("invoices", mode=SearchMode.VECTOR))
    return {hit.passage.document_id for hit in answer.hits}


async def test_another_model_reads_nothing_again_and_the_old_one_answers_until_the_switch(
    worker_env: WorkerFixture,
) -> None:
    document_id = await processed(worker_env)
    switching = set_up(worker_env)
    opened = worker_env.reader.opened
    await reprocess(worker_env, document_id)
    assert worker_env.reader.opened == opened
    assert variants_of(worker_env, document_id) == {OLD_NAME, NEW_NAME}
    assert await answering(worker_env, OLD) == {document_id}
    with pytest.raises(SemanticSearchUnavailable):
        await answering(worker_env, NEW)

    await switching.switch()

    assert await answering(worker_env, NEW) == {document_id}
    with pytest.raises(SemanticSearchUnavailable):
        await answering(worker_env, OLD)


async def test_reprocessing_twice_embeds_once(worker_env: WorkerFixture) -> None:
    document_id = await processed(worker_env)
    set_up(worker_env)
    await reprocess(worker_env, document_id)
    embedded = NEW.embedded
    await reprocess(worker_env, document_id)
    assert NEW.embedded == embedded


async def test_a_new_upload_gets_both_until_the_switch_and_the_new_one_alone_after_it(
    worker_env: WorkerFixture,
) -> None:
    first = await processed(worker_env)
    switching = set_up(worker_env)
    between = await processed(worker_env, b"between")
    assert variants_of(worker_env, between) == {OLD_NAME, NEW_NAME}
    assert await answering(worker_env, OLD) == {first, between}

    await reprocess(worker_env, first, between)
    await switching.switch()

    after = await processed(worker_env, b"after")
    assert variants_of(worker_env, after) == {NEW_NAME}
    assert await answering(worker_env, NEW) == {first, between, after}


async def test_the_status_counts_completed_documents_of_every_organization(worker_env: WorkerFixture) -> None:
    await processed(worker_env)
    stranger = worker_env.seed.person()
    of_stranger = await worker_env.document(owner=stranger, kb_id=worker_env.seed.knowledge_base(stranger))
    await worker_env.process(of_stranger)
    worker_env.seed.execute(
        "UPDATE documents SET status = 'archived' WHERE id = %s", await processed(worker_env, b"archived")
    )
    switching = set_up(worker_env)
    await processed(worker_env, b"both")

    status = await switching.status()

    assert (status.completed_documents, status.unindexed_documents) == (3, 2)
    counted = [(item.model, item.documents, item.is_active, item.is_configured) for item in status.variants]
    assert counted == [(NEW.model, 1, False, True), (OLD.model, 3, True, False)]
    assert [item.fingerprint for item in status.variants if item.is_active] == [OLD_NAME]


async def test_a_switch_that_would_lose_documents_is_refused_with_their_number(worker_env: WorkerFixture) -> None:
    await processed(worker_env)
    switching = set_up(worker_env)
    await processed(worker_env, b"both")
    with pytest.raises(DocumentsNotIndexed, match=r"^1 of 2 completed documents .* Run `muniment reprocess` first$"):
        await switching.switch()
    assert worker_env.seed.rows("SELECT fingerprint FROM indexing_variants WHERE is_active") == [(OLD_NAME,)]
    assert worker_env.seed.audit_lines() == []


async def test_a_switch_anyway_to_a_model_that_no_worker_has_used_leaves_exactly_one_active(
    worker_env: WorkerFixture,
) -> None:
    await processed(worker_env)
    await ModelSwitch(worker_env.database, NEW).switch(force=True)
    assert worker_env.seed.rows("SELECT fingerprint FROM indexing_variants WHERE is_active") == [(NEW_NAME,)]
    assert await answering(worker_env, NEW) == set()


async def test_a_switch_stands_once_in_the_trail_of_the_installation(worker_env: WorkerFixture) -> None:
    await processed(worker_env)
    switching = set_up(worker_env)
    before = await switching.switch(force=True)
    assert not before.configured.is_active
    again = await switching.switch()
    assert again.configured.is_active
    (written,) = worker_env.seed.audit_lines()
    assert (written["action"], written["actor"], written["organization_id"]) == ("index_switched", "system", None)
    assert written["payload"] == {"before": OLD_NAME, "after": NEW_NAME, "model": NEW.model, "lacking": 1}


async def test_an_empty_installation_can_be_switched_before_its_first_document(worker_env: WorkerFixture) -> None:
    status = await ModelSwitch(worker_env.database, NEW).status()
    assert (status.completed_documents, status.unindexed_documents) == (0, 0)
    assert not any(item.is_active for item in status.variants)
    await ModelSwitch(worker_env.database, NEW).switch()
    assert worker_env.seed.rows("SELECT fingerprint FROM indexing_variants WHERE is_active") == [(NEW_NAME,)]


async def write_for_the_installation(worker_env: WorkerFixture, caller: Service, event: Event) -> None:
    async with worker_env.database.service_work(caller) as work:
        await work.session.execute(insert(AuditEvent).values(event_row(event, actor=SYSTEM, organization_id=None)))


async def test_a_job_of_an_organization_can_write_nothing_into_the_trail_of_the_installation(
    worker_env: WorkerFixture,
) -> None:
    of_a_job = Service(worker_env.owner.organization_id)
    with pytest.raises(Forbidden):
        await write_for_the_installation(worker_env, of_a_job, IndexSwitched(None, "made up", "made up", 0))
