"""Verify that a purged document is gone: count again what each store holds, independently of the deletion.

Items that are retained on purpose are listed with the reason, for the receipt.
"""

import asyncio
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from sqlalchemy import text

from muniment.artifacts.deletion import UnreferencedArtifactRepository
from muniment.audit.receipts.tables import Receipt
from muniment.documents.handover_status import HandoverStatus
from muniment.errors import Unavailable
from muniment.lifecycle.proof.deletion import indexed_document_of
from muniment.storage.concurrency import limit_concurrency
from muniment.storage.db.principal import Service
from muniment.storage.db.work import Database, Work
from muniment.storage.deletions.ledger import LedgerRepository
from muniment.storage.objects.port import ObjectStore
from muniment.storage.tasks.port import TaskQueue
from muniment.storage.vectors.port import ExternalIndex

CONCURRENCY = 8


ARTIFACTS, OBJECTS, INDEX, JOBS, QUEUE, ROWS = "artifacts", "blobs", "index", "jobs", "queue", "rows"


# Functions of the features above, which know all tables with rows of a document or an artifact.
_ROW_COUNTS = text("SELECT document_id, row_count FROM count_document_rows(CAST(:ids AS uuid[]))")
_PASSAGES = text("SELECT artifact_text_id, passages FROM count_passages(CAST(:ids AS uuid[]))")


@dataclass
class Inventory:
    """What the stores still hold of one purged document."""

    rows: int = 0
    object_entries: int = 0
    """Ledger entries that are not done."""
    artifact_entries: int = 0
    queue_entries: int = 0
    deleted_jobs: Sequence[str] = ()
    """Jobs verified as deleted from the hand-over queue. A later hand-over of the same bytes is another job."""
    keys: Sequence[str] = ()
    """Keys under which the object store held something of it."""
    content_keys: Sequence[str] = ()
    unused_texts: list[UUID] = field(default_factory=list)
    unused_content_keys: set[str] = field(default_factory=set)
    used_texts: list[UUID] = field(default_factory=list)
    """Retained on purpose, because another document uses them."""
    passages: int = 0
    jobs: int = 0
    remaining_keys: Sequence[str] | None = None
    """Keys that still exist. None if the store did not respond."""
    points: int | None = None
    """Points in an external index. None if it did not respond."""

    @property
    def remaining(self) -> Mapping[str, int]:
        """Return how many items each store still holds. A store that did not respond counts as not empty."""
        return {
            ROWS: self.rows,
            OBJECTS: self.object_entries + (1 if self.remaining_keys is None else len(self.remaining_keys)),
            ARTIFACTS: self.artifact_entries + len(self.unused_texts) + self.passages,
            INDEX: 1 if self.points is None else self.points,
            JOBS: self.jobs,
            QUEUE: self.queue_entries,
        }


@dataclass(frozen=True)
class StoreInventory:
    """Counts what the stores hold of purged documents."""

    database: Database
    objects: ObjectStore
    external_index: ExternalIndex | None
    tasks: TaskQueue

    async def take(self, organization_id: UUID, receipts: Sequence[Receipt]) -> Mapping[UUID, Inventory]:
        """Return the inventory of each document. The caller holds their locks, so nothing appears after the count."""
        inventories = {receipt.document_id: Inventory() for receipt in receipts}
        async with self.database.service_work(Service(organization_id), durable=False) as work:
            await _count_rows(work, inventories)
            await _check_artifacts(work, inventories, receipts)
            await self._count_jobs(work, inventories, receipts)
        check = limit_concurrency(self._check_stores, CONCURRENCY)
        await asyncio.gather(*(check(inventories[receipt.document_id], receipt) for receipt in receipts))
        return inventories

    async def _count_jobs(
        self, work: Work[Service], inventories: Mapping[UUID, Inventory], receipts: Sequence[Receipt]
    ) -> None:
        # Receipts store the ids as numbers.
        job_ids = [str(job) for receipt in receipts for job in receipt.found["jobs"]]
        existing = set(await self.tasks.list_existing_jobs(work, job_ids))
        for receipt in receipts:
            inventories[receipt.document_id].jobs = len(existing.intersection(map(str, receipt.found["jobs"])))

    async def _check_stores(self, inventory: Inventory, receipt: Receipt) -> None:
        with suppress(Unavailable):
            inventory.remaining_keys = await self._list_remaining_keys(inventory, receipt)
        with suppress(Unavailable):
            inventory.points = await self._count_points(receipt)

    async def _count_points(self, receipt: Receipt) -> int:
        if self.external_index is None:  # the passages are those of the artifacts
            return 0
        return await self.external_index.count(indexed_document_of(receipt))

    async def _list_remaining_keys(self, inventory: Inventory, receipt: Receipt) -> Sequence[str]:
        """Return the known keys that still exist, and every key below the document's prefix."""
        known = {key for key in inventory.keys if await self._exists(key)}
        below_prefix = {info.key async for info in self.objects.list(f"{receipt.kb_id}/{receipt.document_id}/")}
        return sorted(known | below_prefix)

    async def _exists(self, key: str) -> bool:
        try:
            return await self.objects.exists(key)
        except ValueError:  # no store can hold such a key
            return False


async def _count_rows(work: Work[Service], inventories: Mapping[UUID, Inventory]) -> None:
    ids = {"ids": list(inventories)}
    for document_id, count in await work.session.execute(_ROW_COUNTS, ids):
        inventories[document_id].rows = count
    for entries in await LedgerRepository(work.session).summarize(list(inventories)):
        inventory = inventories[entries.document_id]
        inventory.object_entries, inventory.artifact_entries = entries.open_objects, entries.open_artifacts
        inventory.keys, inventory.content_keys = entries.object_keys, entries.content_keys
        inventory.queue_entries, inventory.deleted_jobs = entries.open_jobs, entries.deleted_jobs


async def _check_artifacts(
    work: Work[Service], inventories: Mapping[UUID, Inventory], receipts: Sequence[Receipt]
) -> None:
    texts = await _list_texts(work, {key for inventory in inventories.values() for key in inventory.content_keys})
    for inventory in inventories.values():
        for key in inventory.content_keys:
            for text_id, is_used in texts[key]:
                (inventory.used_texts if is_used else inventory.unused_texts).append(text_id)
                if not is_used:
                    inventory.unused_content_keys.add(key)
    text_ids = {
        receipt.document_id: [UUID(artifact["id"]) for artifact in receipt.found["artifacts"]] for receipt in receipts
    }
    passages = await _count_passages(work, {text_id for ids in text_ids.values() for text_id in ids})
    for document_id, inventory in inventories.items():
        unused = set(text_ids[document_id]) - set(inventory.used_texts)
        inventory.passages = sum(passages.get(text_id, 0) for text_id in unused)


async def _list_texts(work: Work[Service], content_keys: set[str]) -> Mapping[str, Sequence[tuple[UUID, bool]]]:
    found: dict[str, list[tuple[UUID, bool]]] = defaultdict(list)
    for content_key, text_id, is_used in await UnreferencedArtifactRepository(work.session).list_usage(content_keys):
        found[content_key].append((text_id, is_used))
    return found


async def _count_passages(work: Work[Service], text_ids: set[UUID]) -> Mapping[Any, int]:
    return {row[0]: row[1] for row in await work.session.execute(_PASSAGES, {"ids": list(text_ids)})}


SHARED_ARTIFACT = "Another document has the same content and uses these results"


HANDOVER_IN_PROGRESS = (
    "This file is being sent to Paperless, for another document or because sending had already started"
)


HANDED_OVER = "The document was sent to Paperless earlier and is kept there"


def retained_items(receipt: Receipt, inventory: Inventory) -> Sequence[dict[str, Any]]:
    """Return what is retained on purpose, each item with the reason that the receipt states."""
    artifacts = [
        {"store": "artifacts", "id": str(text_id), "reason": SHARED_ARTIFACT}
        for text_id in sorted(inventory.used_texts)
    ]
    return [*artifacts, *_retained_handovers(receipt, inventory)]


def _retained_handovers(receipt: Receipt, inventory: Inventory) -> Iterator[dict[str, Any]]:
    hand_over = receipt.found.get("hand_over") or {}
    copies = hand_over.get("copies") or [hand_over]
    for copy in copies:
        if copy.get("status") == HandoverStatus.ARCHIVED:
            yield {"store": "paperless", "url": copy.get("url"), "reason": HANDED_OVER}
        elif copy.get("key") and copy["status"] == HandoverStatus.PENDING and copy["key"] not in inventory.deleted_jobs:
            yield {"store": "queue", "key": copy["key"], "reason": HANDOVER_IN_PROGRESS}
