"""Find documents about the same subject."""

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from muniment.documents.repository import DocumentRepository
from muniment.search.query.ranking import best_of_each
from muniment.search.query.repository import SearchRepository
from muniment.search.query.request import Scope, parse
from muniment.search.query.semantic import Authority
from muniment.search.query.service import Hit
from muniment.search.query.snippets import cut
from muniment.storage.db.principal import Principal
from muniment.storage.db.work import Database
from muniment.storage.vectors.port import Vector, VectorIndex


@dataclass(frozen=True)
class Likeness:
    """Finds them on behalf of one person, in everything that they may see."""

    database: Database
    index: VectorIndex
    principal: Principal

    async def similar(self, kb_id: UUID, document_id: UUID, *, limit: int) -> Sequence[Hit]:
        """The nearest other documents, each with its nearest passage; none for one that is not completed. Raises
        `DocumentNotFound`."""
        about = await self._about(kb_id, document_id)
        if about is None:
            return []
        scope, centre = about
        authority = Authority(self.database, self.index, self.principal)
        near = await authority.nearest(
            scope, centre, lambda kept: len({key[0] for key in kept} - {document_id}) >= limit
        )
        chosen = [key for key in best_of_each(near, 1) if key[0] != document_id][:limit]
        async with self.database.work(self.principal) as work:
            found = await SearchRepository(work.session).read(scope.model, chosen)
        # A distance is between 0 and 2; what points the other way is not similar at all.
        return [Hit(found[key], cut(found[key].text, ()), max(0.0, 1 - near[key])) for key in chosen if key in found]

    async def _about(self, kb_id: UUID, document_id: UUID) -> tuple[Scope, Vector] | None:
        async with self.database.work(self.principal) as work:
            await DocumentRepository(work.session).get(kb_id, document_id)
            repository = SearchRepository(work.session)
            model = await repository.find_model()
            centre = await repository.find_centre(model, document_id) if model else None
            if model is None or centre is None:
                return None
            kb_ids = await repository.list_kb_ids(())
            return Scope(model, kb_ids, await repository.list_queries(model, kb_ids, parse(""))), centre
