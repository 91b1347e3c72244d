"""Delete artifacts that no document and no run references: their queries, the ledger entries written when a document is
deleted, and the deleter that processes them.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple
from uuid import UUID

from sqlalchemy import ColumnElement, case, delete, func, select, update
from sqlalchemy.ext.asyncio import AsyncSession

from muniment.artifacts.tables import TextArtifact
from muniment.artifacts.text_packs import pack_key
from muniment.errors import MunimentError
from muniment.storage.db.principal import Service
from muniment.storage.db.work import Database, Work
from muniment.storage.deletions.deleters import DeletionResult
from muniment.storage.deletions.ledger import LedgerRepository, NewLedgerEntry
from muniment.storage.deletions.tables import LedgerEntry, LedgerStore
from muniment.storage.objects.port import ObjectStore
from muniment.telemetry.metrics import ARTIFACT_BYTES_FREED


@dataclass(frozen=True)
class UnreferencedArtifact:
    """An unreferenced artifact, the object of its text, and when it was first found unreferenced."""

    text_id: UUID
    pack_key: str
    marked_at: datetime | None


class MarkCounts(NamedTuple):
    """Numbers of artifacts newly marked as unreferenced, and of those referenced again."""

    marked: int
    unmarked: int


class UnreferencedArtifactRepository:
    """Finds, marks and deletes artifacts that nothing references."""

    def __init__(self, session: AsyncSession) -> None:
        self._session = session

    async def list_ids(self, organization_id: UUID | None, *, after: UUID | None, limit: int) -> Sequence[UUID]:
        """Return the next artifacts of this organization, or of those that all organizations share."""
        owned = select(TextArtifact.id).where(TextArtifact.organization_id.is_not_distinct_from(organization_id))
        following = owned.where(TextArtifact.id > after) if after else owned
        return (await self._session.scalars(following.order_by(TextArtifact.id).limit(limit))).all()

    async def list_unreferenced(self, ids: Sequence[UUID]) -> Sequence[UnreferencedArtifact]:
        """Return those of the artifacts that nothing references."""
        columns = (TextArtifact.id, TextArtifact.full_text_uri, TextArtifact.unreferenced_at)
        found = await self._session.execute(
            select(*columns).where(TextArtifact.id.in_(ids), ~_is_referenced()).order_by(TextArtifact.id)
        )
        return [UnreferencedArtifact(text_id, pack_key(uri), marked_at) for text_id, uri, marked_at in found]

    async def list_usage(self, content_keys: Iterable[str]) -> Sequence[tuple[str, UUID, bool]]:
        """Return each artifact of these contents as content key, id and whether something references it."""
        found = await self._session.execute(
            select(TextArtifact.content_hmac, TextArtifact.id, _is_referenced()).where(
                TextArtifact.content_hmac.in_(content_keys)
            )
        )
        return [(content_key, text_id, is_used) for content_key, text_id, is_used in found]

    async def update_marks(self, ids: Sequence[UUID], at: datetime) -> MarkCounts:
        """Mark unreferenced artifacts and unmark referenced ones; existing marks keep their time."""
        # The mark is not part of a key, so the row lock does not block transactions that find the artifact.
        changed = await self._session.scalars(
            update(TextArtifact)
            .where(TextArtifact.id.in_(ids), _is_referenced() == TextArtifact.unreferenced_at.is_not(None))
            .values(unreferenced_at=case((TextArtifact.unreferenced_at.is_(None), at)))
            .returning(TextArtifact.unreferenced_at)
            .execution_options(synchronize_session=False)
        )
        marks = changed.all()
        return MarkCounts(marked=sum(mark is not None for mark in marks), unmarked=marks.count(None))

    async def delete_if_unreferenced(self, text_id: UUID) -> str | None:
        """Delete the artifact with its parts unless it is referenced. Return the key of its pack, to be deleted next.

        The row is locked first and checked in a second statement: transactions that found it before
        (`ArtifactRepository.find`) have ended by then, and their references are visible. Later ones wait for this
        transaction and find nothing, so no foreign key is ever violated.
        """
        await self._session.execute(select(TextArtifact.id).where(TextArtifact.id == text_id).with_for_update())
        uri = await self._session.scalar(
            delete(TextArtifact)
            .where(TextArtifact.id == text_id, ~_is_referenced())
            .returning(TextArtifact.full_text_uri)
            .execution_options(synchronize_session=False)
        )
        return pack_key(uri) if uri else None

    async def delete_unreferenced_of_contents(
        self, content_keys: Sequence[str]
    ) -> tuple[dict[str, list[str]], set[str]]:
        """Delete the unreferenced artifacts of these contents, as `delete_if_unreferenced` does.

        Return the deleted packs by content key, and the content keys that still have artifacts.
        """
        of_contents = select(TextArtifact.id).where(TextArtifact.content_hmac.in_(content_keys))
        # Locked in a fixed order, so that concurrent deletions of the same artifacts cannot deadlock.
        locked = (await self._session.scalars(of_contents.order_by(TextArtifact.id).with_for_update())).all()
        deleted = await self._session.execute(
            delete(TextArtifact)
            .where(TextArtifact.id.in_(locked), ~_is_referenced())
            .returning(TextArtifact.content_hmac, TextArtifact.full_text_uri)
            .execution_options(synchronize_session=False)
        )
        packs: dict[str, list[str]] = {}
        for content_key, uri in deleted:
            packs.setdefault(content_key, []).append(pack_key(uri))
        remaining = select(TextArtifact.content_hmac).where(TextArtifact.content_hmac.in_(content_keys))
        return packs, set(await self._session.scalars(remaining))


def _is_referenced() -> ColumnElement[bool]:
    """Whether any organization references the artifact (definer function; row level security would hide some)."""
    used: ColumnElement[bool] = func.app_artifact_is_used(TextArtifact.id)
    return used


@dataclass(frozen=True)
class DeletedDocument:
    """The document that is being deleted."""

    organization_id: UUID
    kb_id: UUID
    document_id: UUID


def artifact_deletions(
    document: DeletedDocument, content_keys: Iterable[str], *, reason: str, not_before: datetime | None = None
) -> list[NewLedgerEntry]:
    """Return the ledger entries for the artifacts of a document that is being deleted, for all contents it ever had.

    They are found by content and not by reference: what an earlier or a failed run left must not outlive the document.
    """
    return [
        NewLedgerEntry(
            document.organization_id,
            document.kb_id,
            document.document_id,
            LedgerStore.ARTIFACTS,
            f"{document.kb_id}/{document.document_id}/{content_key}",
            reason,
            not_before,
        )
        for content_key in sorted(set(content_keys))
    ]


class ArtifactDeleter:
    """Processes ledger entries of artifacts. In the same transaction it writes entries for their packs."""

    def __init__(self, database: Database, objects: ObjectStore) -> None:
        self._database = database
        self._objects = objects

    async def delete(self, entry: LedgerEntry) -> DeletionResult:
        """Delete the artifacts of this content, except those that a document or a run still references."""
        return (await self.delete_batch([entry]))[0]

    async def delete_batch(self, entries: Sequence[LedgerEntry]) -> Sequence[DeletionResult]:
        """Delete the artifacts of these entries with a few statements, however many there are.

        The entries of their packs are written in the same transaction, so that a crash leaves both or neither.
        """
        keys = {entry.id: entry.target.rpartition("/")[2] for entry in entries}
        async with self._database.service_work(Service(entries[0].organization_id)) as work:
            artifacts = UnreferencedArtifactRepository(work.session)
            deleted_packs, remaining = await artifacts.delete_unreferenced_of_contents(list(keys.values()))
            packs = [(entry, pack) for entry in entries for pack in deleted_packs.pop(keys[entry.id], ())]
            packs += await _list_reserved_packs(work, entries)
            pack_entries = [_pack_deletion(entry.organization_id, pack, entry) for entry, pack in packs]
            pack_entry_ids = await LedgerRepository(work.session).add(pack_entries)
        for _, pack in packs:
            ARTIFACT_BYTES_FREED.inc(await pack_size_bytes(self._objects, pack))
        follow_up_ids = defaultdict(list)
        for (entry, _), pack_entry_id in zip(packs, pack_entry_ids, strict=True):
            follow_up_ids[entry.id].append(pack_entry_id)
        return [
            DeletionResult(was_retained=keys[entry.id] in remaining, follow_up_ids=follow_up_ids[entry.id])
            for entry in entries
        ]


async def _list_reserved_packs(work: Work[Service], entries: Sequence[LedgerEntry]) -> list[tuple[LedgerEntry, str]]:
    """Return the packs that runs of these documents reserved and never confirmed, each with the entry of its document.

    The reservation stays: a worker that does not know yet that its run has ended could still write the pack.
    """
    by_document = {entry.document_id: entry for entry in entries if entry.document_id is not None}
    reserved = await LedgerRepository(work.session).list_reservations(list(by_document))
    return [(by_document[document_id], pack) for document_id, pack in reserved]


async def add_pack_deletions(work: Work[Service], packs: Iterable[str]) -> list[UUID]:
    """Add ledger entries for the packs of deleted artifacts, in the transaction that deleted their rows."""
    organization_id = work.caller.organization_id
    assert organization_id is not None
    return await LedgerRepository(work.session).add(_pack_deletion(organization_id, pack) for pack in packs)


def _pack_deletion(organization_id: UUID, pack: str, cause: LedgerEntry | None = None) -> NewLedgerEntry:
    kb_id, document_id = (cause.kb_id, cause.document_id) if cause else (None, None)
    reason = cause.reason if cause else "artifact_unused"
    return NewLedgerEntry(organization_id, kb_id, document_id, LedgerStore.OBJECTS, pack, reason)


async def pack_size_bytes(objects: ObjectStore, pack_key: str) -> int:
    """Return the size of a pack for metrics, or 0 if the store cannot tell; deletion must not depend on it."""
    try:
        return await objects.size_bytes(pack_key)
    except MunimentError:
        return 0
