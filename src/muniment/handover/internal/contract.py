"""Bodies of `/internal/v1`, the contract between the API and the archiver. Both ends use these classes."""

from typing import Annotated, Self
from uuid import UUID

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, StringConstraints

from muniment.documents.handover_status import HandoverStatus
from muniment.errors import Invalid
from muniment.handover.job_key import JobKey

ORGANIZATION_NOT_FOUND, DEAD_LETTER_NOT_FOUND = "OrganizationNotFound", "DeadLetterNotFound"
"""Codes in the body of a 404, beside `detail`."""

_MAX_ERROR_CHARACTERS = 1000

DatabaseId = Annotated[int, Field(ge=1, le=2**31 - 1)]
BoundedText = Annotated[str, StringConstraints(max_length=4000, pattern=r"^[^\x00]*$")]


class KeyOrganizationMismatch(Invalid):
    """r2_object_key is not a key of this organization"""


class JobStatusUpdate(BaseModel):
    """Status of a job as the archiver reports it. The fields are columns of `archive_audit_log`."""

    model_config = ConfigDict(frozen=True)

    organization_id: UUID
    r2_object_key: BoundedText
    archive_status: HandoverStatus
    paperless_doc_id: DatabaseId | None = None
    paperless_doc_url: BoundedText | None = None
    archived_at: AwareDatetime | None = None
    retry_count: Annotated[int, Field(ge=0, le=2**31 - 1)] = 0
    last_error: BoundedText | None = None

    @classmethod
    def pending(cls, key: JobKey, *, retry_count: int, error: str | None) -> Self:
        return cls._unarchived(key, HandoverStatus.PENDING, retry_count, error)

    @classmethod
    def failed(cls, key: JobKey, *, retry_count: int, error: str | None) -> Self:
        return cls._unarchived(key, HandoverStatus.FAILED, retry_count, error)

    @classmethod
    def archived(cls, key: JobKey, *, retry_count: int, document_id: int, url: str, at: AwareDatetime) -> Self:
        return cls(
            organization_id=key.organization_id,
            r2_object_key=key.pdf,
            archive_status=HandoverStatus.ARCHIVED,
            paperless_doc_id=document_id,
            paperless_doc_url=url,
            archived_at=at,
            retry_count=retry_count,
        )

    @property
    def key(self) -> JobKey:
        """Return the key of the job, or raise `KeyOrganizationMismatch`."""
        key = JobKey.parse(self.r2_object_key)
        if key is None or key.organization_id != self.organization_id:
            raise KeyOrganizationMismatch
        return key

    @classmethod
    def _unarchived(cls, key: JobKey, status: HandoverStatus, retry_count: int, error: str | None) -> Self:
        return cls(
            organization_id=key.organization_id,
            r2_object_key=key.pdf,
            archive_status=status,
            retry_count=retry_count,
            last_error=None if error is None else _storable(error[:_MAX_ERROR_CHARACTERS]),
        )


def _storable(text: str) -> str:
    """Replace what PostgreSQL cannot store: the error may quote any response of Paperless."""
    return text.encode(errors="replace").decode().replace("\0", "?")


class OrganizationIds(BaseModel):
    """Paperless ids of an organization. The fields are columns of `org_paperless_cache`."""

    model_config = ConfigDict(frozen=True, from_attributes=True)

    paperless_correspondent_id: DatabaseId
    paperless_org_tag_id: DatabaseId


class ConfirmedDocuments(BaseModel):
    """Paperless documents that records of an organization name as the archived copy of one content."""

    paperless_doc_ids: list[DatabaseId]


class RequeuedFailedRead(BaseModel):
    requeued: int
