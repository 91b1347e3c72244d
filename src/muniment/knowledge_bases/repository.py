from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from sqlalchemy import ColumnElement, Select, Uuid, and_, bindparam, delete, func, select, text
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncSession

from muniment.accounts.tables import User
from muniment.errors import Conflict, NotFound
from muniment.knowledge_bases.tables import KnowledgeBase, Member, Role


class KnowledgeBaseNotFound(NotFound):
    """Knowledge base not found"""


class MemberNotFound(NotFound):
    """Member not found"""


class KnowledgeBaseNotEmpty(Conflict):
    """The knowledge base is not empty. Archived and failed documents count too"""


# A view of documents, which is above this feature.
_DOCUMENT_COUNTS = text("""
    SELECT knowledge_base_id, status, document_count FROM knowledge_base_document_counts
     WHERE knowledge_base_id = ANY (:ids)
""")


@dataclass(frozen=True)
class KnowledgeBaseSummary:
    kb: KnowledgeBase
    role: Role | None
    counts: dict[str, int]


class KnowledgeBaseRepository:
    """Queries of knowledge bases. Row level security limits them to the caller's, so none filters by organization."""

    def __init__(self, session: AsyncSession) -> None:
        self._session = session

    async def add(self, kb: KnowledgeBase) -> KnowledgeBase:
        self._session.add(kb)
        await self._session.flush()
        await self._session.refresh(kb)
        return kb

    async def get_with_role(self, kb_id: UUID, user_id: UUID) -> tuple[KnowledgeBase, Role | None]:
        row = (await self._session.execute(_BY_ID_WITH_ROLE, {"user_id": user_id, "kb_id": kb_id})).one_or_none()
        if row is None:
            raise KnowledgeBaseNotFound
        return row[0], Role(row[1]) if row[1] else None

    async def list_(
        self, user_id: UUID, *, search: str, offset: int, limit: int
    ) -> tuple[list[KnowledgeBaseSummary], int]:
        query = _with_role(user_id)
        if search:
            query = query.where(KnowledgeBase.name.icontains(search, autoescape=True))
        total = await self._session.scalar(select(func.count()).select_from(query.subquery()))
        ordered = query.order_by(func.lower(KnowledgeBase.name), KnowledgeBase.id).offset(offset).limit(limit)
        rows = (await self._session.execute(ordered)).all()
        counts = await self._count_by_status([row[0].id for row in rows])
        return [
            KnowledgeBaseSummary(kb, Role(role) if role else None, counts.get(kb.id, {})) for kb, role in rows
        ], total or 0

    async def count_documents(self, kb_id: UUID) -> dict[str, int]:
        return (await self._count_by_status([kb_id])).get(kb_id, {})

    async def _count_by_status(self, kb_ids: Sequence[UUID]) -> dict[UUID, dict[str, int]]:
        rows = await self._session.execute(_DOCUMENT_COUNTS, {"ids": list(kb_ids)})
        counts: dict[UUID, dict[str, int]] = {}
        for kb_id, status, number in rows:
            counts.setdefault(kb_id, {})[status] = number
        return counts

    async def list_existing(self, kb_ids: Sequence[UUID]) -> Sequence[UUID]:
        """Return those of the knowledge bases that exist and that the caller may see, ordered by id."""
        found = select(KnowledgeBase.id).where(KnowledgeBase.id.in_(kb_ids))
        return (await self._session.scalars(found.order_by(KnowledgeBase.id))).all()

    async def list_ids(self) -> Sequence[UUID]:
        """Return all knowledge bases that the caller may see, ordered by id."""
        return (await self._session.scalars(select(KnowledgeBase.id).order_by(KnowledgeBase.id))).all()

    async def lock(self, kb: KnowledgeBase) -> None:
        """Reload and lock the row until the transaction ends. Other changes wait; uploads do not."""
        query = select(KnowledgeBase).where(KnowledgeBase.id == kb.id).with_for_update(key_share=True)
        if await self._session.scalar(query.execution_options(populate_existing=True)) is None:
            raise KnowledgeBaseNotFound

    async def delete(self, kb: KnowledgeBase) -> None:
        """Delete the knowledge base. The database refuses while it has documents: none is deleted by a cascade."""
        try:
            async with self._session.begin_nested():
                await self._session.execute(delete(KnowledgeBase).where(KnowledgeBase.id == kb.id))
        except IntegrityError:
            raise KnowledgeBaseNotEmpty from None


class MemberRepository:
    def __init__(self, session: AsyncSession) -> None:
        self._session = session

    async def find_role(self, kb_id: UUID, user_id: UUID) -> Role | None:
        role = await self._session.scalar(select(Member.role).where(Member.kb_id == kb_id, Member.user_id == user_id))
        return Role(role) if role else None

    async def set_role(self, kb: KnowledgeBase, user_id: UUID, role: Role) -> None:
        values = {"kb_id": kb.id, "user_id": user_id, "organization_id": kb.organization_id, "role": role}
        await self._session.execute(
            insert(Member)
            .values(**values)
            .on_conflict_do_update(index_elements=[Member.kb_id, Member.user_id], set_={"role": role})
        )

    async def remove(self, kb_id: UUID, user_id: UUID) -> bool:
        """Remove a member. Return False if they were not a member."""
        gone = delete(Member).where(Member.kb_id == kb_id, Member.user_id == user_id).returning(Member.user_id)
        return await self._session.scalar(gone) is not None

    async def list_(self, kb_id: UUID, *, offset: int, limit: int) -> tuple[list[tuple[Member, str]], int]:
        query = select(Member, User.email).join(User, User.id == Member.user_id).where(Member.kb_id == kb_id)
        total = await self._session.scalar(select(func.count()).select_from(query.subquery()))
        rows = await self._session.execute(query.order_by(User.email_key).offset(offset).limit(limit))
        return [(member, email) for member, email in rows], total or 0


def _with_role(user_id: UUID | ColumnElement[UUID]) -> Select[KnowledgeBase, str]:
    own_membership = and_(Member.kb_id == KnowledgeBase.id, Member.user_id == user_id)
    return select(KnowledgeBase, Member.role).outerjoin(Member, own_membership)


# Built once, because every request runs it.
_BY_ID_WITH_ROLE = _with_role(bindparam("user_id", type_=Uuid())).where(
    KnowledgeBase.id == bindparam("kb_id", type_=Uuid())
)
