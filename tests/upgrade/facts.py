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

    @classmethod
    def load(cls, folder: Path) -> Self:
        return cls.model_validate_json((folder / FILE).read_text(encoding="utf-8"))

    def save(self, folder: Path) -> None:
        (folder / FILE).write_text(self.model_dump_json(indent=2) + "\n", encoding="utf-8")
