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

from muniment.audit.receipts.tables import Receipt
from muniment.errors import Unavailable
from muniment.lifecycle.proof.deletion import indexed
from muniment.storage.db.principal import Service
from muniment.storage.db.work import Database, Work
from muniment.storage.deletions.tables import NEVER_KEPT
from muniment.storage.objects.port import BlobNotFound, Blobs
from muniment.storage.tasks.port import Tasks
from muniment.storage.vectors.port import VectorIndex

LOOKS_AT_ONCE = 8


ARTIFACTS, BLOBS, INDEX, JOBS, QUEUE, ROWS = "artifacts", "blobs", "index", "jobs", "queue", "rows"


_ROWS = text("""
    SELECT id, (SELECT count(*) FROM documents d WHERE d.id = gone.id)
             + (SELECT count(*) FROM document_revisions d WHERE d.document_id = gone.id)
             + (SELECT count(*) FROM document_pages d WHERE d.document_id = gone.id)
             + (SELECT count(*) FROM document_paragraphs d WHERE d.document_id = gone.id)
             + (SELECT count(*) FROM document_diagrams d WHERE d.document_id = gone.id)
             + (SELECT count(*) FROM document_processing_runs d WHERE d.document_id = gone.id)
      FROM unnest(CAST(:ids AS uuid[])) AS gone (id)
""")


_LINES = text(f"""
    SELECT document_id,
           count(*) FILTER (WHERE store = 'blobs' AND done_at IS NULL AND reason <> '{NEVER_KEPT}'),
           count(*) FILTER (WHERE store = 'artifacts' AND done_at IS NULL),
           coalesce(array_agg(DISTINCT target) FILTER (WHERE store = 'blobs'), '{{}}'),
           coalesce(array_agg(DISTINCT split_part(target, '/', 3)) FILTER (WHERE store = 'artifacts'), '{{}}'),
           count(*) FILTER (WHERE store IN ('queue', 'dead_letters') AND done_at IS NULL),
           coalesce(array_agg(DISTINCT target) FILTER (WHERE store = 'queue' AND outcome = 'erased'), '{{}}')
      FROM deletions WHERE document_id = ANY (CAST(:ids AS uuid[])) GROUP BY document_id
""")  # noqa: S608  # our own constant


_TEXTS = text("""
    SELECT content_hmac, id, app_artifact_is_used(id) FROM artifacts_full_text WHERE content_hmac = ANY (:keys)
""")


_PASSAGES = text("""
    SELECT artifact_text_id, count(*) FROM artifact_chunks
     WHERE artifact_text_id = ANY (CAST(:ids AS uuid[])) GROUP BY artifact_text_id
""")


@dataclass
class Look:
    """At one document's traces."""

    rows: int = 0
    blob_lines: int = 0
    """Of the ledger that are not carried out."""
    artifact_lines: int = 0
    queue_lines: int = 0
    erased_jobs: Sequence[str] = ()
    """That were seen to be gone from the archive queue; whoever hands over the same bytes later has another job."""
    keys: Sequence[str] = ()
    """Under which the object store held something of it."""
    content_keys: Sequence[str] = ()
    unused_texts: list[UUID] = field(default_factory=list)
    unused_content_keys: set[str] = field(default_factory=set)
    used_texts: list[UUID] = field(default_factory=list)
    """Kept on purpose: another document shows them."""
    passages: int = 0
    jobs: int = 0
    objects: Sequence[str] | None = None
    """Keys that are still there; `None` when the store did not answer."""
    points: int | None = None
    """In an index of another engine; `None` when it did not answer."""

    @property
    def left(self) -> Mapping[str, int]:
        """How many things are still in each store. One that did not answer has something, as far as we know."""
        return {
            ROWS: self.rows,
            BLOBS: self.blob_lines + (1 if self.objects is None else len(self.objects)),
            ARTIFACTS: self.artifact_lines + len(self.unused_texts) + self.passages,
            INDEX: 1 if self.points is None else self.points,
            JOBS: self.jobs,
            QUEUE: self.queue_lines,
        }


@dataclass(frozen=True)
class SecondLook:
    database: Database
    blobs: Blobs
    index: VectorIndex
    tasks: Tasks

    async def look(self, organization_id: UUID, receipts: Sequence[Receipt]) -> Mapping[UUID, Look]:
        """By document. Whoever calls holds the documents' locks: nothing can appear after it was looked for."""
        looks = {receipt.document_id: Look() for receipt in receipts}
        async with self.database.service_work(Service(organization_id), lasting=False) as work:
            await _look_at_rows(work, looks)
            await _look_at_artifacts(work, looks, receipts)
            await self._look_at_jobs(work, looks, receipts)
        turns = asyncio.Semaphore(LOOKS_AT_ONCE)
        await asyncio.gather(*(self._look_outside(looks[one.document_id], one, turns) for one in receipts))
        return looks

    async def _look_at_jobs(self, work: Work[Service], looks: Mapping[UUID, Look], receipts: Sequence[Receipt]) -> None:
        known = set(await self.tasks.list_known(work, [job for one in receipts for job in one.found["jobs"]]))
        for receipt in receipts:
            looks[receipt.document_id].jobs = len(known.intersection(receipt.found["jobs"]))

    async def _look_outside(self, look: Look, receipt: Receipt, turns: asyncio.Semaphore) -> None:
        async with turns:
            with suppress(Unavailable):
                look.objects = await self._objects(look, receipt)
            with suppress(Unavailable):
                # An index inside PostgreSQL holds no copies: its passages are those of the artifacts.
                look.points = await self.index.count(indexed(receipt)) if self.index.holds_copies else 0

    async def _objects(self, look: Look, receipt: Receipt) -> Sequence[str]:
        """By the names that we know, and by everything that bears the document's name."""
        known = {key for key in look.keys if await self._is_there(key)}
        named = {info.key async for info in self.blobs.list(f"{receipt.kb_id}/{receipt.document_id}/")}
        return sorted(known | named)

    async def _is_there(self, key: str) -> bool:
        try:
            await self.blobs.size_bytes(key)
        except (BlobNotFound, ValueError):  # the second: no store could hold such a key
            return False
        return True


async def _look_at_rows(work: Work[Service], looks: Mapping[UUID, Look]) -> None:
    ids = {"ids": list(looks)}
    for document_id, count in await work.session.execute(_ROWS, ids):
        looks[document_id].rows = count
    for document_id, blob_lines, artifact_lines, keys, content_keys, *queue in await work.session.execute(_LINES, ids):
        look = looks[document_id]
        look.blob_lines, look.artifact_lines = blob_lines, artifact_lines
        look.keys, look.content_keys = keys, content_keys
        look.queue_lines, look.erased_jobs = queue


async def _look_at_artifacts(work: Work[Service], looks: Mapping[UUID, Look], receipts: Sequence[Receipt]) -> None:
    texts = await _texts(work, {key for look in looks.values() for key in look.content_keys})
    for look in looks.values():
        for key in look.content_keys:
            for text_id, is_used in texts[key]:
                (look.used_texts if is_used else look.unused_texts).append(text_id)
                if not is_used:
                    look.unused_content_keys.add(key)
    of_texts = {one.document_id: [UUID(artifact["id"]) for artifact in one.found["artifacts"]] for one in receipts}
    passages = await _passages(work, {text_id for ids in of_texts.values() for text_id in ids})
    for document_id, look in looks.items():
        gone = set(of_texts[document_id]) - set(look.used_texts)
        look.passages = sum(passages.get(text_id, 0) for text_id in gone)


async def _texts(work: Work[Service], content_keys: set[str]) -> Mapping[str, Sequence[tuple[UUID, bool]]]:
    found: dict[str, list[tuple[UUID, bool]]] = defaultdict(list)
    for content_key, text_id, is_used in await work.session.execute(_TEXTS, {"keys": list(content_keys)}):
        found[content_key].append((text_id, is_used))
    return found


async def _passages(work: Work[Service], text_ids: set[UUID]) -> Mapping[Any, int]:
    return {row[0]: row[1] for row in await work.session.execute(_PASSAGES, {"ids": list(text_ids)})}


SHOWN_BY_OTHERS = "Another document has the same contents and shows what was read from them"


ON_ITS_WAY = "These bytes are on their way to the archive, for another document or because the archiver had begun"


IN_THE_ARCHIVE = "It was handed over to the archive before, where it is kept as long as it must be"


def kept_of(receipt: Receipt, look: Look) -> Sequence[dict[str, Any]]:
    artifacts = [
        {"store": "artifacts", "id": str(text_id), "reason": SHOWN_BY_OTHERS} for text_id in sorted(look.used_texts)
    ]
    return [*artifacts, *_in_the_archive(receipt, look)]


def _in_the_archive(receipt: Receipt, look: Look) -> Iterator[dict[str, Any]]:
    hand_over = receipt.found.get("hand_over") or {}
    copies = hand_over.get("copies") or [hand_over]
    for copy in copies:
        if copy.get("status") == "archived":
            yield {"store": "paperless", "url": copy.get("url"), "reason": IN_THE_ARCHIVE}
        elif copy.get("key") and copy["status"] == "pending" and copy["key"] not in look.erased_jobs:
            yield {"store": "queue", "key": copy["key"], "reason": ON_ITS_WAY}
