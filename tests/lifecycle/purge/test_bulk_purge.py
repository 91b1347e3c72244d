"""`POST …/documents/bulk-purge`: documents are purged separately and proven together, with ten calls a minute."""

import asyncio
from collections.abc import Sequence
from datetime import timedelta
from uuid import UUID, uuid4

import httpx
import pytest

from muniment.accounts.repository import RateLimitRepository
from muniment.lifecycle.observability import OperationStatus
from muniment.settings import Settings
from tests.lifecycle.purge.harness import PurgeHarness, open_harness
from tests.lifecycle.test_observability import timed
from tests.support.jobs import wait_until
from tests.support.log_lines import capture_logs
from tests.support.seed import Person

WAITING = """SELECT EXISTS (SELECT FROM pg_stat_activity
                             WHERE wait_event_type = 'Lock' AND datname = current_database())"""


async def bulk(
    purge_env: PurgeHarness, ids: Sequence[UUID | str], client: httpx.AsyncClient | None = None
) -> httpx.Response:
    body = {"document_ids": [str(one) for one in ids]}
    return await (client or purge_env.client).post(f"{purge_env.kb_path}/documents/bulk-purge", json=body)


def seeded(purge_env: PurgeHarness, status: str = "archived", **columns: object) -> UUID:
    """Add a document without objects: these tests are about which documents are purged."""
    name = f"{uuid4()}.pdf"
    return purge_env.worker_env.seed.document(
        purge_env.worker_env.kb_id, purge_env.worker_env.owner, name=name, status=status, **columns
    )


async def test_archived_ones_are_purged_and_all_others_skipped_and_listed(purge_env: PurgeHarness) -> None:
    gone = [await purge_env.archived(), await purge_env.archived()]
    stranger = purge_env.worker_env.seed.person()
    foreign = purge_env.worker_env.seed.document(
        purge_env.worker_env.seed.knowledge_base(stranger), stranger, status="archived"
    )
    neighbour_kb = purge_env.worker_env.seed.knowledge_base(purge_env.worker_env.owner)
    neighbour = purge_env.worker_env.seed.document(neighbour_kb, purge_env.worker_env.owner, status="archived")
    skipped = [
        seeded(purge_env, "completed"),
        seeded(purge_env, "failed"),
        seeded(purge_env, archive_status="pending"),
        uuid4(),
        foreign,
        neighbour,
    ]
    answer = await bulk(purge_env, [gone[0], *skipped, gone[1], gone[0]])
    assert (answer.status_code, answer.json()) == (
        200,
        {
            "purged": 2,
            "skipped": 6,
            "skipped_ids": [str(one) for one in skipped],
            "pending_ids": [],
            "failed_ids": [],
            "message": "2 documents purged, 6 skipped (not archived)",
        },
    )
    assert await purge_env.left(*gone) == {}
    assert purge_env.worker_env.seed.one("SELECT count(*) FROM receipts WHERE signed_at IS NOT NULL") == 2
    assert {purge_env.worker_env.status(one) for one in (foreign, neighbour)} == {"archived"}


async def test_the_same_again_gives_the_same_answer(purge_env: PurgeHarness) -> None:
    ids = [seeded(purge_env), seeded(purge_env)]
    first = await bulk(purge_env, ids)
    assert first.json()["message"] == "2 documents purged"
    assert (await bulk(purge_env, ids)).json() == first.json()
    assert purge_env.worker_env.seed.one("SELECT count(*) FROM audit_events WHERE action = 'document_purged'") == 2


@pytest.mark.parametrize("number", [0, 101])
async def test_one_to_a_hundred_ids_are_taken(purge_env: PurgeHarness, number: int) -> None:
    assert (await bulk(purge_env, [uuid4() for _ in range(number)])).status_code == 422
    assert (await bulk(purge_env, ["no-uuid"])).status_code == 422


async def test_a_store_that_does_not_delete_leaves_them_pending(purge_env: PurgeHarness) -> None:
    gone, stays = await purge_env.archived(), seeded(purge_env, "completed")
    purge_env.objects.is_unavailable = True
    answer = (await bulk(purge_env, [gone, stays])).json()
    assert (answer["purged"], answer["pending_ids"], answer["skipped_ids"]) == (0, [str(gone)], [str(stays)])
    assert answer["message"] == "0 documents purged, 1 skipped (not archived), 1 pending"


REFUSE = """
    CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN IF OLD.id = '{id}' THEN RAISE 'not this one' USING ERRCODE = '{code}'; END IF; RETURN OLD; END $$;
    CREATE TRIGGER refuse BEFORE DELETE ON documents FOR EACH ROW EXECUTE FUNCTION refuse();
"""


async def test_each_document_has_its_line_and_its_duration(
    purge_env: PurgeHarness, capsys: pytest.CaptureFixture[str]
) -> None:
    gone, stays, breaks = seeded(purge_env), seeded(purge_env, "completed"), seeded(purge_env)
    purge_env.worker_env.seed.execute(REFUSE.format(id=breaks, code="P0001"))
    before = {status: timed("purge", status) for status in OperationStatus}
    with capture_logs(capsys) as read:
        await bulk(purge_env, [gone, stays, breaks])
        lines = [line for line in read() if line["event"] == "lifecycle.operation"]
    each = {line["document_id"]: line for line in lines if line["operation"] == "purge"}
    statuses = {document_id: line["status"] for document_id, line in each.items()}
    assert statuses == {str(gone): "success", str(stays): "refused", str(breaks): "error"}
    assert all(line["duration_ms"] > 0 for line in each.values())
    assert [line["status"] for line in lines if line["operation"] == "bulk_purge"] == ["success"]
    for status in (OperationStatus.SUCCESS, OperationStatus.REFUSED, OperationStatus.ERROR):
        assert timed("purge", status) == before[status] + 1


@pytest.mark.parametrize("code", ["P0001", "40001"], ids=["an error of its own", "one that may be tried again"])
async def test_one_failure_stops_nobody_else(purge_env: PurgeHarness, code: str) -> None:
    ids = [seeded(purge_env) for _ in range(3)]
    purge_env.worker_env.seed.execute(REFUSE.format(id=ids[1], code=code))
    answer = (await bulk(purge_env, ids)).json()
    assert (answer["purged"], answer["failed_ids"]) == (2, [str(ids[1])])
    assert answer["message"] == "2 documents purged, 1 failed"
    assert purge_env.worker_env.status(ids[1]) == "archived"
    purge_env.worker_env.seed.execute("DROP TRIGGER refuse ON documents")
    assert (await bulk(purge_env, ids)).json()["purged"] == 3


async def test_owner_and_admin_may_others_may_not(purge_env: PurgeHarness) -> None:
    seed, owner, document_id = purge_env.worker_env.seed, purge_env.worker_env.owner, seeded(purge_env)
    editor = seed.person(owner.organization_id)
    seed.member(purge_env.worker_env.kb_id, editor, "editor")
    people: list[tuple[Person, int]] = [
        (editor, 403),
        (seed.person(owner.organization_id), 404),
        (seed.person(is_admin=True), 404),
        (seed.person(owner.organization_id, is_admin=True), 200),
    ]
    for person, status in people:
        async with purge_env.client_of(person) as client:
            assert (await bulk(purge_env, [document_id], client)).status_code == status


async def test_the_eleventh_call_in_a_minute_waits_whichever_process_is_asked(
    purge_env: PurgeHarness, settings: Settings
) -> None:
    other = purge_env.worker_env.seed.person(purge_env.worker_env.owner.organization_id, is_admin=True)
    async with open_harness(purge_env.worker_env, settings) as second:  # on the same database
        assert (await bulk(second, [])).status_code == 422  # an invalid request does not count
        for number in range(10):
            assert (await bulk(second if number % 2 else purge_env, [uuid4()])).status_code == 200
        refused = await bulk(second, [uuid4()])
        assert refused.status_code == 429
        assert 1 <= int(refused.headers["retry-after"]) <= 60
        async with purge_env.client_of(other) as client:  # the limit is per user
            assert (await bulk(purge_env, [uuid4()], client)).status_code == 200
        purge_env.worker_env.seed.execute("UPDATE request_times SET times[1] = times[1] - interval '1 minute'")
        assert (await bulk(purge_env, [uuid4()])).status_code == 200  # the first of the ten was a minute ago
        assert (await bulk(purge_env, [uuid4()])).status_code == 429


async def test_who_asks_while_another_call_is_being_counted_waits_for_it(purge_env: PurgeHarness) -> None:
    """Otherwise both would be the tenth."""
    database, caller = purge_env.stores.database, purge_env.worker_env.owner.principal
    for _ in range(9):
        assert (await bulk(purge_env, [uuid4()])).status_code == 200

    async def ask() -> int:
        async with database.work(caller) as work:
            return await RateLimitRepository(work.session).acquire("bulk_purge", limit=10, window=timedelta(minutes=1))

    async with database.work(caller) as work:
        assert await RateLimitRepository(work.session).acquire("bulk_purge", limit=10, window=timedelta(minutes=1)) == 0
        second = asyncio.create_task(ask())
        await wait_until(lambda: bool(purge_env.worker_env.seed.one(WAITING)))
    assert await second > 0


async def test_of_many_calls_at_once_ten_are_admitted(purge_env: PurgeHarness) -> None:
    answers = await asyncio.gather(*(bulk(purge_env, [uuid4()]) for _ in range(14)))
    assert sorted(answer.status_code for answer in answers) == [200] * 10 + [429] * 4
