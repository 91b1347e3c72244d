from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Depends, Query

from muniment.documents.tables import DocumentType
from muniment.http.dependencies import CurrentParts, CurrentPrincipal
from muniment.search.query.request import Mode, Question
from muniment.search.query.similar import Likeness
from muniment.search.query.within_document import Inside
from muniment.search.schemas import HitRead, InsideRead, PageMatchRead, SearchRead, SimilarRead

router = APIRouter(tags=["search"])

# Something to look for, and no NUL: PostgreSQL takes none in a text.
Typed = Annotated[
    str,
    Query(
        max_length=1000,
        pattern=r"^[^\x00]*[^\s\x00][^\x00]*$",
        description='Words, "exact phrases" and -excluded ones',
    ),
]
MOST_KBS = 1000


async def get_likeness(parts: CurrentParts, principal: CurrentPrincipal) -> Likeness:
    return Likeness(parts.database, parts.searching.index, principal)


async def get_inside(parts: CurrentParts, principal: CurrentPrincipal) -> Inside:
    return Inside(parts.database, principal)


@router.get("/search")
async def search(
    parts: CurrentParts,
    principal: CurrentPrincipal,
    q: Typed,
    kb_id: Annotated[list[UUID] | None, Query(max_length=MOST_KBS, description="All by default")] = None,
    limit: Annotated[int, Query(ge=1, le=50)] = 10,
    mode: Mode = Mode.HYBRID,
    document_type: Annotated[list[DocumentType] | None, Query()] = None,
) -> SearchRead:
    """Passages of completed documents that the caller may see, best first; at most three of one document."""
    question = Question(q, kb_id or (), mode, document_type or (), limit)
    return SearchRead.of(await parts.searching.search(principal, question))


@router.get("/knowledge-bases/{kb_id}/documents/{doc_id}/similar")
async def find_similar(
    kb_id: UUID,
    doc_id: UUID,
    likeness: Annotated[Likeness, Depends(get_likeness)],
    limit: Annotated[int, Query(ge=1, le=50)] = 10,
) -> SimilarRead:
    """Other documents about the same, from everything that the caller may see, each with its nearest passage."""
    return SimilarRead(items=[HitRead.of(hit) for hit in await likeness.similar(kb_id, doc_id, limit=limit)])


@router.get("/knowledge-bases/{kb_id}/documents/{doc_id}/search")
async def search_inside(
    kb_id: UUID,
    doc_id: UUID,
    inside: Annotated[Inside, Depends(get_inside)],
    q: Typed,
    limit: Annotated[int, Query(ge=1, le=500)] = 100,
) -> InsideRead:
    """The pages of one document that match, in their order, with what to mark on the picture of each."""
    return InsideRead(items=[PageMatchRead.of(match) for match in await inside.find(kb_id, doc_id, q, limit=limit)])
