from datetime import timedelta
from uuid import UUID

import pytest
from pydantic import SecretStr

from muniment.bootstrap.handover import build_document_handover
from muniment.bootstrap.object_stores import QueueFolderMissing, build_archiver_stores, build_handover_stores
from muniment.cli.backfill import run_backfill
from muniment.handover.backfill import ALL_DOCUMENTS, Backfill, BackfillFilter, BackfillProgress
from muniment.settings import Settings
from muniment.settings.handover import ArchiverSettings
from muniment.settings.server import S3Settings
from muniment.settings.sources import SettingsError
from muniment.storage.db.base import now
from tests.documents.uploads import a_pdf
from tests.handover.handover_api import HandoverApi


async def documents(office: HandoverApi, count: int, **columns: str) -> list[UUID]:
    return [await office.document(a_pdf(f"old {number}"), **columns) for number in range(count)]


def work(office: HandoverApi, chosen: BackfillFilter = ALL_DOCUMENTS) -> Backfill:
    return Backfill(build_document_handover(office.api.settings, office.api.stores), chosen)


async def carried_out(office: HandoverApi, chosen: BackfillFilter = ALL_DOCUMENTS) -> BackfillProgress:
    return [filled async for filled in work(office, chosen).run()][-1]


async def test_what_was_never_handed_over_is_and_nothing_else(office: HandoverApi) -> None:
    wanted = [*await documents(office, 2), *await documents(office, 1, status="completed")]
    wanted.append(await office.document(a_pdf("failed before"), archive_status="failed"))
    await office.document(a_pdf("there"), archive_status="archived")
    await office.document(a_pdf("on its way"), archive_status="pending", archive_job_id="x")
    await office.document(b"text", media_type="text/plain")
    await office.document(a_pdf("unread"), status="failed")

    assert await work(office).count() == 4
    assert await carried_out(office) == BackfillProgress(total=4, handed_over=4)
    assert {status for status, *_ in map(office.document_status, wanted)} == {"pending"}
    assert sorted(office.rows("bilko_document_id")) == sorted(wanted)


async def test_whoever_is_interrupted_goes_on_where_it_ended(office: HandoverApi) -> None:
    await documents(office, 5)
    async for filled in work(office).run():
        if filled.handed_over == 2:
            break

    assert await carried_out(office) == BackfillProgress(total=3, handed_over=3)
    assert await work(office).count() == 0


async def test_only_what_was_chosen(office: HandoverApi) -> None:
    [old, new] = await documents(office, 2)
    office.seed.execute("UPDATE documents SET created_at = now() - interval '10 days' WHERE id = %s", old)
    other_kb = office.seed.knowledge_base(office.owner, "Another")

    assert await work(office, BackfillFilter(since=now() - timedelta(days=1))).count() == 1
    assert await work(office, BackfillFilter(kb_ids=[other_kb])).count() == 0
    assert (await carried_out(office, BackfillFilter([office.kb_id], now() - timedelta(days=1)))).handed_over == 1
    assert office.document_status(new)[0] == "pending"
    assert office.document_status(old)[0] is None


async def test_a_queue_that_is_down_is_not_asked_for_ever(office: HandoverApi) -> None:
    await documents(office, 5)
    office.queue.is_down = True

    assert await carried_out(office) == BackfillProgress(total=5, failed=3, is_interrupted=True)
    office.queue.is_down = False
    assert (await carried_out(office)).handed_over == 5


async def test_the_command_counts_and_changes_nothing_when_it_is_only_to_look(office: HandoverApi) -> None:
    await documents(office, 2)

    assert await run_backfill(
        office.api.settings, BackfillFilter(), dry_run=True, show_progress=False
    ) == BackfillProgress(total=2)
    assert await office.jobs() == []
    assert (
        await run_backfill(office.api.settings, BackfillFilter(), dry_run=False, show_progress=False)
    ).handed_over == 2
    assert len(await office.jobs()) == 4


def test_a_queue_that_was_there_does_not_come_back_empty(settings: Settings) -> None:
    build_handover_stores(settings)
    folder = settings.server.data_dir / "archive-queue"
    folder.rename(settings.server.data_dir / "elsewhere")

    with pytest.raises(QueueFolderMissing, match="backup"):
        build_handover_stores(settings)


@pytest.mark.parametrize("bucket", ["bilko-archive-queue", "bilko-archive-dlq"])
def test_originals_and_queue_do_not_share_a_bucket(settings: Settings, bucket: str) -> None:
    shared = settings.model_copy(update={"s3": S3Settings(bucket=bucket)})

    with pytest.raises(SettingsError, match="separate buckets"):
        build_handover_stores(shared)


def test_the_archiver_may_have_keys_of_its_own_and_the_api_needs_none(settings: Settings) -> None:
    own = ArchiverSettings(s3_endpoint="http://127.0.0.1:1", s3_access_key_id="a", s3_secret_access_key=SecretStr("b"))
    elsewhere = settings.model_copy(update={"archiver": own})

    assert build_handover_stores(elsewhere).queue.name == "folder"
    assert build_archiver_stores(elsewhere).queue.name == "s3"
    assert build_archiver_stores(settings).queue.name == "folder"
