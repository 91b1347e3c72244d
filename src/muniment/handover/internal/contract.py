"""Bodies of `/internal/v1`, the contract between the API and the archiver."""

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated
from uuid import UUID

from pydantic import AwareDatetime, BaseModel, Field, StringConstraints

from muniment.documents.handover_status import HandoverStatus
from muniment.errors import Invalid
from muniment.handover.job_key import JobKey

DatabaseId = Annotated[int, Field(ge=1, le=2**31 - 1)]


BoundedText = Annotated[str, StringConstraints(max_length=4000, pattern=r"^[^\x00]*$")]


class KeyOrganizationMismatch(Invalid):
    """r2_object_key is not a key of this organization"""


@dataclass(frozen=True)
class JobStatusUpdate:
    """What the archiver says of a job."""

    status: HandoverStatus
    paperless_doc_id: int | None = None
    paperless_doc_url: str | None = None
    archived_at: datetime | None = None
    retry_count: int = 0
    last_error: str | None = None


class JobStatusUpdateBody(BaseModel):
    organization_id: UUID
    r2_object_key: BoundedText
    archive_status: HandoverStatus
    paperless_doc_id: DatabaseId | None = None
    paperless_doc_url: BoundedText | None = None
    archived_at: AwareDatetime | None = None
    retry_count: Annotated[int, Field(ge=0, le=2**31 - 1)] = 0
    last_error: BoundedText | None = None

    @property
    def key(self) -> JobKey:
        key = JobKey.parse(self.r2_object_key)
        if key is None or key.organization_id != self.organization_id:
            raise KeyOrganizationMismatch
        return key

    @property
    def status_update(self) -> JobStatusUpdate:
        return JobStatusUpdate(
            self.archive_status,
            self.paperless_doc_id,
            self.paperless_doc_url,
            self.archived_at,
            self.retry_count,
            self.last_error,
        )


class OrganizationIdsBody(BaseModel):
    paperless_correspondent_id: DatabaseId
    paperless_org_tag_id: DatabaseId


class RequeuedFailedRead(BaseModel):
    requeued: int
