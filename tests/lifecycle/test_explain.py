"""`GET …/{doc_id}/explain`: why a document has its status, obstacles to moves, and who can make them."""

from collections.abc import AsyncIterator, Mapping
from typing import Any
from uuid import UUID

import httpx
import pytest

from muniment.lifecycle.rules import Move
from muniment.storage.db.base import now
from muniment.storage.tasks.port import RunRequest
from tests.lifecycle.moves.test_archive import move
from tests.lifecycle.moves.test_retry import a_completed, a_failed
from tests.processing.worker_fixture import WorkerFixture
from tests.support.live_api import RunningApi
from tests.support.seed import Person

MANAGERS = ["owner", "admin"]
REQUESTS = {
    **{name: ("POST", name) for name in ("archive", "restore", "cancel", "retry", "replace")},
    "revert": ("POST", "replace/revert"),
    "retry_replacement": ("POST", "replace/retry"),
    "discard_replacement": ("DELETE", "replace/failed"),
    "purge": ("DELETE", "purge"),
    "clear": ("DELETE", "clear"),
}
"""Every move of users."""


@pytest.fixture
async def client(api: RunningApi, worker_env: WorkerFixture) -> AsyncIterator[httpx.AsyncClient]:
    async with api.client(worker_env.owner) as client:
        yield client


async def explain(client: httpx.AsyncClient, worker_env: WorkerFixture, document_id: UUID) -> dict[str, Any]:
    answer = await client.get(f"/api/v1/knowledge-bases/{worker_env.kb_id}/documents/{document_id}/explain")
    assert answer.status_code == 200, answer.text
    explained: dict[str, Any] = answer.json()
    return explained


def moves_of(explained: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    return {item["move"]: item for item in explained["moves"]}


def allowed(explained: Mapping[str, Any]) -> set[str]:
    return {item["move"] for item in explained["moves"] if item["allowed"]}


def a_member(worker_env: WorkerFixture, role: str) -> Person:
    person = worker_env.seed.person(worker_env.owner.organization_id)
    worker_env.seed.member(worker_env.kb_id, person, role)
    return person


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        ("pending", {"cancel", "replace"}),
        ("processing", {"cancel"}),
        ("completed", {"archive", "retry", "replace"}),
        ("failed", {"retry", "clear", "replace"}),
        ("archived", {"restore", "purge", "replace"}),
    ],
)
async def test_every_move_is_judged_with_the_sentence_that_its_refusal_has(
    client: httpx.AsyncClient, worker_env: WorkerFixture, status: str, expected: set[str]
) -> None:
    document_id = worker_env.seed.document(worker_env.kb_id, worker_env.owner, status=status)
    explained = await explain(client, worker_env, document_id)
    assert set(moves_of(explained)) == set(Move)
    assert allowed(explained) == expected
    for name, (method, path) in REQUESTS.items():
        judged = moves_of(explained)[name]
        if judged["allowed"]:
            assert judged["reason"] is None
        else:
            files = {"file": ("new.pdf", b"%PDF-1.4 new")} if name == "replace" else None
            refused = await client.request(
                method, f"/api/v1/knowledge-bases/{worker_env.kb_id}/documents/{document_id}/{path}", files=files
            )
            assert (refused.status_code, refused.json()) == (400, {"detail": judged["reason"]}), name


async def test_an_archived_document_tells_since_when_and_by_which_events(
    client: httpx.AsyncClient, worker_env: WorkerFixture
) -> None:
    document_id = await a_completed(worker_env)
    await move(client, worker_env, document_id, "archive")
    explained = await explain(client, worker_env, document_id)
    at = worker_env.seed.one("SELECT archived_at FROM documents")
    assert explained["why"] == (
        f"Archived on {at:%Y-%m-%d} at {at:%H:%M} UTC. It does not appear in search until it is restored."
    )
    assert [(event["action"], event["actor"]) for event in explained["events"]] == [
        ("document_archived", str(worker_env.owner.id))
    ]
    assert explained["next"] == [
        "You can make it active again with `restore`.",
        "You can delete it permanently with `purge`.",
    ]


async def test_a_member_reads_who_may_and_nothing_of_the_trail(
    api: RunningApi, client: httpx.AsyncClient, worker_env: WorkerFixture
) -> None:
    document_id = await a_failed(worker_env)
    for role, may in (("viewer", set()), ("editor", {"retry"})):
        async with api.client(a_member(worker_env, role)) as theirs:
            explained = await explain(theirs, worker_env, document_id)
        assert explained["events"] is None
        assert allowed(explained) == may
        assert explained["why"] == "Processing failed: The file is protected by a password."
        assert explained["last_error"] == "The file is protected by a password."
        clear = moves_of(explained)["clear"]
        assert (clear["by"], clear["reason"]) == (MANAGERS, "Only the owner or an admin can do this")
        assert moves_of(explained)["retry"]["by"] == [*MANAGERS, "editor"]
        assert "Ask the owner or an admin to delete it with `clear`." in explained["next"]
    assert "You can process it again with `retry`." in explained["next"]  # the editor


async def test_for_a_stranger_it_does_not_exist(api: RunningApi, worker_env: WorkerFixture) -> None:
    document_id = await a_completed(worker_env)
    async with api.client(worker_env.seed.person(worker_env.owner.organization_id)) as theirs:
        answer = await theirs.get(f"/api/v1/knowledge-bases/{worker_env.kb_id}/documents/{document_id}/explain")
    assert (answer.status_code, answer.json()) == (404, {"detail": "Document not found"})


async def test_what_is_under_way_is_told(client: httpx.AsyncClient, worker_env: WorkerFixture) -> None:
    waiting = await worker_env.document()
    explained = await explain(client, worker_env, waiting)
    assert explained["why"] == "Stored and waiting to be processed."
    assert (explained["run"]["purpose"], explained["run"]["status"]) == ("first", "queued")
    worker_env.seed.execute("UPDATE document_processing_runs SET attempt = 1")
    assert "interrupted" in (await explain(client, worker_env, waiting))["why"]
    worker_env.seed.execute("UPDATE documents SET status = 'processing'")
    worker_env.seed.execute("UPDATE document_processing_runs SET status = 'in_progress', last_step = 'ExtractText'")
    assert (await explain(client, worker_env, waiting))["why"] == "Processing: ExtractText."


async def test_a_reread_is_told_beside_what_answers_meanwhile(
    client: httpx.AsyncClient, worker_env: WorkerFixture
) -> None:
    document_id = await a_completed(worker_env)
    assert (await explain(client, worker_env, document_id))["run"] is None
    worker_env.seed.execute("UPDATE documents SET epoch = 2")
    await worker_env.enqueue(document_id, RunRequest(purpose="reread"), epoch=2)
    explained = await explain(client, worker_env, document_id)
    assert explained["why"].endswith(
        "It appears in search. It is being reprocessed. The previous results stay available until that is done."
    )
    assert explained["run"]["purpose"] == "reread"


@pytest.mark.parametrize(("status", "name"), [("archived", "restore"), ("failed", "retry")])
async def test_a_document_of_the_same_name_is_named_as_the_obstacle(
    client: httpx.AsyncClient, worker_env: WorkerFixture, status: str, name: str
) -> None:
    document_id = worker_env.seed.document(worker_env.kb_id, worker_env.owner, name="a.pdf", status=status)
    namesake = worker_env.seed.document(worker_env.kb_id, worker_env.owner, name="A.PDF")
    judged = moves_of(await explain(client, worker_env, document_id))[name]
    assert (judged["allowed"], judged["blocked_by"]) == (False, str(namesake))
    refused = await move(client, worker_env, document_id, name)
    assert refused.status_code == 409
    assert judged["reason"] in refused.json().values()


async def test_a_pending_hand_over_is_an_obstacle_to_a_purge(
    client: httpx.AsyncClient, worker_env: WorkerFixture
) -> None:
    of_hand_over: dict[str, Any] = {"archive_status": "pending", "archive_job_id": "job", "handed_over_at": now()}
    document_id = worker_env.seed.document(worker_env.kb_id, worker_env.owner, status="archived", **of_hand_over)
    explained = await explain(client, worker_env, document_id)
    assert (explained["hand_over"]["status"], explained["hand_over"]["job_id"]) == ("pending", "job")
    assert "being sent to Paperless" in explained["why"]
    assert "being sent to Paperless" in moves_of(explained)["purge"]["reason"]
    assert "restore" in allowed(explained)


async def test_automatic_moves_are_made_by_muniment_alone(client: httpx.AsyncClient, worker_env: WorkerFixture) -> None:
    explained = await explain(client, worker_env, await worker_env.document())
    for name in ("start", "complete", "fail"):
        judged = moves_of(explained)[name]
        assert (judged["allowed"], judged["by"]) == (False, ["muniment"])


async def test_a_knowledge_base_being_deleted_is_an_obstacle_to_every_move_that_keeps_a_document(
    client: httpx.AsyncClient, worker_env: WorkerFixture
) -> None:
    archived = worker_env.seed.document(worker_env.kb_id, worker_env.owner, name="archived.pdf", status="archived")
    failed = worker_env.seed.document(worker_env.kb_id, worker_env.owner, name="failed.pdf", status="failed")
    completed = worker_env.seed.document(worker_env.kb_id, worker_env.owner, name="completed.pdf")
    worker_env.seed.execute("UPDATE knowledge_bases SET leaving_since = now()")
    for document_id, name in ((archived, "restore"), (failed, "retry"), (completed, "retry")):
        judged = moves_of(await explain(client, worker_env, document_id))[name]
        refused = await move(client, worker_env, document_id, name)
        assert refused.status_code == 409
        assert (judged["allowed"], {"detail": judged["reason"]}) == (False, refused.json())
    assert allowed(await explain(client, worker_env, archived)) == {"purge"}
    assert allowed(await explain(client, worker_env, failed)) == {"clear"}
    assert allowed(await explain(client, worker_env, completed)) == {"archive"}


async def test_an_open_hand_over_of_an_older_revision_is_an_obstacle_to_a_purge(
    api: RunningApi, client: httpx.AsyncClient, worker_env: WorkerFixture
) -> None:
    document_id = worker_env.seed.document(worker_env.kb_id, worker_env.owner, status="archived", revision=2)
    worker_env.seed.insert(
        "archive_audit_log",
        organization_id=worker_env.owner.organization_id,
        bilko_document_id=document_id,
        document_type="invoice",
        r2_object_key="job",
        sha256="ab" * 32,
    )
    judged = moves_of(await explain(client, worker_env, document_id))["purge"]
    refused = await client.delete(f"/api/v1/knowledge-bases/{worker_env.kb_id}/documents/{document_id}/purge")
    assert refused.status_code == 409
    assert (judged["allowed"], {"detail": judged["reason"]}) == (False, refused.json())
    async with api.client(a_member(worker_env, "viewer")) as theirs:  # who cannot see the hand-over itself
        explained = await explain(theirs, worker_env, document_id)
    assert moves_of(explained)["purge"]["reason"] == judged["reason"]
    assert not any("purge" in advice for advice in explained["next"])


async def test_advice_names_everybody_who_may(api: RunningApi, worker_env: WorkerFixture) -> None:
    document_id = await a_failed(worker_env)
    async with api.client(a_member(worker_env, "viewer")) as theirs:
        explained = await explain(theirs, worker_env, document_id)
    assert "Ask the owner, an admin or an editor to process it again with `retry`." in explained["next"]
    assert "Ask the owner or an admin to delete it with `clear`." in explained["next"]
