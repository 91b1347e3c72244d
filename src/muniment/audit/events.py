"""What is worth remembering, as types. The name of the class in snake case is the action that people read."""

import re
from dataclasses import dataclass, field, fields
from typing import Any
from uuid import UUID


@dataclass(frozen=True)
class Event:
    """One thing that was done. `kb_id` and `document_id` become columns; everything else is the payload."""

    @property
    def action(self) -> str:
        return re.sub(r"(?<!^)(?=[A-Z])", "_", type(self).__name__).lower()

    @property
    def kb_id(self) -> UUID | None:
        return None

    @property
    def document_id(self) -> UUID | None:
        return None

    @property
    def payload(self) -> dict[str, Any]:
        return {item.name: _plain(getattr(self, item.name)) for item in fields(self)}


def _plain(value: Any) -> Any:
    return str(value) if isinstance(value, UUID) else value


@dataclass(frozen=True)
class DocumentEvent(Event):
    """The payload that the lifecycle specification gives every move: `{doc_id, kb_id, doc_name}`."""

    doc_id: UUID
    doc_kb_id: UUID
    doc_name: str

    @property
    def kb_id(self) -> UUID:
        return self.doc_kb_id

    @property
    def document_id(self) -> UUID:
        return self.doc_id

    @property
    def payload(self) -> dict[str, Any]:
        plain = super().payload
        return {"kb_id": plain.pop("doc_kb_id"), **plain}


@dataclass(frozen=True)
class DocumentUploaded(DocumentEvent):
    revision: int
    file_size: int
    sha256: str


@dataclass(frozen=True)
class DocumentAutoCleared(DocumentEvent):
    uploader: UUID
    reason: str = "duplicate_upload"


@dataclass(frozen=True)
class DocumentArchived(DocumentEvent):
    pass


@dataclass(frozen=True)
class DocumentRestored(DocumentEvent):
    pass


@dataclass(frozen=True)
class DocumentPurged(DocumentEvent):
    pass


@dataclass(frozen=True)
class DocumentCleared(DocumentEvent):
    reason: str


@dataclass(frozen=True)
class DocumentCancelled(DocumentEvent):
    before: str
    """Its status."""


@dataclass(frozen=True)
class DocumentHandOverSkipped(DocumentEvent):
    """The policy of its knowledge base asks for it, and the archive takes PDFs alone."""

    media_type: str


@dataclass(frozen=True)
class DocumentHandOverCancelled(DocumentEvent):
    """Taken back out of the archive queue, to be purged."""


@dataclass(frozen=True)
class ArchiveEvent(Event):
    """Of a document on its way to the archive: one of ours, or one that another application handed over."""

    doc_id: UUID
    job_id: str

    @property
    def document_id(self) -> UUID:
        return self.doc_id


@dataclass(frozen=True)
class DocumentHandedOver(ArchiveEvent):
    document_type: str
    sha256: str
    doc_kb_id: UUID | None = None

    @property
    def kb_id(self) -> UUID | None:
        return self.doc_kb_id

    @property
    def payload(self) -> dict[str, Any]:
        plain = super().payload
        return {"kb_id": plain.pop("doc_kb_id"), **plain}


@dataclass(frozen=True)
class DocumentArchiveConfirmed(ArchiveEvent):
    """Read back from Paperless and found to be the same."""

    paperless_doc_id: int | None
    paperless_doc_url: str | None


@dataclass(frozen=True)
class DocumentArchiveFailed(ArchiveEvent):
    """It is a dead letter."""

    retry_count: int


@dataclass(frozen=True)
class DeadLetterRequeued(Event):
    job_id: str


@dataclass(frozen=True)
class DeadLetterDiscarded(Event):
    job_id: str


@dataclass(frozen=True)
class DeadLetterExpired(Event):
    """Muniment still holds the original, which can be handed over again."""

    job_id: str


@dataclass(frozen=True)
class FailedHandOversHastened(Event):
    """They are handed over again."""

    count: int


@dataclass(frozen=True)
class PaperlessObjectsNoted(Event):
    """Which correspondent and tag of Paperless stand for the organization."""

    paperless_correspondent_id: int
    paperless_org_tag_id: int


@dataclass(frozen=True)
class DocumentReplaced(Event):
    """The payload that the lifecycle specification gives: `{doc_id, kb_id, old_name, new_name}`, and the revisions."""

    doc_id: UUID
    doc_kb_id: UUID
    old_name: str
    new_name: str
    old_revision: int
    new_revision: int
    file_size: int
    sha256: str

    @property
    def kb_id(self) -> UUID:
        return self.doc_kb_id

    @property
    def document_id(self) -> UUID:
        return self.doc_id

    @property
    def payload(self) -> dict[str, Any]:
        plain = super().payload
        return {"kb_id": plain.pop("doc_kb_id"), **plain}


@dataclass(frozen=True)
class DocumentReverted(DocumentReplaced):
    """An earlier revision came back; named as in a replace."""


@dataclass(frozen=True)
class DocumentRetried(DocumentEvent):
    purpose: str
    """`first` or `reread`."""
    force: bool


@dataclass(frozen=True)
class DocumentAnnotated(DocumentEvent):
    """Where somebody wrote, not what."""

    revision: int
    kind: str
    """`page`, `paragraph` or `diagram`."""
    place: dict[str, Any]
    fields: list[str]


@dataclass(frozen=True)
class KnowledgeBaseEvent(Event):
    knowledge_base_id: UUID
    name: str

    @property
    def kb_id(self) -> UUID:
        return self.knowledge_base_id


@dataclass(frozen=True)
class KnowledgeBaseCreated(KnowledgeBaseEvent):
    pass


@dataclass(frozen=True)
class KnowledgeBaseChanged(KnowledgeBaseEvent):
    before: dict[str, Any]
    after: dict[str, Any]


@dataclass(frozen=True)
class KnowledgeBaseRemovalBegun(KnowledgeBaseEvent):
    """With all its documents, each of which leaves a line of its own."""

    documents: int


@dataclass(frozen=True)
class KnowledgeBaseDeleted(KnowledgeBaseEvent):
    pass


@dataclass(frozen=True)
class MemberSet(KnowledgeBaseEvent):
    user_id: UUID
    before: str | None
    """Their role; none for who was no member."""
    role: str


@dataclass(frozen=True)
class MemberRemoved(KnowledgeBaseEvent):
    user_id: UUID
    before: str
    """Their role."""


@dataclass(frozen=True)
class SignedIn(Event):
    by: str
    """`password` or `link`."""


@dataclass(frozen=True)
class SignedOut(Event):
    pass


@dataclass(frozen=True)
class PasswordChanged(Event):
    user_id: UUID


@dataclass(frozen=True)
class SignInLinkCreated(Event):
    """A way in for who has no password; the link itself stands nowhere."""

    user_id: UUID
    expires_at: str


@dataclass(frozen=True)
class TokenCreated(Event):
    token_id: UUID
    name: str
    expires_at: str


@dataclass(frozen=True)
class TokenRevoked(Event):
    token_id: UUID
    name: str


@dataclass(frozen=True)
class OrganizationCreated(Event):
    id: UUID
    name: str


@dataclass(frozen=True)
class OrganizationRenamed(Event):
    id: UUID
    before: str
    after: str


@dataclass(frozen=True)
class UserCreated(Event):
    user_id: UUID
    email: str
    is_admin: bool
    is_operator: bool


@dataclass(frozen=True)
class UserChanged(Event):
    user_id: UUID
    before: dict[str, Any] = field(default_factory=dict)
    after: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class ArtifactCollected(Event):
    """What was read from bytes that no document shows any more was removed."""

    artifact_id: UUID
    was_shared: bool
    """By all organizations: then this stands in the trail of the one in whose name it was cleared up."""


@dataclass(frozen=True)
class SigningKeyChanged(Event):
    """Which key signs from here on, by its id; for the whole installation, so in no organization's trail."""

    before: str | None
    after: str


@dataclass(frozen=True)
class SearchAsked(Event):
    """Only where an installation wants to know what people look for."""

    query: str
    mode: str
    kb_ids: list[str]
    """Empty: all that they may see."""
    results: int
