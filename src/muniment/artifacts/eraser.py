"""Artifacts go when nothing refers to them: at once with the last document that showed them (DESIGN §8)."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from muniment.artifacts.unused import UnusedArtifactRepository
from muniment.errors import MunimentError
from muniment.storage.blobs.port import Blobs
from muniment.storage.db.principal import Service
from muniment.storage.db.work import Database, Work
from muniment.storage.deletions.erasers import Erased
from muniment.storage.deletions.ledger import DeletionRepository, Line
from muniment.storage.deletions.tables import Deletion, Store
from muniment.telemetry.metrics import ARTIFACT_BYTES_FREED


@dataclass(frozen=True)
class OfDocument:
    """The document whose removal is being carried out."""

    organization_id: UUID
    kb_id: UUID
    document_id: UUID


def artifact_lines(
    document: OfDocument, content_keys: Iterable[str], *, reason: str, not_before: datetime | None = None
) -> list[Line]:
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
            not_before,
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
        return (await self.erase_together([line]))[0]

    async def erase_together(self, lines: Sequence[Deletion]) -> Sequence[Erased]:
        """A few statements, whatever their number. The packs' lines come with the rows' removal: whoever dies here
        leaves both or neither."""
        keys = {line.id: line.target.rpartition("/")[2] for line in lines}
        async with self._database.service_work(Service(lines[0].organization_id)) as work:
            taken, kept = await UnusedArtifactRepository(work.session).take_all(list(keys.values()))
            packs = [(line, pack) for line in lines for pack in taken.pop(keys[line.id], ())]
            packs += await _list_reserved(work, lines)
            pack_lines = [_pack_line(line.organization_id, pack, line) for line, pack in packs]
            pack_line_ids = await DeletionRepository(work.session).add(pack_lines)
        for _, pack in packs:
            ARTIFACT_BYTES_FREED.inc(await size_of(self._blobs, pack))
        further_ids = defaultdict(list)
        for (line, _), pack_line_id in zip(packs, pack_line_ids, strict=True):
            further_ids[line.id].append(pack_line_id)
        return [Erased(was_kept=keys[line.id] in kept, further_ids=further_ids[line.id]) for line in lines]


async def _list_reserved(work: Work[Service], lines: Sequence[Deletion]) -> list[tuple[Deletion, str]]:
    """What a run of these documents has written and nobody kept. Its own line stays: a worker that has not noticed yet
    could still write it."""
    of_document = {line.document_id: line for line in lines if line.document_id is not None}
    reserved = await DeletionRepository(work.session).list_reserved(list(of_document))
    return [(of_document[document_id], pack) for document_id, pack in reserved]


async def add_pack_lines(work: Work[Service], packs: Iterable[str]) -> list[UUID]:
    """In the transaction that removed the rows, of artifacts that belong to no document any more."""
    organization_id = work.caller.organization_id
    assert organization_id is not None
    return await DeletionRepository(work.session).add(_pack_line(organization_id, pack) for pack in packs)


def _pack_line(organization_id: UUID, pack: str, cause: Deletion | None = None) -> Line:
    kb_id, document_id = (cause.kb_id, cause.document_id) if cause else (None, None)
    reason = cause.reason if cause else "artifact_unused"
    return Line(organization_id, kb_id, document_id, Store.BLOBS, pack, reason)


async def size_of(blobs: Blobs, pack: str) -> int:
    """For the statistics alone: a store that does not answer, or has nothing, must not keep anything from going."""
    try:
        return await blobs.size_bytes(pack)
    except MunimentError:
        return 0
