"""Artifacts as processing leaves them: rows by the service login, the pack in a real store."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

from muniment.artifacts.deletion import ArtifactDeleter
from muniment.artifacts.garbage_collection import ArtifactGarbageCollector, CollectionResult
from muniment.artifacts.keys import reading_variant
from muniment.artifacts.repository import ArtifactKey, ArtifactRepository, NewArtifact, part_as_json
from muniment.artifacts.tables import TextArtifact
from muniment.artifacts.text_packs import TextPackWriter, paragraph_uri
from muniment.storage.db.base import new_id
from muniment.storage.db.principal import Service
from muniment.storage.db.work import Database
from muniment.storage.deletions.deleters import Deleter, ObjectDeleter
from muniment.storage.deletions.ledger import Ledger, LedgerRepository, NewLedgerEntry
from muniment.storage.deletions.tables import LedgerStore
from muniment.storage.objects.port import ObjectStore
from tests.support.seed import KEY_ID, Person, Seed

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
GRACE = timedelta(days=14)
VARIANT = reading_variant({"of": "the tests"})
OTHER_VARIANT = reading_variant({"of": "the tests", "anew": True})
FIGURE = {"key": "p1-abc", "kind": "picture"}


def a_key(organization_id: UUID | None, content_key: str = "", variant: Any = VARIANT) -> ArtifactKey:
    return ArtifactKey(organization_id, content_key or f"{KEY_ID}:{uuid4().hex}", variant)


def a_reading(pack: TextPackWriter, pages: Sequence[str] = ("The only page",)) -> NewArtifact:
    """Return an artifact with one paragraph and one figure per page."""
    stored = [pack.add_page(text) for text in pages]
    head = {
        "full_text_uri": pack.key,
        "full_text_sha256": pack.sha256,
        "total_pages": len(pages),
        "total_words": 3,
        "methods": {"text": len(pages)},
        "timings": {"seconds": 1.5},
    }
    page_rows = [
        part_as_json(page_number=n, page_text_uri=page.uri, page_text_sha256=page.sha256, metrics={"figures": [FIGURE]})
        for n, page in enumerate(stored, 1)
    ]
    paragraph_rows = [
        part_as_json(
            page_number=n,
            paragraph_index=0,
            paragraph_text_uri=paragraph_uri(page.uri, 0, len(text)),
            paragraph_text_sha256=page.sha256,
        )
        for n, (page, text) in enumerate(zip(stored, pages, strict=True), 1)
    ]
    return NewArtifact(head, page_rows, paragraph_rows)


@dataclass
class ArtifactsFixture:
    """One owner with one knowledge base, artifacts, and their garbage collection."""

    seed: Seed
    database: Database
    objects: ObjectStore
    owner: Person = field(init=False)
    kb_id: UUID = field(init=False)

    def __post_init__(self) -> None:
        self.owner = self.seed.person()
        self.kb_id = self.seed.knowledge_base(self.owner)

    @property
    def service(self) -> Service:
        return Service(self.owner.organization_id)

    @property
    def ledger(self) -> Ledger:
        erasers: Mapping[LedgerStore, Deleter] = {
            LedgerStore.OBJECTS: ObjectDeleter(self.objects),
            LedgerStore.ARTIFACTS: ArtifactDeleter(self.database, self.objects),
        }
        return Ledger(self.database, erasers)

    async def add_artifact(self, key: ArtifactKey | None = None, *, service: Service | None = None) -> TextArtifact:
        """Add an unreferenced artifact to the owner's organization, unless the key says otherwise."""
        key = key or a_key(self.owner.organization_id)
        pack = TextPackWriter(key.organization_id)
        new = a_reading(pack)
        await self.objects.put(pack.key, pack.getvalue)
        async with self.database.service_work(service or self.service) as work:
            artifacts = ArtifactRepository(work.session)
            full, _ = await artifacts.add_once(key, new)
            await artifacts.add_missing_diagrams(full.id)
        return full

    def document(
        self, full: TextArtifact, *, owner: Person | None = None, kb_id: UUID | None = None, **columns: Any
    ) -> UUID:
        """Add a document that shows the artifact."""
        shown = {"content_hmac": full.content_hmac, "artifact_text_id": full.id, **columns}
        name = f"{new_id()}.pdf"
        return self.seed.document(kb_id or self.kb_id, owner or self.owner, name=name, **shown)

    async def remove_document(self, document_id: UUID, content_key: str, *, owner: Person | None = None) -> list[UUID]:
        """Delete the row and add a ledger entry for its artifact in one transaction, like a purge."""
        organization_id = (owner or self.owner).organization_id
        [(kb_id,)] = self.seed.rows("SELECT knowledge_base_id FROM documents WHERE id = %s", document_id)
        target = f"{kb_id}/{document_id}/{content_key}"
        line = NewLedgerEntry(organization_id, kb_id, document_id, LedgerStore.ARTIFACTS, target, "purge")
        self.seed.execute("DELETE FROM documents WHERE id = %s", document_id)
        async with self.database.service_work(Service(organization_id)) as work:
            return await LedgerRepository(work.session).add([line])

    @property
    def collection(self) -> ArtifactGarbageCollector:
        return ArtifactGarbageCollector(self.database, self.objects, self.ledger, grace=GRACE)

    async def collect(self, at: datetime, *, dry_run: bool = False) -> CollectionResult:
        return await self.collection.collect(at, dry_run=dry_run)

    def ids(self) -> set[UUID]:
        return {text_id for (text_id,) in self.seed.rows("SELECT id FROM artifacts_full_text")}

    def part_counts(self) -> list[int]:
        parts = ("artifact_pages", "artifact_paragraphs", "artifact_diagrams")
        return [self.seed.one(f"SELECT count(*) FROM {table}") for table in parts]

    async def packs(self) -> set[str]:
        return {info.key async for info in self.objects.list("artifacts/")}

    def list_open_entries(self) -> int:
        return int(self.seed.one("SELECT count(*) FROM deletions WHERE done_at IS NULL"))

    def make_entries_due(self) -> None:
        self.seed.execute("UPDATE deletions SET next_attempt_at = now()")
