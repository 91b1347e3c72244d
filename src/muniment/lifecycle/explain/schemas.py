from datetime import datetime
from uuid import UUID

from pydantic import BaseModel, Field

from muniment.audit.tables import AuditEvent
from muniment.documents.tables import Document, Status
from muniment.lifecycle.explain.facts import OpenRun
from muniment.lifecycle.explain.obstacles import Judgement
from muniment.lifecycle.explain.service import Explanation
from muniment.lifecycle.rules import Move


class EventRead(BaseModel):
    id: UUID
    at: datetime
    action: str
    actor: str

    @classmethod
    def of(cls, event: AuditEvent) -> "EventRead":
        return cls(id=event.id, at=event.at, action=event.action, actor=event.actor)


class OpenRunRead(BaseModel):
    id: UUID
    purpose: str
    status: str
    attempt: int
    last_step: str | None
    created_at: datetime

    @classmethod
    def of(cls, run: OpenRun) -> "OpenRunRead":
        return cls(**vars(run))


class HandOverRead(BaseModel):
    status: str
    job_id: str | None
    handed_over_at: datetime | None

    @classmethod
    def of(cls, document: Document) -> "HandOverRead | None":
        if document.archive_status is None:
            return None
        return cls(
            status=document.archive_status, job_id=document.archive_job_id, handed_over_at=document.handed_over_at
        )


class MoveRead(BaseModel):
    move: Move
    allowed: bool = Field(description="To you, now")
    reason: str | None = Field(description="Why not")
    by: list[str] = Field(description="Who may: `owner`, `admin`, `editor`; `muniment` does some by itself")
    blocked_by: UUID | None = Field(description="The document whose name is in the way")

    @classmethod
    def of(cls, judgement: Judgement) -> "MoveRead":
        return cls(
            move=judgement.move,
            allowed=judgement.is_allowed,
            reason=judgement.reason,
            by=list(judgement.by),
            blocked_by=judgement.namesake_id,
        )


class ExplanationRead(BaseModel):
    id: UUID
    name: str
    status: Status
    why: str
    last_error: str | None
    index_is_being_put_back: bool
    run: OpenRunRead | None = Field(description="The one that is under way")
    hand_over: HandOverRead | None
    events: list[EventRead] | None = Field(description="Newest first; null if you may not read the audit trail")
    moves: list[MoveRead]
    next: list[str] = Field(description="What can be done, in sentences")

    @classmethod
    def of(cls, explained: Explanation) -> "ExplanationRead":
        facts, document = explained.facts, explained.facts.document
        return cls(
            id=document.id,
            name=document.name,
            status=Status(document.status),
            why=explained.why,
            last_error=document.last_error,
            index_is_being_put_back=facts.is_being_put_back,
            run=OpenRunRead.of(facts.run) if facts.run else None,
            hand_over=HandOverRead.of(document),
            events=None if facts.events is None else [EventRead.of(event) for event in facts.events],
            moves=[MoveRead.of(judgement) for judgement in explained.judgements],
            next=explained.next,
        )
