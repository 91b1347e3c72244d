"""The runs of a document in the API."""

from typing import Any
from uuid import UUID, uuid4

from muniment.processing.pipeline.context import RunContext
from muniment.processing.pipeline.graph import NODES
from muniment.processing.readers.errors import Unreadable, UnreadableCode
from muniment.processing.runs.repository import RunRepository
from muniment.processing.runs.tables import STEP_ORDER, StepStatus
from muniment.storage.db.principal import Service
from tests.processing.worker_fixture import WorkerFixture
from tests.support.live_api import RunningApi
from tests.support.seed import Person

FIELDS = {"id", "purpose", "status", "attempt", "revision", "created_at", "updated_at", "ended_at", "error", "steps"}
STEP_FIELDS = {"name", "status", "started_at", "completed_at", "page", "pages", "error"}


async def runs_of(
    api: RunningApi, worker_env: WorkerFixture, document_id: UUID, person: Person | None = None
) -> list[dict[str, Any]]:
    async with api.client(person or worker_env.owner) as client:
        answer = await client.get(f"/api/v1/knowledge-bases/{worker_env.kb_id}/documents/{document_id}/runs")
    assert answer.status_code == 200, answer.text
    items: list[dict[str, Any]] = answer.json()["items"]
    return items


def test_every_node_that_leaves_a_record_has_its_place_among_the_steps() -> None:
    assert [*STEP_ORDER, "BuildSummary"] == list(NODES)


async def test_a_run_shows_its_steps_in_the_order_of_the_graph(api: RunningApi, worker_env: WorkerFixture) -> None:
    document_id = await worker_env.document()
    await worker_env.process(document_id)
    [run] = await runs_of(api, worker_env, document_id)
    assert set(run) == FIELDS
    assert (run["purpose"], run["status"], run["attempt"], run["error"]) == ("first", "completed", 1, None)
    assert run["ended_at"] is not None
    steps = run["steps"]
    assert all(set(step) == STEP_FIELDS for step in steps)
    assert [steps[0]["name"], steps[-1]["name"]] == ["FetchDocumentRecord", "MarkBasicComplete"]
    assert {step["status"] for step in steps} == {"success"}


async def test_known_content_shows_the_same_as_content_that_was_computed(
    api: RunningApi, worker_env: WorkerFixture
) -> None:
    computed, found = await worker_env.document(b"same"), await worker_env.document(b"same")
    assert await worker_env.process(computed) != await worker_env.process(found)
    shown = []
    for document_id in (computed, found):
        [run] = await runs_of(api, worker_env, document_id)
        steps = [(step["name"], step["status"], step["page"], step["pages"]) for step in run["steps"]]
        shown.append((set(run), run["status"], run["attempt"], steps))
    assert shown[0] == shown[1]


async def test_a_run_that_failed_says_why_and_where(api: RunningApi, worker_env: WorkerFixture) -> None:
    worker_env.reader.error = Unreadable(UnreadableCode.ENCRYPTED, "The file is protected by a password.")
    document_id = await worker_env.document()
    await worker_env.process(document_id)
    [run] = await runs_of(api, worker_env, document_id)
    why = {"code": "encrypted", "message": "The file is protected by a password."}
    assert (run["status"], run["error"]) == ("failed", why)
    failed = [step for step in run["steps"] if step["status"] == "failed"]
    assert [(step["name"], step["error"]) for step in failed] == [("ExtractText", why)]


async def test_a_run_that_gave_up_its_slot_is_in_its_first_attempt_while_it_waits_and_when_it_continues(
    api: RunningApi, worker_env: WorkerFixture
) -> None:
    document_id = await worker_env.document()
    shown = []
    for _ in range(2):
        async with worker_env.database.service_work(Service(worker_env.owner.organization_id)) as work:
            claimed = await RunRepository(work.session).claim(worker_env.job(document_id).run_id)
        assert claimed is not None
        shown += await runs_of(api, worker_env, document_id)
        async with worker_env.database.service_work(Service(worker_env.owner.organization_id)) as work:
            await RunRepository(work.session).requeue(claimed[0], has_yielded=True)
        shown += await runs_of(api, worker_env, document_id)
    assert [(run["status"], run["attempt"]) for run in shown] == [("in_progress", 1), ("queued", 1)] * 2


async def test_a_step_that_has_begun_says_how_far_it_is(api: RunningApi, worker_env: WorkerFixture) -> None:
    document_id = await worker_env.document()
    async with worker_env.database.service_work(Service(worker_env.owner.organization_id)) as work:
        claimed = await RunRepository(work.session).claim(worker_env.job(document_id).run_id)
    assert claimed is not None
    context = RunContext(worker_env.services, *claimed)
    for status, expected in ((StepStatus.STARTED, (7, 12)), (StepStatus.SUCCESS, (None, None))):
        async with context.transaction("ExtractText", status, {"page": 7, "pages": 12}):
            pass
        [shown] = await runs_of(api, worker_env, document_id)
        [step] = shown["steps"]
        assert (step["status"], step["page"], step["pages"]) == (status, *expected)


async def test_the_newest_run_comes_first_and_pages_are_counted(api: RunningApi, worker_env: WorkerFixture) -> None:
    document_id = await worker_env.document()
    for epoch in (2, 3):
        worker_env.seed.execute("UPDATE documents SET epoch = %s", epoch)
        await worker_env.enqueue(document_id, epoch=epoch)
    runs = await runs_of(api, worker_env, document_id)
    assert [run["created_at"] for run in runs] == sorted((run["created_at"] for run in runs), reverse=True)
    async with api.client(worker_env.owner) as client:
        path = f"/api/v1/knowledge-bases/{worker_env.kb_id}/documents/{document_id}/runs"
        second = (await client.get(path, params={"page": 2, "limit": 2})).json()
    assert (second["total"], second["page"], second["limit"]) == (3, 2, 2)
    assert second["items"] == [runs[2]]


async def test_a_stranger_finds_no_runs_and_a_viewer_does(api: RunningApi, worker_env: WorkerFixture) -> None:
    document_id = await worker_env.document()
    viewer = worker_env.seed.person(worker_env.owner.organization_id)
    worker_env.seed.member(worker_env.kb_id, viewer, "viewer")
    assert len(await runs_of(api, worker_env, document_id, viewer)) == 1
    other_kb_id = worker_env.seed.knowledge_base(worker_env.owner, "Another")
    async with api.client(worker_env.seed.person()) as stranger, api.client(worker_env.owner) as owner:
        for client, kb_id, doc_id in (
            (stranger, worker_env.kb_id, document_id),
            (owner, other_kb_id, document_id),
            (owner, worker_env.kb_id, uuid4()),
        ):
            answer = await client.get(f"/api/v1/knowledge-bases/{kb_id}/documents/{doc_id}/runs")
            assert (answer.status_code, answer.json()) == (404, {"detail": "Document not found"})
