"""Statistics: the queue for operators, savings by sharing for admins."""

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest

from muniment.storage.db.base import new_id
from tests.support.live_api import RunningApi
from tests.support.seed import Person, Seed

QUEUE, SAVINGS = "/api/v1/processing/queue", "/api/v1/artifacts/savings"


def a_run(seed: Seed, owner: Person, document_id: UUID, **columns: Any) -> None:
    seed.insert(
        "document_processing_runs",
        **{
            "run_id": new_id(),
            "document_id": document_id,
            "organization_id": owner.organization_id,
            "user_id": owner.id,
            "epoch": seed.one("SELECT count(*) FROM document_processing_runs"),
            "revision": 1,
            **columns,
        },
    )


@pytest.fixture
def owner(seed: Seed) -> Person:
    return seed.person()


@pytest.fixture
def document_id(seed: Seed, owner: Person) -> UUID:
    return seed.document(seed.knowledge_base(owner), owner)


async def test_the_queue_is_counted_hour_by_hour_over_all_organizations(
    api: RunningApi, seed: Seed, owner: Person, document_id: UUID
) -> None:
    this_hour = datetime.now(UTC).replace(minute=0, second=0, microsecond=0)
    long_ago, yesterday = this_hour - timedelta(hours=24), this_hour - timedelta(hours=23)
    for status in ("queued", "queued", "in_progress"):
        a_run(seed, owner, document_id, status=status)
    for status, ended_at in (
        ("completed", this_hour),
        ("completed", yesterday),
        ("failed", yesterday + timedelta(minutes=59)),
        ("completed", long_ago + timedelta(minutes=59)),
    ):
        a_run(seed, owner, document_id, status=status, ended_at=ended_at)
    async with api.client(seed.person(is_operator=True)) as client:
        answer = await client.get(QUEUE)
    body = answer.json()
    hours = {datetime.fromisoformat(hour["hour"]): (hour["done"], hour["failed"]) for hour in body["hours"]}
    assert list(hours) == [yesterday + timedelta(hours=number) for number in range(24)]
    assert {hour: counts for hour, counts in hours.items() if any(counts)} == {this_hour: (1, 0), yesterday: (1, 1)}
    assert {name: value for name, value in body.items() if name != "hours"} == {
        "waiting": 2,
        "running": 1,
        "done_last_day": 2,
        "failed_last_day": 1,
        "embedding": {"passages": 0, "oldest_seconds": 0, "error": None},
    }


async def test_an_empty_queue_has_its_zeros(api: RunningApi, seed: Seed) -> None:
    async with api.client(seed.person(is_operator=True)) as client:
        body = (await client.get(QUEUE)).json()
    assert (body["waiting"], body["running"], len(body["hours"])) == (0, 0, 24)


async def test_the_queue_is_for_operators_and_the_savings_are_for_admins(api: RunningApi, seed: Seed) -> None:
    refused = {QUEUE: seed.person(is_admin=True), SAVINGS: seed.person(is_operator=True)}
    for path, person in refused.items():
        for other in (person, seed.person()):
            async with api.client(other) as client:
                answer = await client.get(path)
            assert (answer.status_code, answer.json()) == (403, {"detail": "Permission denied"})


async def test_what_was_spared_is_summed_over_the_admins_organization_alone(
    api: RunningApi, seed: Seed, owner: Person, document_id: UUID
) -> None:
    admin, other = seed.person(owner.organization_id, is_admin=True), seed.person(is_admin=True)
    second_id = seed.document(seed.knowledge_base(owner), owner)
    foreign_id = seed.document(seed.knowledge_base(other), other)
    first = datetime.now(UTC) - timedelta(days=3)
    a_run(seed, owner, document_id, saved_seconds=None, created_at=first - timedelta(days=1))
    a_run(seed, owner, document_id, saved_seconds=1.5, created_at=first)
    a_run(seed, owner, document_id, saved_seconds=2.5)
    a_run(seed, owner, second_id, saved_seconds=4.0)
    a_run(seed, other, foreign_id, saved_seconds=100.0, created_at=first - timedelta(days=2))
    async with api.client(admin) as client:
        body = (await client.get(SAVINGS)).json()
    assert datetime.fromisoformat(body.pop("since")) == first
    assert body == {"documents": 2, "seconds_saved": 8.0}


async def test_before_anything_was_spared_there_is_no_beginning(api: RunningApi, seed: Seed) -> None:
    async with api.client(seed.person(is_admin=True)) as client:
        assert (await client.get(SAVINGS)).json() == {"documents": 0, "seconds_saved": 0.0, "since": None}
