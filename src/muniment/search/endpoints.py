from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Depends, Query

from muniment.documents.tables import DocumentType
from muniment.http.dependencies import CurrentPrincipal, CurrentServices
from muniment.search.query.request import SearchMode, SearchRequest
from muniment.search.query.similar import SimilarDocuments
from muniment.search.query.within_document import DocumentSearch
from muniment.search.schemas import DocumentSearchRead, HitRead, PageMatchRead, SearchRead, SimilarRead

router = APIRouter(tags=["search"])

# At least one visible character, and no NUL, which PostgreSQL cannot store in text.
QueryParameter = Annotated[
    str,
    Query(
        max_length=1000,
        pattern=r"^[^\x00]*[^\s\x00][^\x00]*$",
        description='Keywords, "exact phrases" and -excluded words',
    ),
]
MAX_KNOWLEDGE_BASES = 1000


async def get_similar_documents(services: CurrentServices, principal: CurrentPrincipal) -> SimilarDocuments:
    return SimilarDocuments(services.database, services.search.index, principal)


async def get_document_search(services: CurrentServices, principal: CurrentPrincipal) -> DocumentSearch:
    return DocumentSearch(services.database, principal)


@router.get("/search")
async def search(
    services: CurrentServices,
    principal: CurrentPrincipal,
    q: QueryParameter,
    kb_id: Annotated[list[UUID] | None, Query(max_length=MAX_KNOWLEDGE_BASES, description="All by default")] = None,
    limit: Annotated[int, Query(ge=1, le=50)] = 10,
    mode: SearchMode = SearchMode.HYBRID,
    document_type: Annotated[list[DocumentType] | None, Query()] = None,
) -> SearchRead:
    """Search completed documents the caller has access to. Best passages first, at most three per document."""
    question = SearchRequest(q, kb_id or (), mode, document_type or (), limit)
    return SearchRead.from_result(await services.search.search(principal, question))


@router.get("/knowledge-bases/{kb_id}/documents/{doc_id}/similar")
async def find_similar(
    kb_id: UUID,
    doc_id: UUID,
    similar_documents: Annotated[SimilarDocuments, Depends(get_similar_documents)],
    limit: Annotated[int, Query(ge=1, le=50)] = 10,
) -> SimilarRead:
    """List similar documents the caller has access to, each with its most similar passage."""
    return SimilarRead(
        items=[HitRead.from_hit(hit) for hit in await similar_documents.find(kb_id, doc_id, limit=limit)]
    )


@router.get("/knowledge-bases/{kb_id}/documents/{doc_id}/search")
async def search_inside(
    kb_id: UUID,
    doc_id: UUID,
    document_search: Annotated[DocumentSearch, Depends(get_document_search)],
    q: QueryParameter,
    limit: Annotated[int, Query(ge=1, le=500)] = 100,
) -> DocumentSearchRead:
    """List the matching pages of a document in order, with the areas to highlight on each page image."""
    return DocumentSearchRead(
        items=[PageMatchRead.from_match(match) for match in await document_search.search(kb_id, doc_id, q, limit=limit)]
    )
