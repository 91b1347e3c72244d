from uuid import UUID

from fastapi import APIRouter

from muniment.accounts.schemas import SearchText
from muniment.http.dependencies import CurrentWork
from muniment.http.pagination import Page, Paging
from muniment.knowledge_bases import schemas, service
from muniment.knowledge_bases.access import Access, Standing, get_access
from muniment.knowledge_bases.repository import KnowledgeBaseRepository, MemberRepository

router = APIRouter(prefix="/knowledge-bases", tags=["knowledge bases"])


@router.post("", status_code=201)
async def create_knowledge_base(wanted: schemas.KnowledgeBaseRequest, work: CurrentWork) -> schemas.KnowledgeBaseRead:
    kb = await service.create(work, wanted.name, wanted.description)
    return schemas.KnowledgeBaseRead.of(Access(work.caller, kb, Standing.OWNER), {})


@router.get("")
async def list_knowledge_bases(
    work: CurrentWork, paging: Paging, search: SearchText = ""
) -> Page[schemas.KnowledgeBaseRead]:
    found, total = await KnowledgeBaseRepository(work.session).list_(
        work.caller.user_id, search=search, offset=paging.offset, limit=paging.limit
    )
    items = [schemas.KnowledgeBaseRead.listed(work.caller, item) for item in found]
    return Page(items=items, total=total, page=paging.page, limit=paging.limit)


@router.get("/{kb_id}")
async def get_knowledge_base(kb_id: UUID, work: CurrentWork) -> schemas.KnowledgeBaseRead:
    access = await get_access(work, kb_id)
    return schemas.KnowledgeBaseRead.of(access, await KnowledgeBaseRepository(work.session).counts_of(kb_id))


@router.patch("/{kb_id}")
async def change_knowledge_base(
    kb_id: UUID, wanted: schemas.KnowledgeBasePatch, work: CurrentWork
) -> schemas.KnowledgeBaseRead:
    access = await service.change(work, kb_id, wanted.changes())
    return schemas.KnowledgeBaseRead.of(access, await KnowledgeBaseRepository(work.session).counts_of(kb_id))


@router.get("/{kb_id}/members")
async def list_members(kb_id: UUID, work: CurrentWork, paging: Paging) -> Page[schemas.MemberRead]:
    await get_access(work, kb_id)
    found, total = await MemberRepository(work.session).list_(kb_id, offset=paging.offset, limit=paging.limit)
    items = [schemas.MemberRead(user_id=member.user_id, email=email, role=member.role) for member, email in found]
    return Page(items=items, total=total, page=paging.page, limit=paging.limit)


@router.put("/{kb_id}/members/{user_id}")
async def set_member(
    kb_id: UUID, user_id: UUID, wanted: schemas.MemberRequest, work: CurrentWork
) -> schemas.MemberRead:
    email = await service.set_member(work, kb_id, user_id, wanted.role)
    return schemas.MemberRead(user_id=user_id, email=email, role=wanted.role)


@router.delete("/{kb_id}/members/{user_id}", status_code=204)
async def remove_member(kb_id: UUID, user_id: UUID, work: CurrentWork) -> None:
    await service.remove_member(work, kb_id, user_id)
