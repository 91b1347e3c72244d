"""What a principal may do in a knowledge base."""

from dataclasses import dataclass
from enum import StrEnum
from uuid import UUID

from muniment.errors import Conflict, Forbidden
from muniment.knowledge_bases.repository import KnowledgeBaseRepository
from muniment.knowledge_bases.tables import KnowledgeBase, Role
from muniment.storage.db.principal import Principal
from muniment.storage.db.work import Work


class AccessLevel(StrEnum):
    """Role in a knowledge base, strongest first."""

    OWNER = "owner"
    ADMIN = "admin"
    EDITOR = "editor"
    VIEWER = "viewer"


class KnowledgeBaseBeingDeleted(Conflict):
    """This knowledge base is being deleted"""

    code = "KnowledgeBaseLeaving"


MANAGERS = frozenset({AccessLevel.OWNER, AccessLevel.ADMIN})
UPLOADERS = MANAGERS | {AccessLevel.EDITOR}


@dataclass(frozen=True)
class Access:
    principal: Principal
    kb: KnowledgeBase
    level: AccessLevel

    def require_upload(self) -> None:
        if self.level not in UPLOADERS:
            raise Forbidden

    def require_manage(self) -> None:
        if self.level not in MANAGERS:
            raise Forbidden

    def require_not_being_deleted(self) -> None:
        """Raise `KnowledgeBaseBeingDeleted` for moves that would add or restore a document."""
        if self.kb.leaving_since is not None:
            raise KnowledgeBaseBeingDeleted


def access_level(principal: Principal, kb: KnowledgeBase, role: Role | None) -> AccessLevel:
    if kb.owner_id == principal.user_id:
        return AccessLevel.OWNER
    if principal.is_admin:
        return AccessLevel.ADMIN
    return AccessLevel.EDITOR if role is Role.EDITOR else AccessLevel.VIEWER


async def get_access(work: Work[Principal], kb_id: UUID) -> Access:
    """Return the caller's access. Raise `KnowledgeBaseNotFound` if the caller may not see the knowledge base."""
    kb, role = await KnowledgeBaseRepository(work.session).get_with_role(kb_id, work.caller.user_id)
    return Access(work.caller, kb, access_level(work.caller, kb, role))
