"""Types of audit events. Each concrete event writes out its action."""

from dataclasses import dataclass, field, fields
from typing import Any, ClassVar
from uuid import UUID


@dataclass(frozen=True)
class Event:
    """One recorded change. `kb_id` and `document_id` become columns; all other fields are the payload."""

    action: ClassVar[str]
    """Stored name of the event, by which users filter. It never changes, even if the class is renamed."""

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
    """Event of a document with the payload `{doc_id, kb_id, doc_name}` of docs/contracts.md#lifecycle-events."""

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
    action = "document_uploaded"
    revision: int
    file_size: int
    sha256: str


@dataclass(frozen=True)
class DocumentRenamed(DocumentEvent):
    """The document got another name, because an older one has a name that counts as the same since an upgrade."""

    action = "document_renamed"
    old_name: str
    reason: str


@dataclass(frozen=True)
class DocumentAutoCleared(DocumentEvent):
    action = "document_auto_cleared"
    uploader: UUID
    reason: str = "duplicate_upload"


@dataclass(frozen=True)
class DocumentArchived(DocumentEvent):
    action = "document_archived"


@dataclass(frozen=True)
class DocumentRestored(DocumentEvent):
    action = "document_restored"


@dataclass(frozen=True)
class DocumentPurged(DocumentEvent):
    action = "document_purged"


@dataclass(frozen=True)
class DocumentCleared(DocumentEvent):
    action = "document_cleared"
    reason: str


@dataclass(frozen=True)
class DocumentCancelled(DocumentEvent):
    action = "document_cancelled"
    before: str
    """Status before the cancellation."""


@dataclass(frozen=True)
class DocumentHandOverSkipped(DocumentEvent):
    """The policy of the knowledge base requests a hand-over, but only PDFs can be sent to Paperless."""

    action = "document_hand_over_skipped"

    media_type: str


@dataclass(frozen=True)
class DocumentHandOverCancelled(DocumentEvent):
    """The job was cancelled in the Paperless queue, so that the document can be purged."""

    action = "document_hand_over_cancelled"


@dataclass(frozen=True)
class HandoverEvent(Event):
    """Event of a hand-over: of a document in Muniment, or of one submitted by another application."""

    doc_id: UUID
    job_id: str

    @property
    def document_id(self) -> UUID:
        return self.doc_id


@dataclass(frozen=True)
class DocumentHandedOver(HandoverEvent):
    action = "document_handed_over"
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
class DocumentArchiveConfirmed(HandoverEvent):
    """The document was read back from Paperless and is identical."""

    action = "document_archive_confirmed"

    paperless_doc_id: int | None
    paperless_doc_url: str | None


@dataclass(frozen=True)
class DocumentArchiveFailed(HandoverEvent):
    """The hand-over failed and became a dead letter."""

    action = "document_archive_failed"

    retry_count: int


@dataclass(frozen=True)
class DeadLetterEvent(Event):
    """Event of a dead letter, recorded for each document of its job: it is part of the document's history."""

    job_id: str
    doc_id: UUID | None = None

    @property
    def document_id(self) -> UUID | None:
        return self.doc_id


@dataclass(frozen=True)
class DeadLetterRequeued(DeadLetterEvent):
    action = "dead_letter_requeued"


@dataclass(frozen=True)
class DeadLetterDiscarded(DeadLetterEvent):
    action = "dead_letter_discarded"


@dataclass(frozen=True)
class DeadLetterExpired(DeadLetterEvent):
    """A dead letter was deleted. Muniment still has the original, which can be handed over again."""

    action = "dead_letter_expired"


@dataclass(frozen=True)
class FailedHandOversHastened(Event):
    """Failed hand-overs were scheduled to be submitted again."""

    action = "failed_hand_overs_hastened"

    count: int


@dataclass(frozen=True)
class PaperlessObjectsNoted(Event):
    """The Paperless correspondent and tag of the organization were stored."""

    action = "paperless_objects_noted"

    paperless_correspondent_id: int
    paperless_org_tag_id: int


@dataclass(frozen=True)
class DocumentReplaced(Event):
    """The document got new content; payload as in docs/contracts.md#lifecycle-events, and the revisions."""

    action = "document_replaced"
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
    """The document went back to an earlier revision; names as in a replace."""

    action = "document_reverted"


@dataclass(frozen=True)
class DocumentRevertedAutomatically(DocumentReverted):
    """The document went back to an earlier revision because the new one could not be read."""

    action = "document_reverted"

    reason: str = "replacement_failed"


@dataclass(frozen=True)
class FailedReplacementDeleted(DocumentEvent):
    """The content of a failed replacement was deleted. The document stays as it was."""

    action = "failed_replacement_deleted"

    replacement_name: str
    revision: int
    reason: str
    """`requested` or `expired`."""


@dataclass(frozen=True)
class DocumentRetried(DocumentEvent):
    action = "document_retried"
    purpose: str
    """`first` or `reread`."""
    force: bool


@dataclass(frozen=True)
class DocumentAnnotated(DocumentEvent):
    """A part of the document was annotated. The event records where, not what."""

    action = "document_annotated"

    revision: int
    kind: str
    """Kind of the part: `page`, `paragraph` or `diagram`."""
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
    action = "knowledge_base_created"


@dataclass(frozen=True)
class KnowledgeBaseChanged(KnowledgeBaseEvent):
    action = "knowledge_base_changed"
    before: dict[str, Any]
    after: dict[str, Any]


@dataclass(frozen=True)
class KnowledgeBaseRemovalBegun(KnowledgeBaseEvent):
    """The deletion of a knowledge base and all its documents began; each document has its own event."""

    action = "knowledge_base_removal_begun"

    documents: int


@dataclass(frozen=True)
class KnowledgeBaseDeleted(KnowledgeBaseEvent):
    action = "knowledge_base_deleted"


@dataclass(frozen=True)
class MemberSet(KnowledgeBaseEvent):
    action = "member_set"
    user_id: UUID
    before: str | None
    """Previous role, or `None` for a new member."""
    role: str


@dataclass(frozen=True)
class MemberRemoved(KnowledgeBaseEvent):
    action = "member_removed"
    user_id: UUID
    before: str
    """Previous role."""


@dataclass(frozen=True)
class SignedIn(Event):
    action = "signed_in"
    by: str
    """Method: `password` or `link`."""


@dataclass(frozen=True)
class SignedOut(Event):
    action = "signed_out"


@dataclass(frozen=True)
class PasswordChanged(Event):
    action = "password_changed"
    user_id: UUID


@dataclass(frozen=True)
class SignInLinkCreated(Event):
    """A one-time sign-in link was created. The link itself is not recorded."""

    action = "sign_in_link_created"

    user_id: UUID
    expires_at: str


@dataclass(frozen=True)
class TokenCreated(Event):
    action = "token_created"
    token_id: UUID
    name: str
    expires_at: str


@dataclass(frozen=True)
class TokenRevoked(Event):
    action = "token_revoked"
    token_id: UUID
    name: str


@dataclass(frozen=True)
class OrganizationCreated(Event):
    action = "organization_created"
    id: UUID
    name: str


@dataclass(frozen=True)
class OrganizationRenamed(Event):
    action = "organization_renamed"
    id: UUID
    before: str
    after: str


@dataclass(frozen=True)
class UserCreated(Event):
    action = "user_created"
    user_id: UUID
    email: str
    is_admin: bool
    is_operator: bool


@dataclass(frozen=True)
class UserChanged(Event):
    action = "user_changed"
    user_id: UUID
    before: dict[str, Any] = field(default_factory=dict)
    after: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class ArtifactCollected(Event):
    """An artifact that no document references any more was deleted."""

    action = "artifact_collected"

    artifact_id: UUID
    was_shared: bool
    """Whether all organizations shared it. The event is then in the log of the organization it was collected for."""


@dataclass(frozen=True)
class SigningKeyChanged(Event):
    """The id of the new signing key; it concerns the installation and is in no organization's log."""

    action = "signing_key_changed"

    before: str | None
    after: str


@dataclass(frozen=True)
class SearchAsked(Event):
    """A search query, recorded only if the installation has it enabled."""

    action = "search_asked"

    query: str
    mode: str
    kb_ids: list[str]
    """Searched knowledge bases; empty for all that the user may see."""
    results: int
