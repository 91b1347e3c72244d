"""Uploads whose name is taken (docs/contracts.md#duplicates, docs/design.md#names)."""

import asyncio

import psycopg
import pytest

from muniment.storage.db.address import DatabaseAddress
from tests.documents.uploads import KB, stored_keys, temporary_files, until
from tests.support.live_api import RunningApi
from tests.support.seed import Seed

EXISTS = "A document with this name already exists"
ARCHIVED = "An archived document with this name exists"


def duplicate_of(document_id: object, status: str, message: str = EXISTS) -> dict[str, str]:
    return {
        "error": "duplicate_document",
        "existing_document_id": str(document_id),
        "existing_status": status,
        "message": message,
    }


@pytest.mark.parametrize(
    ("status", "message"),
    [("pending", EXISTS), ("processing", EXISTS), ("completed", EXISTS), ("archived", ARCHIVED)],
)
async def test_namesake_is_named_with_its_status(
    api: RunningApi, kb: KB, seed: Seed, status: str, message: str
) -> None:
    existing = seed.document(kb.id, kb.owner, name="Report.PDF", status=status)

    answer = await kb.upload(name="rePORT.pdf")

    assert (answer.status_code, answer.json()) == (409, duplicate_of(existing, status, message))
    assert seed.rows("SELECT id FROM documents") == [(existing,)]
    assert seed.one("SELECT count(*) FROM uploads") == 0
    assert await stored_keys(api) == []
    assert seed.one("SELECT count(*) FROM audit_events") == 0


@pytest.mark.parametrize("name", ["my report.pdf.", "my\u00a0 report.pdf", "my re\u200bport.pdf", "ｍｙ report.pdf"])
async def test_name_that_looks_the_same_is_a_duplicate(kb: KB, seed: Seed, name: str) -> None:
    existing = seed.document(kb.id, kb.owner, name="My report.pdf")

    answer = await kb.upload(name=name)

    assert (answer.status_code, answer.json()) == (409, duplicate_of(existing, "completed"))


async def test_failed_namesake_that_once_completed_is_in_the_way(kb: KB, seed: Seed) -> None:
    existing = seed.document(kb.id, kb.owner, name="report.pdf", status="failed", completed_at="2026-01-01T00:00Z")

    answer = await kb.upload()

    assert (answer.status_code, answer.json()) == (409, duplicate_of(existing, "failed"))
    assert seed.rows("SELECT id FROM documents") == [(existing,)]


async def test_active_namesake_is_named_before_an_archived_one(kb: KB, seed: Seed) -> None:
    seed.document(kb.id, kb.owner, name="report.pdf", status="archived")
    active = seed.document(kb.id, kb.owner, name="report.pdf", status="completed")

    answer = await kb.upload()

    assert (answer.status_code, answer.json()) == (409, duplicate_of(active, "completed"))


async def test_archived_namesake_is_named_before_a_failed_one(kb: KB, seed: Seed) -> None:
    seed.document(kb.id, kb.owner, name="report.pdf", status="failed", completed_at="2026-01-01T00:00Z")
    archived = seed.document(kb.id, kb.owner, name="report.pdf", status="archived")

    assert (await kb.upload()).json() == duplicate_of(archived, "archived", ARCHIVED)


@pytest.mark.parametrize(
    ("first", "second"),
    [("caf\u00e9.pdf", "cafe\u0301.pdf"), ("STRASSE.pdf", "straße.pdf"), ("ΣΊΣΥΦΟΣ.pdf", "σίσυφος.pdf")],
)
async def test_names_that_a_person_takes_for_the_same_are_the_same(kb: KB, first: str, second: str) -> None:
    document_id = (await kb.upload(name=first)).json()["id"]

    answer = await kb.upload(name=second)

    assert (answer.status_code, answer.json()) == (409, duplicate_of(document_id, "pending"))


async def test_same_name_and_bytes_in_another_knowledge_base_are_fine(kb: KB, seed: Seed) -> None:
    other = KB(seed.knowledge_base(kb.owner), kb.owner, kb.client)

    assert [(await one.upload()).status_code for one in (kb, other)] == [201, 201]


async def test_of_twenty_uploads_at_once_exactly_one_is_accepted(api: RunningApi, kb: KB, seed: Seed) -> None:
    answers = await asyncio.gather(*(kb.upload() for _ in range(20)))

    [accepted] = [answer.json() for answer in answers if answer.status_code == 201]
    refused = [answer for answer in answers if answer.status_code == 409]
    assert len(refused) == 19
    assert all(answer.json() == duplicate_of(accepted["id"], "pending") for answer in refused)
    assert await stored_keys(api) == [f"{kb.id}/{accepted['id']}/1/original"]
    assert temporary_files(api) == []
    assert seed.one("SELECT count(*) FROM documents") == 1
    assert seed.one("SELECT count(*) FROM uploads") == 0
    assert seed.one("SELECT count(*) FROM procrastinate_jobs") == 1


async def test_namesake_that_is_archived_at_the_same_moment_is_in_the_way(
    address: DatabaseAddress, kb: KB, seed: Seed
) -> None:
    existing = seed.document(kb.id, kb.owner, name="report.pdf", status="completed")
    with psycopg.connect(address.conninfo) as archiving:
        archiving.execute("UPDATE documents SET status = 'archived', archived_at = now()")
        uploading = asyncio.create_task(kb.upload())
        await until_somebody_waits(seed)
        archiving.commit()
        answer = await uploading

    assert (answer.status_code, answer.json()) == (409, duplicate_of(existing, "archived", ARCHIVED))
    assert seed.rows("SELECT id FROM documents") == [(existing,)]


async def test_namesake_that_fails_at_the_same_moment_makes_way(address: DatabaseAddress, kb: KB, seed: Seed) -> None:
    existing = seed.document(kb.id, kb.owner, name="report.pdf", status="processing")
    with psycopg.connect(address.conninfo) as failing:
        failing.execute("UPDATE documents SET status = 'failed'")
        uploading = asyncio.create_task(kb.upload())
        await until_somebody_waits(seed)
        failing.commit()
        answer = await uploading

    assert (answer.status_code, answer.json()["auto_cleared_document_id"]) == (201, str(existing))
    assert seed.one("SELECT count(*) FROM documents") == 1


async def test_failed_namesake_that_is_retried_at_the_same_moment_is_in_the_way(
    address: DatabaseAddress, kb: KB, seed: Seed
) -> None:
    existing = seed.document(kb.id, kb.owner, name="report.pdf", status="failed")
    with psycopg.connect(address.conninfo) as retrying:
        retrying.execute("SELECT FROM documents FOR NO KEY UPDATE")
        uploading = asyncio.create_task(kb.upload())
        await until_somebody_waits(seed)
        retrying.execute("UPDATE documents SET status = 'pending'")
        retrying.commit()
        answer = await uploading

    assert (answer.status_code, answer.json()) == (409, duplicate_of(existing, "pending"))


async def until_somebody_waits(seed: Seed) -> None:
    async def is_waiting() -> bool:
        return bool(
            seed.one(
                "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()"
            )
        )

    await until(is_waiting)
