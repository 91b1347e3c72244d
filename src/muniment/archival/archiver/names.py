"""What things are called in Paperless (specs/archive-queue.md §3.3, §5)."""

from collections.abc import Mapping
from dataclasses import dataclass
from uuid import UUID

from muniment.archival.paperless.uploads import TITLE_CHARACTERS
from muniment.archival.sidecar import Sidecar

DOCUMENT_TYPES: Mapping[str, str] = {
    "invoice": "Invoice",
    "contract": "Contract",
    "care-plan": "Care plan",
    "incident-report": "Incident report",
    "onboarding": "Onboarding",
    "other": "Other",
}
_FIELD_CHARACTERS = 128


def correspondent_name(organization_id: UUID) -> str:
    return f"org-{organization_id}"


def organization_tag_name(organization_id: UUID) -> str:
    return f"org:{organization_id}"


def type_tag_name(document_type: str) -> str:
    return f"doc-type:{document_type}"


def document_type_name(document_type: str) -> str:
    """As people read it; a type that we do not know is called as its producer calls it."""
    return DOCUMENT_TYPES.get(document_type) or document_type.replace("-", " ").capitalize()


def document_title(sidecar: Sidecar) -> str:
    """`Invoice — Firma AS 2026-05-08`: what is too long is cut in the organization's name, not in the date."""
    before, after = f"{document_type_name(sidecar.document_type)} — ", f" {sidecar.timestamp.date().isoformat()}"
    name = " ".join(sidecar.organization_name.split())
    return before + name[: TITLE_CHARACTERS - len(before) - len(after)] + after


@dataclass(frozen=True)
class Label:
    """What the names of our own tags and fields begin with: `bilko` unless the settings say otherwise."""

    text: str = "bilko"

    @property
    def source_tag(self) -> str:
        return f"{self.text}-source"

    def content_tag(self, sha256: str) -> str:
        return f"{self.text}-source-uuid:{sha256}"

    @property
    def fields(self) -> tuple[str, str, str]:
        return (f"{self.text}_document_id", f"{self.text}_organization_id", f"{self.text}_sha256")

    def values(self, sidecar: Sidecar) -> dict[str, str]:
        """Of our custom fields."""
        values = (str(sidecar.bilko_document_id), str(sidecar.organization_id), sidecar.sha256)
        return {name: value[:_FIELD_CHARACTERS] for name, value in zip(self.fields, values, strict=True)}
