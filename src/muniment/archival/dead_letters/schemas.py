from datetime import datetime
from uuid import UUID

from pydantic import BaseModel

from muniment.archival.dead_letters.jobs import DescribedJob
from muniment.archival.keys import underscored


class ArchiveJobRead(BaseModel):
    """One job, for operators: no name, no text, nothing that its document says."""

    key: str
    organization_id: UUID
    document_type: str
    sha256: str
    document_id: UUID | None
    since: datetime
    size_bytes: int | None
    retry_count: int | None
    last_attempt_at: datetime | None
    last_error: str | None
    problem: str | None
    """What is missing of it or cannot be read."""

    @classmethod
    def of(cls, described: DescribedJob) -> "ArchiveJobRead":
        job, sidecar = described.job, described.sidecar
        return cls(
            key=job.key.pdf,
            organization_id=job.key.organization_id,
            document_type=underscored(job.key.document_type),
            sha256=job.key.sha256,
            document_id=sidecar.bilko_document_id if sidecar else None,
            since=job.since,
            size_bytes=job.pdf.size_bytes if job.pdf else None,
            retry_count=sidecar.retry_count if sidecar else None,
            last_attempt_at=sidecar.last_attempt_at if sidecar else None,
            last_error=sidecar.last_error if sidecar else None,
            problem=described.problem,
        )


class RequeuedRead(BaseModel):
    job_id: str
    message: str = "It waits in the queue again"
