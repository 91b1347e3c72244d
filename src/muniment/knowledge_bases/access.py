"""What a principal may do in a knowledge base."""

from dataclasses import dataclass
from enum import StrEnum
from uuid import UUID

from muniment.errors import Conflict, Forbidden
from muniment.knowledge_bases.repository import KnowledgeBaseRepository
from muniment.knowledge_bases.tables import KnowledgeBase, Role
from muniment.storage.db.principal import Principal
from muniment.storage.db.work import Work


class Standing(StrEnum):
    """How somebody stands to a knowledge base, the strongest first."""

    OWNER = "owner"
    ADMIN = "admin"
    EDITOR = "editor"
    VIEWER = "viewer"


class KnowledgeBaseLeaving(Conflict):
    """This knowledge base is being deleted"""


MANAGES = frozenset({Standing.OWNER, Standing.ADMIN})
UPLOADS = MANAGES | {Standing.EDITOR}


@dataclass(frozen=True)
class Access:
    principal: Principal
    kb: KnowledgeBase
    standing: Standing

    def require_upload(self) -> None:
        if self.standing not in UPLOADS:
            raise Forbidden

    def require_manage(self) -> None:
        if self.standing not in MANAGES:
            raise Forbidden

    def require_staying(self) -> None:
        """For whatever would bring a document in, or back, while all of them are on their way out."""
        if self.kb.leaving_since is not None:
            raise KnowledgeBaseLeaving


def standing_of(principal: Principal, kb: KnowledgeBase, role: Role | None) -> Standing:
    if kb.owner_id == principal.user_id:
        return Standing.OWNER
    if principal.is_admin:
        return Standing.ADMIN
    return Standing.EDITOR if role is Role.EDITOR else Standing.VIEWER


async def get_access(work: Work[Principal], kb_id: UUID) -> Access:
    """Raises `KnowledgeBaseNotFound` for one that the caller may not see: it does not exist for them."""
    kb, role = await KnowledgeBaseRepository(work.session).get_with_role(kb_id, work.caller.user_id)
    return Access(work.caller, kb, standing_of(work.caller, kb, role))
