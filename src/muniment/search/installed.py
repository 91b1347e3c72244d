"""Which models this worker has, which of them answers, and what is still missing of a text."""

from collections.abc import Mapping
from dataclasses import dataclass
from uuid import UUID

from sqlalchemy import bindparam, exists, select

from muniment.search.chunking import ChunkOptions
from muniment.search.embedding.port import Embedder
from muniment.search.indexes import IndexingVariant, IndexRepository, indexing_variant
from muniment.search.tables import ArtifactIndex, IndexingVariantRow
from muniment.storage.db.principal import Service
from muniment.storage.db.work import Work

_VARIANTS = select(
    IndexingVariantRow.fingerprint,
    IndexingVariantRow.is_active,
    exists()
    .where(
        ArtifactIndex.fingerprint == IndexingVariantRow.fingerprint,
        ArtifactIndex.artifact_text_id == bindparam("text_id"),
    )
    .label("is_there"),
)


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
        known = {row.fingerprint: row for row in await work.session.execute(_VARIANTS, {"text_id": text_id})}
        variant = variant_of(self.wanted)
        if variant.fingerprint not in known:
            await IndexRepository(work.session).register_variant(variant)
        wanted = {variant.fingerprint: self.wanted}
        for other in self.others:
            if (named := variant_of(other).fingerprint) in known and known[named].is_active:
                wanted[named] = other
        return {
            named: embedder for named, embedder in wanted.items() if named not in known or not known[named].is_there
        }
