from uuid import UUID

from pydantic import BaseModel

from muniment.documents.tables import Document, Status


class ReplacedRead(BaseModel):
    """A document whose new bytes are stored (specs/lifecycle.md)."""

    id: UUID
    name: str
    status: Status
    message: str

    @classmethod
    def of(cls, document: Document) -> "ReplacedRead":
        return cls(
            id=document.id,
            name=document.name,
            status=Status(document.status),
            message="Document replaced and queued for processing",
        )
