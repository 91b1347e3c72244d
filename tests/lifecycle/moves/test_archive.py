"""`POST …/{doc_id}/archive` and `…/restore` (docs/contracts.md#archive): completed ⇄ archived."""

import asyncio
from collections.abc import AsyncIterator
from datetime import datetime
from uuid import UUID

import httpx
import psycopg
import pytest

from muniment.storage.db.address import DatabaseAddress
from muniment.storage.db.base import new_id
from tests.lifecycle.moves.test_retry import NEWER, a_completed
from tests.processing.worker_fixture import WorkerFixture
from tests.support.jobs import wait_until
from tests.support.live_api import RunningApi

WAITING = """SELECT EXISTS (SELECT FROM pg_stat_activity
                             WHERE wait_event_type = 'Lock' AND datname = current_database())"""
TAKEN = {"detail": "Cannot restore: a document with this name already exists"}


@pytest.fixture
async def client(api: RunningApi, worker_env: WorkerFixture) -> AsyncIterator[httpx.AsyncClient]:
    async with api.client(worker_env.owner) as client:
        yield client


async def move(client: httpx.AsyncClient, worker_env: WorkerFixture, document_id: UUID, name: str) -> httpx.Response:
    return await client.post(f"/api/v1/knowledge-bases/{worker_env.kb_id}/documents/{document_id}/{name}")


async def test_archive_and_restore_answer_as_the_specification_says(
    client: httpx.AsyncClient, worker_env: WorkerFixture
) -> None:
    document_id = worker_env.seed.document(worker_env.kb_id, worker_env.owner, name="document.pdf")
    archived = await move(client, worker_env, document_id, "archive")
    assert archived.status_code == 200
    at = archived.json().pop("archived_at")
    assert archived.json() == {"id": str(document_id), "name": "document.pdf", "status": "archived", "archived_at": at}
    assert datetime.fromisoformat(at) == worker_env.seed.one("SELECT archived_at FROM documents")

    restored = await move(client, worker_env, document_id, "restore")
    assert restored.status_code == 200
    assert restored.json() == {
        "id": str(document_id),
        "name": "document.pdf",
        "status": "completed",
        "archived_at": None,
    }
    assert worker_env.seed.rows("SELECT status, archived_at FROM documents") == [("completed", None)]


@pytest.mark.parametrize(
    ("status", "name", "detail"),
    [
        ("pending", "archive", "Only completed documents can be archived"),
        ("processing", "archive", "Only completed documents can be archived"),
        ("failed", "archive", "Only completed documents can be archived"),
        ("archived", "archive", "Document is already archived"),
        ("pending", "restore", "Only archived documents can be restored"),
        ("processing", "restore", "Only archived documents can be restored"),
        ("completed", "restore", "Only archived documents can be restored"),
        ("failed", "restore", "Only archived documents can be restored"),
    ],
)
async def test_from_another_status_it_is_refused_and_nothing_is_changed(
    client: httpx.AsyncClient, worker_env: WorkerFixture, status: str, name: str, detail: str
) -> None:
    document_id = worker_env.seed.document(worker_env.kb_id, worker_env.owner, status=status)
    before = worker_env.seed.rows("SELECT * FROM documents")
    answer = await move(client, worker_env, document_id, name)
    assert (answer.status_code, answer.json()) == (400, {"detail": detail})
    assert worker_env.seed.rows("SELECT * FROM documents") == before
    assert worker_env.seed.audit_lines() == []


@pytest.mark.parametrize(("name", "status"), [("archive", "completed"), ("restore", "archived"), ("cancel", "pending")])
async def test_owner_and_admin_may_and_a_member_may_not_and_for_a_stranger_it_does_not_exist(
    api: RunningApi, worker_env: WorkerFixture, name: str, status: str
) -> None:
    organization_id = worker_env.owner.organization_id
    people = {
        200: [worker_env.owner, worker_env.seed.person(organization_id, is_admin=True)],
        403: [worker_env.seed.person(organization_id), worker_env.seed.person(organization_id)],
        404: [worker_env.seed.person(organization_id), worker_env.seed.person(is_admin=True)],
    }
    for person, role in zip(people[403], ("editor", "viewer"), strict=True):
        worker_env.seed.member(worker_env.kb_id, person, role)
    details = {403: {"detail": "Permission denied"}, 404: {"detail": "Document not found"}}
    for expected, some in people.items():
        for person in some:
            document_id = worker_env.seed.document(
                worker_env.kb_id, worker_env.owner, name=f"{new_id()}.pdf", status=status
            )
            async with api.client(person) as client:
                answer = await move(client, worker_env, document_id, name)
            assert answer.status_code == expected
            assert answer.json() == details.get(expected, answer.json())
            assert (worker_env.status(document_id) == status) is (expected != 200)


@pytest.mark.parametrize("name", ["archive", "restore", "cancel"])
async def test_a_document_of_another_knowledge_base_is_not_found(
    client: httpx.AsyncClient, worker_env: WorkerFixture, name: str
) -> None:
    elsewhere = worker_env.seed.document(worker_env.seed.knowledge_base(worker_env.owner, "Other"), worker_env.owner)
    for document_id in (elsewhere, new_id()):
        answer = await move(client, worker_env, document_id, name)
        assert (answer.status_code, answer.json()) == (404, {"detail": "Document not found"})
    assert worker_env.status(elsewhere) == "completed"


async def test_each_move_leaves_one_line_in_the_trail_with_the_payload_of_the_specification(
    client: httpx.AsyncClient, worker_env: WorkerFixture
) -> None:
    document_id = worker_env.seed.document(worker_env.kb_id, worker_env.owner, name="document.pdf")
    await move(client, worker_env, document_id, "archive")
    await move(client, worker_env, document_id, "restore")
    payload = {"doc_id": str(document_id), "kb_id": str(worker_env.kb_id), "doc_name": "document.pdf"}
    assert [(line["action"], line["actor"], line["payload"]) for line in worker_env.seed.audit_lines()] == [
        ("document_archived", str(worker_env.owner.id), payload),
        ("document_restored", str(worker_env.owner.id), payload),
    ]


async def test_archiving_ends_a_reread_that_is_under_way_and_changes_nothing_else_of_the_processing(
    client: httpx.AsyncClient, worker_env: WorkerFixture
) -> None:
    document_id = await a_completed(worker_env)
    question = "SELECT processing_status, processing_errors, last_error, index_epoch, artifact_text_id FROM documents"
    before = worker_env.seed.rows(question)
    await move(client, worker_env, document_id, "retry")
    reread = worker_env.job(document_id)
    assert (await move(client, worker_env, document_id, "archive")).status_code == 200
    worker_env.reading = NEWER
    await worker_env.worker()(reread)  # a worker that has already claimed it writes nothing
    assert worker_env.seed.rows(question) == before
    runs = worker_env.seed.rows("SELECT purpose, status, error->>'code' FROM document_processing_runs ORDER BY epoch")
    assert runs == [("first", "completed", None), ("reread", "failed", "superseded")]
    assert worker_env.seed.one("SELECT count(*) FROM procrastinate_jobs WHERE status = 'todo'") == 0
    assert worker_env.seed.one("SELECT epoch FROM documents") == 3


async def test_a_restore_is_refused_while_an_active_document_has_the_name_however_it_is_written(
    client: httpx.AsyncClient, worker_env: WorkerFixture
) -> None:
    archived = worker_env.seed.document(worker_env.kb_id, worker_env.owner, name="Straße.pdf", status="archived")
    namesake = worker_env.seed.document(worker_env.kb_id, worker_env.owner, name="STRASSE.PDF", status="pending")
    answer = await move(client, worker_env, archived, "restore")
    assert (answer.status_code, answer.json()) == (409, TAKEN)
    assert worker_env.status(archived) == "archived"
    worker_env.seed.execute("UPDATE documents SET status = 'failed' WHERE id = %s", namesake)
    assert (await move(client, worker_env, archived, "restore")).status_code == 200


async def test_of_two_archived_namesakes_restored_at_once_one_comes_back(
    client: httpx.AsyncClient, worker_env: WorkerFixture
) -> None:
    for _ in range(5):
        twins = [
            worker_env.seed.document(worker_env.kb_id, worker_env.owner, name=name, status="archived")
            for name in ("Caf\u00e9.pdf", "Cafe\u0301.pdf")
        ]
        answers = await asyncio.gather(*(move(client, worker_env, twin, "restore") for twin in twins))
        assert sorted(answer.status_code for answer in answers) == [200, 409]
        assert next(answer.json() for answer in answers if answer.status_code == 409) == TAKEN
        assert sorted(worker_env.status(twin) for twin in twins) == ["archived", "completed"]
        worker_env.seed.execute("DELETE FROM documents")


async def test_a_namesake_that_comes_while_the_restore_waits_is_seen_by_the_constraint(
    address: DatabaseAddress, client: httpx.AsyncClient, worker_env: WorkerFixture
) -> None:
    archived = worker_env.seed.document(worker_env.kb_id, worker_env.owner, name="a.pdf", status="archived")
    other = worker_env.seed.document(worker_env.kb_id, worker_env.owner, name="b.pdf")
    with psycopg.connect(address.conninfo) as holder:
        holder.execute("SELECT FROM documents WHERE id = %s FOR UPDATE", [archived])
        restoring = asyncio.create_task(move(client, worker_env, archived, "restore"))
        await wait_until(lambda: worker_env.seed.one(WAITING))  # it has checked that the name is free
        holder.execute("UPDATE documents SET name_key = 'a.pdf' WHERE id = %s", [other])
    answer = await restoring
    assert (answer.status_code, answer.json(), worker_env.status(archived)) == (409, TAKEN, "archived")


async def test_of_two_that_archive_at_once_one_did_it(client: httpx.AsyncClient, worker_env: WorkerFixture) -> None:
    document_id = worker_env.seed.document(worker_env.kb_id, worker_env.owner)
    answers = await asyncio.gather(*(move(client, worker_env, document_id, "archive") for _ in range(4)))
    assert sorted(answer.status_code for answer in answers) == [200, 400, 400, 400]
    assert [line["action"] for line in worker_env.seed.audit_lines()] == ["document_archived"]
