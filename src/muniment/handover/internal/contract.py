"""Bodies of `/internal/v1`, the contract between the API and the archiver."""

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated
from uuid import UUID

from pydantic import AwareDatetime, BaseModel, Field, StringConstraints

from muniment.documents.handover_status import ArchiveStatus
from muniment.errors import Invalid
from muniment.handover.job_key import JobKey

Id = Annotated[int, Field(ge=1, le=2**31 - 1)]


Text = Annotated[str, StringConstraints(max_length=4000, pattern=r"^[^\x00]*$")]


class NotItsKey(Invalid):
    """r2_object_key is not a key of this organization"""


@dataclass(frozen=True)
class Outcome:
    """What the archiver says of a job."""

    status: ArchiveStatus
    paperless_doc_id: int | None = None
    paperless_doc_url: str | None = None
    archived_at: datetime | None = None
    retry_count: int = 0
    last_error: str | None = None


class ArchiveAuditPatch(BaseModel):
    organization_id: UUID
    r2_object_key: Text
    archive_status: ArchiveStatus
    paperless_doc_id: Id | None = None
    paperless_doc_url: Text | None = None
    archived_at: AwareDatetime | None = None
    retry_count: Annotated[int, Field(ge=0, le=2**31 - 1)] = 0
    last_error: Text | None = None

    @property
    def key(self) -> JobKey:
        key = JobKey.parse(self.r2_object_key)
        if key is None or key.organization_id != self.organization_id:
            raise NotItsKey
        return key

    @property
    def outcome(self) -> Outcome:
        return Outcome(
            self.archive_status,
            self.paperless_doc_id,
            self.paperless_doc_url,
            self.archived_at,
            self.retry_count,
            self.last_error,
        )


class PaperlessCacheBody(BaseModel):
    paperless_correspondent_id: Id
    paperless_org_tag_id: Id


class RequeuedFailedRead(BaseModel):
    requeued: int
