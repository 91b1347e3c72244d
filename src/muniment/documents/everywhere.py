"""Documents of all knowledge bases that the caller may see: for who knows a name or an id, and not where it belongs."""

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Query

from muniment.accounts.repository import UserRepository
from muniment.documents.endpoints import NO_NUL
from muniment.documents.repository import DocumentRepository, Wanted
from muniment.documents.schemas import DocumentRead
from muniment.http.dependencies import CurrentWork
from muniment.http.pagination import Page, Paging

router = APIRouter(prefix="/documents", tags=["documents"])


@router.get("")
async def find_documents(
    work: CurrentWork,
    paging: Paging,
    search: Annotated[str, Query(max_length=255, pattern=NO_NUL, description="In the name")] = "",
    document_id: Annotated[UUID | None, Query(alias="id", description="This one, archived or not")] = None,
) -> Page[DocumentRead]:
    """By name or id, the newest first; archived ones only by their id."""
    wanted = Wanted(None, search=search, document_id=document_id, offset=paging.offset, limit=paging.limit)
    found, total = await DocumentRepository(work.session).list_(wanted)
    emails = await UserRepository(work.session).emails_of({document.uploaded_by for document in found})
    items = [DocumentRead.of(document, emails.get(document.uploaded_by)) for document in found]
    return Page(items=items, total=total, page=paging.page, limit=paging.limit)
