from datetime import datetime
from typing import Annotated
from uuid import UUID

from pydantic import BaseModel, StringConstraints

from muniment.accounts.schemas import Name
from muniment.knowledge_bases.access import Access, AccessLevel, access_level
from muniment.knowledge_bases.repository import KnowledgeBaseSummary
from muniment.knowledge_bases.tables import HandoverPolicy, Role
from muniment.storage.db.principal import Principal

Description = Annotated[str, StringConstraints(strip_whitespace=True, max_length=2000, pattern=r"^[^\x00]*$")]


class KnowledgeBaseRequest(BaseModel):
    name: Name
    description: Description = ""
    hand_over_policy: HandoverPolicy | None = None
    """`never` if it is not given."""


class KnowledgeBasePatch(BaseModel):
    name: Name | None = None
    description: Description | None = None
    owner_id: UUID | None = None
    hand_over_policy: HandoverPolicy | None = None

    def changes(self) -> dict[str, object]:
        return {name: value for name, value in self.model_dump(exclude_unset=True).items() if value is not None}


class StatusCounts(BaseModel):
    pending: int
    processing: int
    completed: int
    failed: int
    archived: int

    @classmethod
    def of(cls, counts: dict[str, int]) -> "StatusCounts":
        return cls(**{status: counts.get(status, 0) for status in cls.model_fields})


class KnowledgeBaseRead(BaseModel):
    id: UUID
    name: str
    description: str
    owner_id: UUID
    owner_email: str
    hand_over_policy: HandoverPolicy
    role: AccessLevel
    counts: StatusCounts
    created_at: datetime
    updated_at: datetime

    @classmethod
    def of(cls, access: Access, counts: dict[str, int], *, owner_email: str) -> "KnowledgeBaseRead":
        kb = access.kb
        return cls(
            id=kb.id,
            name=kb.name,
            description=kb.description,
            owner_id=kb.owner_id,
            owner_email=owner_email,
            hand_over_policy=HandoverPolicy(kb.hand_over_policy),
            role=access.level,
            counts=StatusCounts.of(counts),
            created_at=kb.created_at,
            updated_at=kb.updated_at,
        )

    @classmethod
    def of_summary(
        cls, principal: Principal, summary: KnowledgeBaseSummary, *, owner_email: str
    ) -> "KnowledgeBaseRead":
        access = Access(principal, summary.kb, access_level(principal, summary.kb, summary.role))
        return cls.of(access, summary.counts, owner_email=owner_email)


class UserMatchRead(BaseModel):
    user_id: UUID
    email: str


class MemberRequest(BaseModel):
    role: Role


class MemberRead(BaseModel):
    user_id: UUID
    email: str
    role: Role
