"""`DELETE …/{doc_id}/purge`, `…/clear`: deleted everywhere, or 202 (docs/contracts.md#purge, docs/design.md#i3)."""

import asyncio
from uuid import UUID, uuid4

import pytest

from muniment.errors import Unavailable
from muniment.storage.vectors.port import VectorSearch
from tests.lifecycle.purge.harness import PurgeHarness
from tests.search.external_index_fixture import FaultyIndex

PURGED, CLEARED = "Document permanently deleted", "Failed document cleared"


@pytest.fixture(params=["pgvector"])
def index(request: pytest.FixtureRequest, qdrant: FaultyIndex) -> VectorSearch | None:
    return qdrant if request.param == "qdrant" else None


# What is left in the stores depends on the engine; what is refused does not.
each_engine = pytest.mark.parametrize("index", ["pgvector", "qdrant"], indirect=True)
only_qdrant = pytest.mark.parametrize("index", ["qdrant"], indirect=True)


@each_engine
async def test_a_purged_document_is_gone_from_every_store_and_leaves_a_receipt(purge_env: PurgeHarness) -> None:
    document_id = await purge_env.archived()
    before = await purge_env.left(document_id)
    assert {"documents", "document_pages", "artifact_chunks", "objects"} <= set(before)
    answer = await purge_env.purge(document_id)
    assert answer.status_code == 200, answer.text
    receipt_id = answer.json().pop("receipt_id")
    assert answer.json() == {"message": PURGED, "receipt_id": receipt_id}
    assert await purge_env.left(document_id) == {}
    assert (await purge_env.receipt(receipt_id))["record"]["document"]["id"] == str(document_id)


@each_engine
async def test_a_cleared_document_is_gone_from_every_store_and_leaves_a_receipt(purge_env: PurgeHarness) -> None:
    document_id = await purge_env.completed()
    purge_env.worker_env.seed.execute("UPDATE documents SET status = 'failed'")
    answer = await purge_env.clear(document_id)
    assert answer.status_code == 200, answer.text
    assert answer.json()["message"] == CLEARED
    assert await purge_env.left(document_id) == {}
    (line,) = [one for one in purge_env.worker_env.seed.audit_lines() if one["action"] == "document_cleared"]
    assert line["payload"] == {
        "doc_id": str(document_id),
        "kb_id": str(purge_env.worker_env.kb_id),
        "doc_name": "0.pdf",
        "reason": "requested",
    }


@pytest.mark.parametrize(
    ("status", "move", "detail"),
    [
        *((status, "purge", "Only archived documents can be purged") for status in ("pending", "completed", "failed")),
        ("processing", "purge", "Only archived documents can be purged"),
        *((status, "clear", "Only failed documents can be cleared") for status in ("pending", "completed", "archived")),
        ("processing", "clear", "Cannot clear document while processing is in progress"),
    ],
)
async def test_what_is_refused_changes_nothing(purge_env: PurgeHarness, status: str, move: str, detail: str) -> None:
    document_id = purge_env.worker_env.seed.document(
        purge_env.worker_env.kb_id, purge_env.worker_env.owner, status=status
    )
    answer = await purge_env.client.delete(f"{purge_env.path(document_id)}/{move}")
    assert (answer.status_code, answer.json()) == (400, {"detail": detail})
    assert purge_env.worker_env.status(document_id) == status
    assert purge_env.worker_env.seed.audit_lines() == []
    assert purge_env.worker_env.seed.one("SELECT count(*) FROM receipts") == 0


@each_engine
async def test_missing_pieces_are_no_error(purge_env: PurgeHarness) -> None:
    document_id = purge_env.failed()
    answer = await purge_env.clear(document_id)
    assert answer.status_code == 200
    assert await purge_env.left(document_id) == {}


async def test_a_store_that_does_not_delete_gives_202_and_the_sweep_signs_later(purge_env: PurgeHarness) -> None:
    document_id = await purge_env.archived()
    purge_env.objects.is_unavailable = True
    answer = await purge_env.purge(document_id)
    assert answer.status_code == 202
    receipt_id = answer.json()["receipt_id"]
    assert answer.json()["receipt_url"] == f"/api/v1/receipts/{receipt_id}"
    assert answer.json()["pending"] == ["blobs"]
    assert (await purge_env.client.get(purge_env.path(document_id))).status_code == 404
    assert set(await purge_env.left(document_id)) == {"objects"}
    assert (await purge_env.purge(document_id)).status_code == 202
    purge_env.objects.is_unavailable = False
    await purge_env.sweep()
    assert await purge_env.left(document_id) == {}
    again = await purge_env.purge(document_id)
    assert (again.status_code, again.json()["message"], again.json()["receipt_id"]) == (200, PURGED, receipt_id)
    assert (await purge_env.receipt(again.json()["receipt_id"]))["record"]["second_look"]["left"]["blobs"] == 0


async def test_a_store_that_only_says_so_is_not_believed(purge_env: PurgeHarness) -> None:
    document_id = await purge_env.archived()
    purge_env.objects.ignores_deletes = True
    assert (await purge_env.purge(document_id)).json()["pending"] == ["blobs"]


async def test_an_object_that_came_back_after_its_deletion_is_found_by_the_second_look(purge_env: PurgeHarness) -> None:
    document_id = await purge_env.archived()
    purge_env.objects.is_unavailable = True
    assert (await purge_env.purge(document_id)).status_code == 202
    purge_env.objects.is_unavailable = False
    purge_env.worker_env.seed.execute(
        "UPDATE deletions SET done_at = now(), outcome = 'erased'"
    )  # although it is still there
    assert (await purge_env.purge(document_id)).json()["pending"] == ["blobs"]
    await purge_env.sweep()
    assert await purge_env.left(document_id) == {}
    assert (await purge_env.purge(document_id)).status_code == 200


@only_qdrant
async def test_an_index_that_does_not_answer_gives_202_and_the_sweep_signs_later(
    purge_env: PurgeHarness, qdrant: FaultyIndex
) -> None:
    document_id = await purge_env.archived()
    qdrant.error = Unavailable("no answer")
    answer = await purge_env.purge(document_id)
    assert (answer.status_code, answer.json()["pending"]) == (202, ["index"])
    qdrant.error = None
    await purge_env.sweep()
    assert await purge_env.left(document_id) == {}
    assert purge_env.worker_env.seed.one("SELECT count(*) FROM index_intents") == 0
    receipt = await purge_env.receipt((await purge_env.purge(document_id)).json()["receipt_id"])
    assert receipt["record"]["found"]["points"] > 0


@only_qdrant
async def test_a_receipt_names_the_points_that_were_there_although_their_removal_got_no_answer(
    purge_env: PurgeHarness, qdrant: FaultyIndex
) -> None:
    document_id = await purge_env.archived()
    qdrant.error, qdrant.is_done_first = Unavailable("no answer"), True
    answer = await purge_env.purge(document_id)
    assert answer.status_code == 200, answer.text
    assert (await purge_env.receipt(answer.json()["receipt_id"]))["record"]["found"]["points"] > 0


async def test_the_same_again_gives_the_same_answer_to_who_could_have_done_it_and_404_to_others(
    purge_env: PurgeHarness,
) -> None:
    document_id = await purge_env.archived()
    first = await purge_env.purge(document_id)
    seed, kb_id, owner = purge_env.worker_env.seed, purge_env.worker_env.kb_id, purge_env.worker_env.owner
    admin = seed.person(owner.organization_id, is_admin=True)
    editor, viewer = seed.person(owner.organization_id), seed.person(owner.organization_id)
    seed.member(kb_id, editor, "editor")
    seed.member(kb_id, viewer, "viewer")
    for person, status in (
        (owner, 200),
        (admin, 200),
        (editor, 404),
        (viewer, 404),
        (seed.person(owner.organization_id), 404),
        (seed.person(is_admin=True), 404),
        (seed.person(is_operator=True), 404),
    ):
        async with purge_env.client_of(person) as client:
            again = await client.delete(f"{purge_env.path(document_id)}/purge")
        assert again.status_code == status
        assert again.json() == (first.json() if status == 200 else {"detail": "Document not found"})
    assert (await purge_env.clear(document_id)).status_code == 404  # it was not cleared
    assert [line["action"] for line in seed.audit_lines()].count("document_purged") == 1


async def test_who_may_only_see_it_gets_403_and_who_may_not_gets_404(purge_env: PurgeHarness) -> None:
    document_id = await purge_env.archived()
    seed, owner = purge_env.worker_env.seed, purge_env.worker_env.owner
    editor = seed.person(owner.organization_id)
    seed.member(purge_env.worker_env.kb_id, editor, "editor")
    for person, status in ((editor, 403), (seed.person(owner.organization_id), 404), (seed.person(), 404)):
        async with purge_env.client_of(person) as client:
            answer = await client.delete(f"{purge_env.path(document_id)}/purge")
        assert answer.status_code == status
    assert purge_env.worker_env.status(document_id) == "archived"
    assert (await purge_env.purge(uuid4())).status_code == 404


@pytest.mark.parametrize("patience_seconds", [60])
async def test_of_many_at_once_one_destroys_and_all_get_the_same_receipt(purge_env: PurgeHarness) -> None:
    document_id = await purge_env.archived()
    answers = await asyncio.gather(*(purge_env.purge(document_id) for _ in range(6)))
    assert {answer.status_code for answer in answers} == {200}
    assert len({answer.json()["receipt_id"] for answer in answers}) == 1
    assert [line["action"] for line in purge_env.worker_env.seed.audit_lines()].count("document_purged") == 1


async def test_jobs_of_its_runs_and_what_the_queue_remembers_of_them_go_too(purge_env: PurgeHarness) -> None:
    document_id = await purge_env.archived()
    job = purge_env.worker_env.seed.one("SELECT job_id FROM document_processing_runs")
    purge_env.worker_env.seed.execute(
        "INSERT INTO procrastinate_jobs (id, queue_name, task_name, status)"
        " VALUES (%s, 'reading', 'processing.run', 'failed')",
        job,
    )
    assert (await purge_env.left(document_id))["jobs"] == 1
    answer = await purge_env.purge(document_id)
    assert answer.status_code == 200
    assert await purge_env.left(document_id) == {}
    assert purge_env.worker_env.seed.one("SELECT count(*) FROM procrastinate_events WHERE job_id = %s", job) == 0
    assert (await purge_env.receipt(answer.json()["receipt_id"]))["record"]["found"]["jobs"] == [job]


@each_engine
async def test_what_another_document_shows_is_kept_and_named_with_the_reason(purge_env: PurgeHarness) -> None:
    document_id, other_id = await purge_env.archived(b"the same"), await purge_env.completed(b"the same")
    text_id = purge_env.worker_env.seed.one("SELECT artifact_text_id FROM documents WHERE id = %s", other_id)
    answer = await purge_env.purge(document_id)
    record = (await purge_env.receipt(answer.json()["receipt_id"]))["record"]
    (kept,) = record["kept"]
    assert (kept["store"], kept["id"]) == ("artifacts", str(text_id))
    assert kept["reason"]
    assert (
        purge_env.worker_env.seed.one("SELECT count(*) FROM artifact_chunks WHERE artifact_text_id = %s", text_id) > 0
    )
    assert {"documents", "objects"} & set(await purge_env.left(document_id)) == {"objects"}
    assert (await purge_env.client.post(f"{purge_env.path(other_id)}/archive")).status_code == 200
    answer = await purge_env.purge(other_id)  # the last document that shows it
    assert (await purge_env.receipt(answer.json()["receipt_id"]))["record"]["kept"] == []
    assert await purge_env.left(document_id, other_id) == {}


def set_hand_over(purge_env: PurgeHarness, document_id: UUID, status: str) -> None:
    change = "UPDATE documents SET archive_status = %s, archive_job_id = 'job', paperless_doc_url = 'u' WHERE id = %s"
    purge_env.worker_env.seed.execute(change, status, document_id)


async def test_a_pending_hand_over_is_an_obstacle_unless_it_is_cancelled(purge_env: PurgeHarness) -> None:
    document_id = await purge_env.archived()
    set_hand_over(purge_env, document_id, "pending")
    answer = await purge_env.purge(document_id)
    assert answer.status_code == 409
    assert "sent to Paperless" in answer.json()["detail"]
    assert purge_env.worker_env.status(document_id) == "archived"
    assert (await purge_env.purge(document_id, cancel_hand_over="true")).status_code == 200


async def test_a_copy_in_the_archive_is_named_as_kept(purge_env: PurgeHarness) -> None:
    document_id = await purge_env.archived()
    set_hand_over(purge_env, document_id, "archived")
    answer = await purge_env.purge(document_id)
    (kept,) = (await purge_env.receipt(answer.json()["receipt_id"]))["record"]["kept"]
    assert (kept["store"], kept["url"]) == ("paperless", "u")
