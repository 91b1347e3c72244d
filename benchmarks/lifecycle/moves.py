"""Cost of lifecycle moves over HTTP, with few documents and with many, next to bare operations in the same run."""

import os
import random
from collections.abc import Awaitable, Iterable, Sequence
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any
from uuid import UUID, uuid4

import httpx
import psycopg
import uvloop

from benchmarks.lifecycle.dataset import DocumentPath, LifecycleDataset, open_lifecycle_dataset
from benchmarks.report import Report, in_ms, percentile
from muniment.documents.name_conflicts import require_name_available
from muniment.storage.db.principal import Principal
from muniment.storage.db.work import Work
from muniment.telemetry.logs import configure_logs

SIZES = (1_000, 100_000)
MOVED, CLEARED, REPLACED = 100, 60, 60
BULKS, BULK = 5, 100
"""The limit is ten a minute."""
WARMING = 3
SPENT = WARMING + MOVED + BULKS * BULK + CLEARED + REPLACED
"""Documents used up by one round of moves, in addition to the others."""
LISTED = 200
MOST_GROWTH = 1.5
UPDATE, EMPTY = "bare UPDATE", "empty endpoint"
"""With its COMMIT on a table of that size; and `GET /auth/me`, which only authenticates."""
WANTED_MS = {
    "archive": 20,
    "restore": 20,
    "purge": 100,
    f"bulk purge of {BULK}": 2000,
    "clear": 100,
    "replace by 1 MB": 80,
    "duplicate check of an upload": 5,
    "archive list, any page": 30,
}


@dataclass
class Timings:
    """Seconds of each measured operation, with this number of documents."""

    documents: int
    seconds: dict[str, list[float]] = field(default_factory=dict)

    async def time(self, what: str, action: Awaitable[Any]) -> Any:
        began = perf_counter()
        answer = await action
        self.seconds.setdefault(what, []).append(perf_counter() - began)
        return answer

    def p95(self, what: str) -> float:
        return percentile(sorted(self.seconds[what]), 0.95)

    def p50(self, what: str) -> float:
        return percentile(sorted(self.seconds[what]), 0.5)


def measure_lifecycle(report: Report, sizes: Sequence[int] = SIZES) -> None:
    configure_logs("json", "CRITICAL")  # otherwise the output is full of request logs
    few, many = uvloop.run(_measure(sizes))  # as the API does
    for timings in (few, many):
        for bare in (UPDATE, EMPTY):
            median = f"p50 {in_ms(timings.p50(bare))}"
            report.add(f"{timings.documents:,} documents: {bare}, p95", in_ms(timings.p95(bare)), median)
    for what, wanted in WANTED_MS.items():
        for timings in (few, many):
            name = f"{timings.documents:,} documents: {what}, p95"
            report.add(name, in_ms(timings.p95(what)), _against(timings, what), f"at most {wanted} ms")
        growth = f"{many.p95(what) / few.p95(what):.2f} × that of {few.documents:,}"
        median = f"p50 {many.p50(what) / few.p50(what):.2f} ×"
        report.add(f"growth of {what}", growth, median, f"at most {MOST_GROWTH} ×")


def _against(timings: Timings, what: str) -> str:
    """Report the median, too: on a busy machine the slowest calls depend on other processes."""
    bare = (f"{timings.p95(what) / timings.p95(thing):.1f} × {thing}" for thing in (UPDATE, EMPTY))
    return f"p50 {in_ms(timings.p50(what))}; {', '.join(bare)}"


async def _measure(sizes: Sequence[int]) -> Sequence[Timings]:
    measured: list[Timings] = []
    async with open_lifecycle_dataset() as dataset:
        for size in sizes:
            dataset.grow(size + SPENT * (len(measured) + 1))
            measured.append(await _measure_all(dataset, Timings(size)))
    return measured


async def _measure_all(dataset: LifecycleDataset, timings: Timings) -> Timings:
    # Warm up: the first calls open connections and plan statements.
    await _moves(dataset, Timings(0), await dataset.take(WARMING))
    await _measure_baseline(dataset, timings)
    await _moves(dataset, timings, await dataset.take(MOVED))
    await _bulk_purges(dataset, timings)
    await _clears(dataset, timings)
    await _replaces(dataset, timings)
    await _duplicate_checks(dataset, timings)
    await _lists(dataset, timings)
    await _measure_baseline(dataset, timings)
    return timings


async def _measure_baseline(dataset: LifecycleDataset, timings: Timings) -> None:
    documents = [row[0] for row in dataset.search.seed.rows("SELECT id FROM documents LIMIT %s", LISTED)]
    async with await psycopg.AsyncConnection.connect(dataset.search.address.conninfo, autocommit=True) as connection:
        for document_id in documents:
            update = "UPDATE documents SET updated_at = now() WHERE id = %s"
            await timings.time(UPDATE, connection.execute(update, [document_id]))
            await timings.time(EMPTY, dataset.client.get("/api/v1/auth/me"))


async def _moves(dataset: LifecycleDataset, timings: Timings, places: Iterable[DocumentPath]) -> None:
    for place in places:
        _done(await timings.time("archive", dataset.client.post(place.url("archive"))))
        _done(await timings.time("restore", dataset.client.post(place.url("restore"))))
        _done(await timings.time("archive", dataset.client.post(place.url("archive"))))
        _done(await timings.time("purge", dataset.client.delete(place.url("purge"))))


async def _bulk_purges(dataset: LifecycleDataset, timings: Timings) -> None:
    kb_id = dataset.corpus.kb_ids[0]
    for _ in range(BULKS):
        places = await dataset.take(BULK, kb_id)
        wanted = {"document_ids": [str(place.document_id) for place in places]}
        within = f"/api/v1/knowledge-bases/{kb_id}/documents"
        _done(await dataset.client.post(f"{within}/bulk-archive", json=wanted))
        answer = await timings.time(f"bulk purge of {BULK}", dataset.client.post(f"{within}/bulk-purge", json=wanted))
        assert _done(answer).json()["purged"] == BULK


async def _clears(dataset: LifecycleDataset, timings: Timings) -> None:
    places = await dataset.take(CLEARED)
    dataset.fail(places)
    for place in places:
        _done(await timings.time("clear", dataset.client.delete(place.url("clear"))))


async def _replaces(dataset: LifecycleDataset, timings: Timings) -> None:
    for place in await dataset.take(REPLACED):
        files = {"file": (f"{uuid4()}.txt", os.urandom(512 * 1024).hex().encode())}
        _done(await timings.time("replace by 1 MB", dataset.client.post(place.url("replace"), files=files)))


async def _duplicate_checks(dataset: LifecycleDataset, timings: Timings) -> None:
    """Measure the two lookups of an upload, inside its open transaction."""
    for kb_id in random.choices(dataset.corpus.kb_ids, k=LISTED):
        async with dataset.api.stores.database.work(dataset.search.artifacts_env.owner.principal) as work:
            await work.session.connection()
            await timings.time("duplicate check of an upload", _look_twice(work, kb_id))


async def _look_twice(work: Work[Principal], kb_id: UUID) -> None:
    for _ in range(2):
        await require_name_available(work, kb_id, f"{uuid4()}.pdf")


async def _lists(dataset: LifecycleDataset, timings: Timings) -> None:
    total = _done(await dataset.client.get("/api/v1/documents/archived")).json()["total"]
    for _ in range(LISTED):
        asked = {"page": random.randint(1, total // 20), "limit": 20}
        answer = await timings.time(
            "archive list, any page", dataset.client.get("/api/v1/documents/archived", params=asked)
        )
        assert len(_done(answer).json()["items"]) == 20


def _done(answer: httpx.Response) -> httpx.Response:
    """Accept only completed operations: 202 is not one."""
    assert answer.status_code == 200, answer.text
    return answer
