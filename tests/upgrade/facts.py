"""Facts about a saved installation: accounts, contents, and what must be true after an upgrade."""

from pathlib import Path
from typing import Any, Self

from pydantic import BaseModel, ConfigDict

FILE, AUDIT_EXPORT = "facts.json", "audit.jsonl.xz"


class _Fact(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Account(_Fact):
    email: str
    password: str
    organization_id: str


class SavedDocument(_Fact):
    id: str
    kb_id: str
    name: str
    sha256: str
    words: str
    """A word that occurs in no other document of its organization."""
    question: str
    """A question that it answers in other words."""


class Annotation(_Fact):
    document_id: str
    kb_id: str
    page: int
    paragraph: int
    text: str
    annotations: dict[str, Any]


class FailedReplacement(_Fact):
    document: SavedDocument
    """Described as it is, with the content that it had before."""
    offered: dict[str, Any]
    """What the document said about the file that could not be read."""


class Facts(_Fact):
    version: str
    operator: Account
    """Administers the first organization and owns its knowledge base."""
    editor: Account
    viewer: Account
    editor_token: str
    """An API token, valid for ten years."""
    stranger: Account
    """Administers the second organization."""

    completed: tuple[SavedDocument, ...]
    """One per format."""
    annotation: Annotation
    archived_to_purge: SavedDocument
    archived_to_restore: SavedDocument
    failed: SavedDocument
    processing: SavedDocument
    pending: tuple[SavedDocument, ...]
    replaced: SavedDocument
    """Described as it will be after its new bytes are processed."""
    words_before_replacement: str
    foreign: SavedDocument
    """Of the second organization, with the same bytes as `completed[0]`."""

    handed_over: SavedDocument
    queued_jobs: tuple[str, ...]
    dead_letter: str

    public_key: str
    signed_seq: dict[str, int]
    """Number of the newest signed head, by chain."""
    receipts: tuple[dict[str, Any], ...]
    """As kept by the user who requested the deletion."""
    reading: dict[str, Any]
    """Input of the reading fingerprint of its artifacts."""

    # Since 0.2.0a2. The installations before it have none of these.
    foreign_pending: tuple[SavedDocument, ...] = ()
    """Of the second organization, with the same bytes as `pending`."""
    partial_pages: tuple[str, ...] = ()
    """Objects with the first pages of `processing`, stored before its worker was killed."""
    failed_replacement: FailedReplacement | None = None
    handover: dict[str, Any] | None = None
    """Hand-over of a document that Paperless refused once, with its history."""
    earlier_public_key: str | None = None
    """Signed the receipts and the first heads, before the key was rotated."""

    @classmethod
    def load(cls, folder: Path) -> Self:
        return cls.model_validate_json((folder / FILE).read_text(encoding="utf-8"))

    def save(self, folder: Path) -> None:
        (folder / FILE).write_text(self.model_dump_json(indent=2) + "\n", encoding="utf-8")
