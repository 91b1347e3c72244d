"""Artifacts go when nothing refers to them: at once with the last document that showed them (DESIGN §8)."""

from collections.abc import Iterable
from dataclasses import dataclass
from uuid import UUID

from muniment.artifacts.unused import UnusedArtifactRepository
from muniment.errors import MunimentError
from muniment.storage.blobs.port import Blobs
from muniment.storage.db.principal import Service
from muniment.storage.db.work import Database, Work
from muniment.storage.deletions.ledger import DeletionRepository, Erased, Line
from muniment.storage.deletions.tables import Deletion, Store
from muniment.telemetry.metrics import ARTIFACT_BYTES_FREED


@dataclass(frozen=True)
class OfDocument:
    """The document whose removal is being carried out."""

    organization_id: UUID
    kb_id: UUID
    document_id: UUID


def artifact_lines(document: OfDocument, content_keys: Iterable[str], *, reason: str) -> list[Line]:
    """For the transaction that removes a document: whatever was read from its contents, those of all its revisions.

    By content and not by reference: what an earlier reading left, or a failed run, must not outlive the document.
    """
    within = f"{document.kb_id}/{document.document_id}"
    return [
        Line(
            document.organization_id,
            document.kb_id,
            document.document_id,
            Store.ARTIFACTS,
            f"{within}/{content_key}",
            reason,
        )
        for content_key in sorted(set(content_keys))
    ]


class ArtifactEraser:
    """Carries out the ledger's lines for artifacts; the packs become lines of their own, in the same transaction."""

    def __init__(self, database: Database, blobs: Blobs) -> None:
        self._database = database
        self._blobs = blobs

    async def erase(self, line: Deletion) -> Erased:
        """Remove what was read from this content, but for what a document or a run still refers to."""
        content_key = line.target.rpartition("/")[2]
        async with self._database.service_work(Service(line.organization_id)) as work:
            unused = UnusedArtifactRepository(work.session)
            packs = [pack for text_id in await unused.list_ids_of(content_key) if (pack := await unused.take(text_id))]
            was_kept = bool(await unused.list_ids_of(content_key))
            # What a run of this document has written and nobody kept. Its own line stays: a worker that has not noticed
            # yet could still write it.
            assert line.document_id is not None
            packs += await DeletionRepository(work.session).list_reserved(line.document_id)
            further_ids = await add_pack_lines(work, packs, cause=line)
        for pack in packs:
            ARTIFACT_BYTES_FREED.inc(await size_of(self._blobs, pack))
        return Erased(was_kept=was_kept, further_ids=further_ids)


async def add_pack_lines(work: Work[Service], packs: Iterable[str], cause: Deletion | None = None) -> list[UUID]:
    """In the transaction that removed the rows: whoever dies here leaves both or neither."""
    organization_id = work.caller.organization_id
    assert organization_id is not None
    kb_id, document_id = (cause.kb_id, cause.document_id) if cause else (None, None)
    reason = cause.reason if cause else "artifact_unused"
    return await DeletionRepository(work.session).add(
        Line(organization_id, kb_id, document_id, Store.BLOBS, pack, reason) for pack in packs
    )


async def size_of(blobs: Blobs, pack: str) -> int:
    """For the statistics alone: a store that does not answer, or has nothing, must not keep anything from going."""
    try:
        return await blobs.size_bytes(pack)
    except MunimentError:
        return 0
