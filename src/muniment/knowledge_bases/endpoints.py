from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Query

from muniment.accounts.repository import UserRepository
from muniment.accounts.schemas import Email, SearchText
from muniment.http.dependencies import CurrentWork
from muniment.http.pagination import PaginatedRead, Paging
from muniment.knowledge_bases import schemas, service
from muniment.knowledge_bases.access import Access, AccessLevel, get_access
from muniment.knowledge_bases.repository import KnowledgeBaseRepository, MemberRepository
from muniment.knowledge_bases.tables import HandoverPolicy

router = APIRouter(prefix="/knowledge-bases", tags=["knowledge bases"])

EmailQuery = Annotated[Email, Query()]


@router.post("", status_code=201)
async def create_knowledge_base(body: schemas.KnowledgeBaseRequest, work: CurrentWork) -> schemas.KnowledgeBaseRead:
    kb = await service.create(work, body.name, body.description, body.hand_over_policy or HandoverPolicy.NEVER)
    return await _read(Access(work.caller, kb, AccessLevel.OWNER), work)


async def _read(access: Access, work: CurrentWork) -> schemas.KnowledgeBaseRead:
    counts = await KnowledgeBaseRepository(work.session).count_documents(access.kb.id)
    owner = await UserRepository(work.session).get(access.kb.owner_id)
    return schemas.KnowledgeBaseRead.of(access, counts, owner_email=owner.email)


@router.get("")
async def list_knowledge_bases(
    work: CurrentWork, paging: Paging, search: SearchText = ""
) -> PaginatedRead[schemas.KnowledgeBaseRead]:
    found, total = await KnowledgeBaseRepository(work.session).list_(
        work.caller.user_id, search=search, offset=paging.offset, limit=paging.limit
    )
    owners = await UserRepository(work.session).emails_of({item.kb.owner_id for item in found})
    items = [
        schemas.KnowledgeBaseRead.of_summary(work.caller, item, owner_email=owners[item.kb.owner_id]) for item in found
    ]
    return PaginatedRead(items=items, total=total, page=paging.page, limit=paging.limit)


@router.get("/{kb_id}")
async def get_knowledge_base(kb_id: UUID, work: CurrentWork) -> schemas.KnowledgeBaseRead:
    return await _read(await get_access(work, kb_id), work)


@router.patch("/{kb_id}")
async def change_knowledge_base(
    kb_id: UUID, body: schemas.KnowledgeBasePatch, work: CurrentWork
) -> schemas.KnowledgeBaseRead:
    return await _read(await service.change(work, kb_id, body.changes()), work)


@router.get("/{kb_id}/colleague")
async def find_colleague(kb_id: UUID, email: EmailQuery, work: CurrentWork) -> schemas.UserMatchRead:
    """Find a user of your organization by exact email, to make them a member or the owner."""
    found = await service.find_user_by_email(work, kb_id, email)
    return schemas.UserMatchRead(user_id=found.id, email=found.email)


@router.get("/{kb_id}/members")
async def list_members(kb_id: UUID, work: CurrentWork, paging: Paging) -> PaginatedRead[schemas.MemberRead]:
    await get_access(work, kb_id)
    found, total = await MemberRepository(work.session).list_(kb_id, offset=paging.offset, limit=paging.limit)
    items = [schemas.MemberRead(user_id=member.user_id, email=email, role=member.role) for member, email in found]
    return PaginatedRead(items=items, total=total, page=paging.page, limit=paging.limit)


@router.put("/{kb_id}/members/{user_id}")
async def set_member(kb_id: UUID, user_id: UUID, body: schemas.MemberRequest, work: CurrentWork) -> schemas.MemberRead:
    email = await service.set_member(work, kb_id, user_id, body.role)
    return schemas.MemberRead(user_id=user_id, email=email, role=body.role)


@router.delete("/{kb_id}/members/{user_id}", status_code=204)
async def remove_member(kb_id: UUID, user_id: UUID, work: CurrentWork) -> None:
    await service.remove_member(work, kb_id, user_id)
