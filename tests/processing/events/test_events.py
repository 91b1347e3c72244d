"""Events about documents, as a user's browser tab receives them."""

from uuid import UUID

from muniment.processing.pipeline.context import RunContext
from muniment.processing.pipeline.progress import ProgressReporter
from muniment.processing.runs.repository import RunRepository
from muniment.storage.db.base import new_id
from muniment.storage.db.principal import Service
from tests.processing.events.event_stream_client import ids, names, open_event_stream
from tests.processing.worker_fixture import WorkerFixture
from tests.support.live_api import RunningApi
from tests.support.seed import Person, Seed

MOVE = "UPDATE documents SET status = %s WHERE id = %s"


def a_run(seed: Seed, document_id: UUID, owner: Person, *, epoch: int = 1, purpose: str = "reread") -> None:
    seed.insert(
        "document_processing_runs",
        run_id=new_id(),
        document_id=document_id,
        organization_id=owner.organization_id,
        user_id=owner.id,
        epoch=epoch,
        revision=1,
        purpose=purpose,
        status="in_progress",
    )


async def test_a_change_event_has_everything_that_a_row_of_the_page_needs(
    api: RunningApi, seed: Seed, owner: Person, kb_id: UUID
) -> None:
    document_id = seed.document(kb_id, owner, name="report.pdf", status="pending")
    async with open_event_stream(api, owner) as tab:
        await tab.expect("snapshot")
        seed.execute(
            "UPDATE documents SET status = 'failed', processing_status = 'failed', last_error = 'It is encrypted.'"
        )
        assert await tab.expect("document") == {
            "document_id": str(document_id),
            "kb_id": str(kb_id),
            "name": "report.pdf",
            "status": "failed",
            "processing_status": "failed",
            "step": None,
            "page": None,
            "pages": None,
            "total_pages": None,
            "last_error": "It is encrypted.",
            "purpose": None,
            "passages": 0,
            "passages_embedded": 0,
        }


async def test_the_answer_is_an_event_stream_that_nothing_on_the_way_holds_back(api: RunningApi, owner: Person) -> None:
    async with open_event_stream(api, owner, {**owner.headers, "Accept-Encoding": "gzip, br"}) as tab:
        assert await tab.expect("snapshot") == {"documents": [], "truncated": False}
        headers = tab.response.headers
        assert headers["content-type"].startswith("text/event-stream")
        assert (headers["cache-control"], headers["x-accel-buffering"]) == ("no-store", "no")
        assert "content-encoding" not in headers
        assert tab.retry == "2000"


async def test_the_snapshot_shows_what_is_unfinished_the_newest_first(
    api: RunningApi, seed: Seed, owner: Person, kb_id: UUID
) -> None:
    for status in ("pending", "processing", "completed", "failed", "archived"):
        seed.document(kb_id, owner, name=status, status=status)
    a_run(seed, seed.document(kb_id, owner, name="being reread"), owner)
    a_run(seed, seed.document(kb_id, owner, name="reread in vain", epoch=2), owner, epoch=1)
    async with open_event_stream(api, owner) as tab:
        snapshot = await tab.expect("snapshot")
    assert names(snapshot) == ["being reread", "processing", "pending"]
    assert [document["purpose"] for document in snapshot["documents"]] == ["reread", None, None]


async def test_a_snapshot_of_too_many_says_that_it_is_not_all(
    api: RunningApi, seed: Seed, owner: Person, kb_id: UUID
) -> None:
    seed.document(kb_id, owner, name="oldest", status="pending")
    seed.execute("""
        INSERT INTO documents SELECT (jsonb_populate_record(d, jsonb_build_object(
            'id', gen_random_uuid(), 'name', n, 'name_key', n, 'created_at', now() + n * interval '1 second'))).*
        FROM documents d, generate_series(1, 500) n""")
    async with open_event_stream(api, owner) as tab:
        snapshot = await tab.expect("snapshot")
    assert names(snapshot) == [str(number) for number in range(500, 0, -1)]
    assert snapshot["truncated"] is True


async def test_progress_is_sent_page_by_page_until_completion(api: RunningApi, worker_env: WorkerFixture) -> None:
    document_id = await worker_env.document()
    async with worker_env.database.service_work(Service(worker_env.owner.organization_id)) as work:
        claimed = await RunRepository(work.session).claim(worker_env.job(document_id).run_id)
    assert claimed is not None
    async with open_event_stream(api, worker_env.owner) as tab:
        await tab.expect("snapshot")
        progress = ProgressReporter(RunContext(worker_env.services, *claimed), "ExtractText", 12)
        progress._reported_at = 0
        await progress.report_page(3)
        told = await tab.expect("document")
        assert (told["step"], told["page"], told["pages"], told["purpose"]) == ("ExtractText", 3, 12, "first")

        await worker_env.worker()(worker_env.job(document_id))
        told = (await tab.until("document", status="completed"))[-1][1]
        assert (told["step"], told["page"], told["pages"], told["purpose"]) == (None, None, None, None)
        assert (told["total_pages"], told["processing_status"]) == (2, "basic_complete")


async def test_new_renamed_and_removed_documents_are_told(
    api: RunningApi, seed: Seed, owner: Person, kb_id: UUID
) -> None:
    async with open_event_stream(api, owner) as tab:
        await tab.expect("snapshot")
        document_id = str(seed.document(kb_id, owner, name="new.pdf"))
        assert (await tab.expect("document"))["name"] == "new.pdf"
        seed.execute("UPDATE documents SET name = 'renamed\nin two lines.pdf'")
        assert (await tab.expect("document"))["name"] == "renamed\nin two lines.pdf"
        seed.execute("DELETE FROM documents")
        assert await tab.expect("gone") == {"document_id": document_id}


async def test_strangers_and_colleagues_without_membership_are_told_nothing(
    api: RunningApi, seed: Seed, owner: Person, kb_id: UUID
) -> None:
    foreign_id = seed.document(kb_id, owner, name="foreign", status="pending")
    for other in (seed.person(), seed.person(owner.organization_id), seed.person(is_operator=True)):
        own_id = seed.document(seed.knowledge_base(other), other, name="own", status="pending")
        async with open_event_stream(api, other) as tab:
            assert names(await tab.expect("snapshot")) == ["own"]
            seed.execute(MOVE, "processing", foreign_id)
            seed.execute(MOVE, "failed", foreign_id)
            seed.execute(MOVE, "failed", own_id)
            assert ids(await tab.until("document", status="failed")) == {own_id}
            passing_id = seed.document(kb_id, owner, name="came and went")
            seed.execute("DELETE FROM documents WHERE id = %s", passing_id)
            seed.execute(MOVE, "completed", own_id)
            assert ids(await tab.until("document", status="completed")) == {own_id}


async def test_membership_is_checked_for_each_event(api: RunningApi, seed: Seed, owner: Person, kb_id: UUID) -> None:
    viewer = seed.person(owner.organization_id)
    seed.member(kb_id, viewer, "viewer")
    document_id = seed.document(kb_id, owner, status="pending")
    async with open_event_stream(api, viewer) as tab:
        assert len((await tab.expect("snapshot"))["documents"]) == 1
        seed.execute("DELETE FROM knowledge_base_members")
        seed.execute(MOVE, "processing", document_id)
        assert await tab.expect("gone") == {"document_id": str(document_id)}
        seed.member(kb_id, viewer, "viewer")
        seed.execute(MOVE, "completed", document_id)
        assert (await tab.expect("document"))["status"] == "completed"


async def test_every_tab_of_a_person_is_told(api: RunningApi, seed: Seed, owner: Person, kb_id: UUID) -> None:
    async with open_event_stream(api, owner) as one, open_event_stream(api, owner) as other:
        for tab in (one, other):
            await tab.expect("snapshot")
        seed.document(kb_id, owner)
        assert await one.expect("document") == await other.expect("document")
    listening = "SELECT count(*) FROM pg_stat_activity WHERE application_name LIKE 'listening%%'"
    assert seed.one(f"{listening} AND datname = current_database()") == 1
