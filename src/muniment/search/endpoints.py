from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Depends, Query

from muniment.http.dependencies import CurrentPrincipal, CurrentServices, CurrentWork
from muniment.search.criteria import MAX_QUERY_CHARACTERS, QUERY_DESCRIPTION, QUERY_PATTERN, SearchParameters
from muniment.search.query.repository import SearchRepository
from muniment.search.query.similar import SimilarDocuments
from muniment.search.query.within_document import DocumentSearch
from muniment.search.schemas import DocumentSearchRead, HitRead, PageMatchRead, SearchRead, SimilarRead, UploadersRead

router = APIRouter(tags=["search"])

QueryParameter = Annotated[
    str, Query(max_length=MAX_QUERY_CHARACTERS, pattern=QUERY_PATTERN, description=QUERY_DESCRIPTION)
]


async def get_similar_documents(services: CurrentServices, principal: CurrentPrincipal) -> SimilarDocuments:
    return SimilarDocuments(services.database, services.search.index, principal, services.search.calibrations)


async def get_document_search(services: CurrentServices, principal: CurrentPrincipal) -> DocumentSearch:
    return DocumentSearch(services.database, principal)


@router.get("/search")
async def search(
    services: CurrentServices, principal: CurrentPrincipal, parameters: Annotated[SearchParameters, Query()]
) -> SearchRead:
    """Search completed documents the caller has access to. At most three distinct passages per document."""
    return SearchRead.from_result(await services.search.search(principal, parameters.request()))


@router.get("/search/uploaders")
async def list_uploaders(work: CurrentWork) -> UploadersRead:
    """List who uploaded the documents that the caller can search, for the filter `uploaded_by`. At most 500."""
    return UploadersRead.of(await SearchRepository(work.session).list_uploaders())


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
