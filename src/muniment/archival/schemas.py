from pydantic import BaseModel

from muniment.archival.hand_over import HandedOver
from muniment.archival.tables import ArchiveStatus


class HandedOverRead(BaseModel):
    job_id: str
    archive_status: ArchiveStatus

    @classmethod
    def of(cls, handed_over: HandedOver) -> "HandedOverRead":
        return cls(job_id=handed_over.job_id, archive_status=handed_over.status)


class QueueFailureBody(BaseModel):
    error: str
    code: str
