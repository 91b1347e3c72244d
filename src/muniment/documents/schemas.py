"""Request and response bodies of documents."""

from datetime import datetime
from typing import Any
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field

from muniment.documents.quotas import Quotas, StorageUsage
from muniment.documents.repository import PassageCount
from muniment.documents.tables import Document, DocumentType, Revision, Status

PENDING_DETAIL = "Stored and waiting to be processed."
PROCESSING_DETAIL = "Processing."


class FailedReplacementRead(BaseModel):
    """A replacement that could not be read. The document was reverted to its previous version."""

    name: str
    error: str = Field(description="The reason in a sentence")
    code: str
    at: datetime
    expires_at: datetime = Field(description="When the file that could not be read is deleted")

    @classmethod
    def of(cls, revision: Revision | None) -> "FailedReplacementRead | None":
        if revision is None or revision.failure is None or revision.expires_at is None:
            return None
        failure = revision.failure
        return cls(
            name=revision.name,
            error=failure["message"],
            code=failure["code"],
            at=failure["at"],
            expires_at=revision.expires_at,
        )


class DocumentRead(BaseModel):
    model_config = ConfigDict(from_attributes=True)

    id: UUID
    kb_id: UUID
    name: str
    status: Status
    status_detail: str | None = Field(description="The current status in a sentence")
    document_type: DocumentType
    media_type: str
    file_size: int
    sha256: str
    revision: int
    uploaded_by: UUID
    uploaded_by_email: str | None = Field(None, description="Only in responses to reads, not to changes")
    processing_status: str | None
    processing_started_at: datetime | None
    processing_completed_at: datetime | None
    passages: int | None = Field(
        None, description="Passages that search finds. Only in responses to reads, not to changes"
    )
    passages_embedded: int | None = Field(
        None, description="Those of them that search by meaning can compare. Only in responses to reads"
    )
    total_pages: int | None
    total_word_count: int | None
    text_extraction_method: str | None
    last_error: str | None
    created_at: datetime
    updated_at: datetime
    completed_at: datetime | None
    archived_at: datetime | None
    archive_status: str | None = Field(description="Hand-over to Paperless: pending, archived or failed")
    handed_over_at: datetime | None
    paperless_doc_url: str | None
    failed_replacement: FailedReplacementRead | None = Field(
        description="The last replacement, if it failed because of its file and was reverted automatically"
    )

    @classmethod
    def of(
        cls, document: Document, uploader: str | None = None, failed_replacement: Revision | None = None
    ) -> "DocumentRead":
        failed = FailedReplacementRead.of(failed_replacement)
        return cls(**_columns(document), uploaded_by_email=uploader, failed_replacement=failed)

    def with_passages(self, count: PassageCount) -> "DocumentRead":
        """Add how far the document is indexed, from which its processing status is derived."""
        return self.model_copy(
            update={
                "processing_status": count.derive_processing_status(self.processing_status),
                "passages": count.passages,
                "passages_embedded": count.passages_embedded,
            }
        )


class DocumentCreated(DocumentRead):
    pass


class DocumentCreatedAfterAutoClear(DocumentRead):
    """The answer when a failed upload of the same name made way (docs/contracts.md#duplicates)."""

    auto_cleared_document_id: UUID
    message: str

    @classmethod
    def after_auto_clear(cls, document: Document, cleared_id: UUID) -> "DocumentCreatedAfterAutoClear":
        return cls(
            **_columns(document),
            failed_replacement=None,
            auto_cleared_document_id=cleared_id,
            message="Previous failed upload was automatically cleared",
        )


class DuplicateBody(BaseModel):
    """409: the name belongs to another document (docs/contracts.md#duplicates)."""

    error: str
    existing_document_id: UUID
    existing_status: Status
    message: str


def _columns(document: Document) -> dict[str, object]:
    others = {"status_detail", "uploaded_by_email", "failed_replacement", "passages", "passages_embedded"}
    own = set(DocumentRead.model_fields) - others
    return {**{name: getattr(document, name) for name in own}, "status_detail": _status_detail(document)}


def _status_detail(document: Document) -> str | None:
    waiting = {Status.PENDING: PENDING_DETAIL, Status.PROCESSING: PROCESSING_DETAIL}
    return waiting.get(Status(document.status), document.last_error)


class UploadResult(BaseModel):
    """What became of one file of a request with several files."""

    name: str = Field(description="As the client sent it")
    status: int = Field(description="The status with which an upload of this file alone would have been answered")
    body: dict[str, Any] = Field(
        description="The body with which an upload of this file alone would have been answered"
    )


class UploadResults(BaseModel):
    """The answer to an upload of several files, in the order of the files.

    If the request could not be read to its end, the last result says why, and there are none for the files after it.
    """

    results: list[UploadResult]


class QuotaBody(BaseModel):
    """The answer when a quota of the organization is exceeded (docs/design.md#quotas)."""

    detail: str
    code: str


class QuotaUse(BaseModel):
    used: int
    limit: int | None = Field(description="Null for no limit")


class UsageRead(BaseModel):
    """What an organization uses of its quotas."""

    bytes: QuotaUse = Field(description="All stored files. Replacements in progress count only once")
    documents: QuotaUse = Field(description="All documents, including archived and failed ones")
    queued_runs: QuotaUse = Field(description="Documents that wait to be processed")

    @classmethod
    def of(cls, storage: StorageUsage, queued_runs: int, quotas: Quotas) -> "UsageRead":
        return cls(
            bytes=QuotaUse(used=storage.used_bytes, limit=quotas.max_bytes or None),
            documents=QuotaUse(used=storage.documents, limit=quotas.max_documents or None),
            queued_runs=QuotaUse(used=queued_runs, limit=quotas.max_queued_runs or None),
        )
