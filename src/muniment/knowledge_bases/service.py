from typing import Any
from uuid import UUID

from muniment.accounts.repository import UserNotFound, UserRepository
from muniment.accounts.tables import User
from muniment.audit.events import (
    KnowledgeBaseChanged,
    KnowledgeBaseCreated,
    KnowledgeBaseDeleted,
    MemberRemoved,
    MemberSet,
)
from muniment.audit.log import AuditLog
from muniment.errors import Refused
from muniment.knowledge_bases.access import Access, get_access
from muniment.knowledge_bases.repository import KnowledgeBaseRepository, MemberNotFound, MemberRepository
from muniment.knowledge_bases.tables import HandoverPolicy, KnowledgeBase, Role
from muniment.storage.db.principal import Principal
from muniment.storage.db.work import Work


class OwnerCannotBeMember(Refused):
    """The owner already has access"""

    code = "OwnerIsNoMember"


async def create(
    work: Work[Principal],
    name: str,
    description: str,
    hand_over_policy: HandoverPolicy = HandoverPolicy.NEVER,
) -> KnowledgeBase:
    """Create a knowledge base owned by the caller."""
    me = work.caller
    kb = KnowledgeBase(
        organization_id=me.organization_id,
        owner_id=me.user_id,
        name=name,
        description=description,
        hand_over_policy=hand_over_policy,
    )
    await KnowledgeBaseRepository(work.session).add(kb)
    await AuditLog(work).record(KnowledgeBaseCreated(kb.id, name))
    return kb


async def change(work: Work[Principal], kb_id: UUID, changes: dict[str, Any]) -> Access:
    """Change the name, the description, the owner or the hand-over policy."""
    access = await _lock_managed(work, kb_id)
    changes = {name: value for name, value in changes.items() if value != getattr(access.kb, name)}
    if not changes:
        return access
    before = {name: getattr(access.kb, name) for name in changes}
    if new_owner := changes.get("owner_id"):
        await _prepare_new_owner(work, access.kb, new_owner)
    for name, value in changes.items():
        setattr(access.kb, name, value)
    await work.session.flush()
    await work.session.refresh(access.kb)
    await AuditLog(work).record(KnowledgeBaseChanged(kb_id, access.kb.name, _plain(before), _plain(changes)))
    return await get_access(work, kb_id)


async def _prepare_new_owner(work: Work[Principal], kb: KnowledgeBase, user_id: UUID) -> None:
    """Make the previous owner an editor. This comes first: after the change they may no longer set members."""
    await _require_same_organization(work, kb, user_id)
    members = MemberRepository(work.session)
    await members.remove(kb.id, user_id)
    await members.set_role(kb, kb.owner_id, Role.EDITOR)


async def delete(work: Work[Principal], kb_id: UUID) -> None:
    access = await _lock_managed(work, kb_id)
    await KnowledgeBaseRepository(work.session).delete(access.kb)
    await AuditLog(work).record(KnowledgeBaseDeleted(kb_id, access.kb.name))


async def set_member(work: Work[Principal], kb_id: UUID, user_id: UUID, role: Role) -> str:
    """Make a user of the organization a viewer or an editor, and return their email."""
    access = await _lock_managed(work, kb_id)
    if user_id == access.kb.owner_id:
        raise OwnerCannotBeMember
    email = await _require_same_organization(work, access.kb, user_id)
    members = MemberRepository(work.session)
    before = await members.find_role(kb_id, user_id)
    if before != role:
        await members.set_role(access.kb, user_id, role)
        await AuditLog(work).record(MemberSet(kb_id, access.kb.name, user_id, before, role))
    return email


async def find_user_by_email(work: Work[Principal], kb_id: UUID, email: str) -> User:
    """Find a user of the organization by exact email, or raise `UserNotFound`.

    Owners who are not admins may not list users: they can only find someone whose address they know.
    """
    access = await get_access(work, kb_id)
    access.require_manage()
    found = await UserRepository(work.session).find_active(access.kb.organization_id, email)
    if found is None:
        raise UserNotFound
    return found


async def remove_member(work: Work[Principal], kb_id: UUID, user_id: UUID) -> None:
    access = await _lock_managed(work, kb_id)
    members = MemberRepository(work.session)
    before = await members.find_role(kb_id, user_id)
    if before is None or not await members.remove(kb_id, user_id):
        raise MemberNotFound
    await AuditLog(work).record(MemberRemoved(kb_id, access.kb.name, user_id, before))


async def _lock_managed(work: Work[Principal], kb_id: UUID) -> Access:
    """Lock a knowledge base that the caller manages, so that changes and deletion do not run concurrently."""
    access = await get_access(work, kb_id)
    access.require_manage()
    await KnowledgeBaseRepository(work.session).lock(access.kb)
    return access


async def _require_same_organization(work: Work[Principal], kb: KnowledgeBase, user_id: UUID) -> str:
    user = await UserRepository(work.session).get(user_id)
    if user.organization_id != kb.organization_id or not user.is_active:
        raise UserNotFound
    return user.email


def _plain(values: dict[str, Any]) -> dict[str, str]:
    return {name: str(value) for name, value in values.items()}
