"""Find documents about the same subject."""

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from muniment.documents.repository import DocumentRepository
from muniment.search.query.calibrations import CalibrationCache
from muniment.search.query.parser import parse_query
from muniment.search.query.ranking import limit_per_document
from muniment.search.query.repository import SearchRepository
from muniment.search.query.request import SearchScope
from muniment.search.query.semantic import ConfirmedVectorSearch
from muniment.search.query.service import MatchedBy, SearchHit
from muniment.search.query.snippets import make_snippet
from muniment.storage.db.principal import Principal
from muniment.storage.db.work import Database
from muniment.storage.vectors.port import Vector, VectorSearch


@dataclass(frozen=True)
class SimilarDocuments:
    """Finds similar documents among all that one user may see."""

    database: Database
    index: VectorSearch
    principal: Principal
    calibrations: CalibrationCache

    async def find(self, kb_id: UUID, document_id: UUID, *, limit: int) -> Sequence[SearchHit]:
        """Return the nearest other documents, each with its nearest passage.

        Only passages count that are clearly more similar than unrelated texts. The result is empty for a document that
        is not completed. Raise `DocumentNotFound` if there is no such document.
        """
        scope_and_centroid = await self._find_scope_and_centroid(kb_id, document_id)
        if scope_and_centroid is None:
            return []
        scope, centroid = scope_and_centroid
        vector_search = ConfirmedVectorSearch(self.database, self.index, self.principal)
        nearest = await vector_search.nearest(
            scope, centroid, lambda kept: len({key[0] for key in kept} - {document_id}) >= limit
        )
        chosen = [key for key in limit_per_document(nearest, 1) if key[0] != document_id][:limit]
        async with self.database.work(self.principal) as work:
            found = await SearchRepository(work.session).load_passages(scope.model, chosen)
        # Opposite vectors score 0.
        return [
            SearchHit(found[key], make_snippet(found[key].text, ()), max(0.0, nearest[key]), MatchedBy.VECTOR)
            for key in chosen
            if key in found
        ]

    async def _find_scope_and_centroid(self, kb_id: UUID, document_id: UUID) -> tuple[SearchScope, Vector] | None:
        async with self.database.work(self.principal) as work:
            await DocumentRepository(work.session).get(kb_id, document_id)
            repository = SearchRepository(work.session)
            model = await repository.find_active_model()
            centroid = await repository.find_centroid(model, document_id) if model else None
            if model is None or centroid is None:
                return None
            kb_ids = await repository.list_kb_ids(())
            scope = SearchScope(
                model,
                kb_ids,
                await repository.build_language_queries(model, kb_ids, parse_query("")),
                calibration=await self.calibrations.find(work, model),
            )
            return scope, centroid
