"""Which models this worker has, which of them answers, and what is still missing of a text."""

from collections.abc import Mapping
from dataclasses import dataclass
from uuid import UUID

from sqlalchemy import bindparam, select

from muniment.search.chunking import ChunkOptions
from muniment.search.embedding.port import Embedder
from muniment.search.indexes import IndexingVariant, IndexRepository, indexing_variant
from muniment.search.tables import ArtifactIndex, IndexingVariantRow
from muniment.storage.db.principal import Service
from muniment.storage.db.work import Work

_THERE = select(ArtifactIndex.fingerprint).where(ArtifactIndex.artifact_text_id == bindparam("text_id"))
_KNOWN = select(IndexingVariantRow.fingerprint, IndexingVariantRow.is_active)


def variant_of(embedder: Embedder) -> IndexingVariant:
    return indexing_variant(embedder, ChunkOptions(max_tokens=embedder.max_tokens))


@dataclass(frozen=True)
class Indexing:
    """Everything is indexed for the model that is set up, and for the one that still answers, until the switch."""

    wanted: Embedder
    others: tuple[Embedder, ...] = ()
    """Installed too; used while theirs is the active variant."""

    async def list_missing(self, work: Work[Service], text_id: UUID) -> Mapping[str, Embedder]:
        """By fingerprint: what this text has no passages for yet."""
        wanted = await self._wanted(work)
        known = set(await work.session.scalars(_THERE, {"text_id": text_id}))
        return {fingerprint: embedder for fingerprint, embedder in wanted.items() if fingerprint not in known}

    async def _wanted(self, work: Work[Service]) -> dict[str, Embedder]:
        variant = variant_of(self.wanted)
        known = {row.fingerprint: row.is_active for row in await work.session.execute(_KNOWN)}
        if variant.fingerprint not in known:
            await IndexRepository(work.session).register_variant(variant)
        found = {variant.fingerprint: self.wanted}
        for other in self.others:
            if known.get(named := variant_of(other).fingerprint):
                found[named] = other
        return found
