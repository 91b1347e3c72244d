"""What people read about a document in Paperless: its title, from a template, and its custom fields.

The settings validate a template and the names of fields here, so that this module imports nothing of the archiver.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from muniment.handover.sidecar import Sidecar

DEFAULT_TITLE = "{type} — {organization} {date}"
TITLE_PLACEHOLDERS = ("type", "organization", "date", "number", "name")
_PLACEHOLDER = re.compile(r"\{([a-z]*)\}")
_SHORTENED = ("organization", "name")
"""Values that are cut if the title is too long."""
_DANGLING = " —–-,;:·"
"""Characters that are removed from the ends of a title, where a value was empty."""
_MAX_FIELD_CHARACTERS = 128


def validate_title(template: str) -> None:
    """Raise `ValueError` if the template has an unknown placeholder or no text at all."""
    names = _PLACEHOLDER.findall(template)
    if unknown := [name for name in names if name not in TITLE_PLACEHOLDERS]:
        raise ValueError(f"unknown placeholder {{{unknown[0]}}}. Known are {', '.join(TITLE_PLACEHOLDERS)}")
    if set("{}") & set(_PLACEHOLDER.sub("", template)):
        raise ValueError("a brace without its counterpart")
    if not template.strip():
        raise ValueError("must not be empty")


def document_number(sidecar: Sidecar) -> str | None:
    return sidecar.invoice_number or sidecar.contract_id


def render_title(template: str, sidecar: Sidecar, *, type_name: str, max_characters: int) -> str:
    """Return a title such as `Invoice — Firma AS 2026-05-08`. If it is too long, organization and name are cut."""
    values = {
        "type": type_name,
        "organization": sidecar.organization_name,
        "date": sidecar.timestamp.date().isoformat(),
        "number": document_number(sidecar) or "",
        "name": (sidecar.document_name or "").removesuffix(".pdf"),
    }
    values = {name: " ".join(value.split()) for name, value in values.items()}
    title = _fill_in(template, values)
    for name in sorted(_SHORTENED, key=lambda name: -len(values[name])):
        excess = len(title) - max_characters
        if excess > 0:
            values[name] = values[name][: max(0, len(values[name]) - excess)]
            title = _fill_in(template, values)
    return title[:max_characters] or type_name


def _fill_in(template: str, values: Mapping[str, str]) -> str:
    return " ".join(_PLACEHOLDER.sub(lambda match: values[match[1]], template).split()).strip(_DANGLING)


class FieldContent(StrEnum):
    """Content of a custom field. The values are keys of MUNIMENT_PAPERLESS_CUSTOM_FIELDS and parts of default names."""

    DOCUMENT_ID = "document_id"
    ORGANIZATION_ID = "organization_id"
    SHA256 = "sha256"
    FILE_NAME = "file_name"
    NUMBER = "number"


_MAPPED = (FieldContent.DOCUMENT_ID, FieldContent.FILE_NAME, FieldContent.NUMBER)
_REQUIRED = (FieldContent.DOCUMENT_ID,)


def validate_field_names(names: Mapping[str, str]) -> None:
    """Raise `ValueError` if the settings name an unknown content, the same field twice, or omit the document's id."""
    if unknown := [content for content in names if content not in _MAPPED]:
        raise ValueError(f"unknown content {unknown[0]}. Known are {', '.join(_MAPPED)}")
    if any(not names.get(content, "default") for content in _REQUIRED):
        raise ValueError(f"{FieldContent.DOCUMENT_ID} must have a field")
    used = [name for name in names.values() if name]
    if len(used) != len(set(used)):
        raise ValueError("two kinds of content have the same field")


@dataclass(frozen=True)
class DocumentDescription:
    """Title template and names of custom fields, as the settings have them."""

    title: str = DEFAULT_TITLE
    field_names: Mapping[str, str] = field(default_factory=dict)
    """Names by content, where they differ from the default. An empty name leaves the field out."""

    def all_field_names(self, prefix: str) -> list[str]:
        return [name for content in FieldContent if (name := self._field_name(prefix, content))]

    def field_values(self, prefix: str, sidecar: Sidecar) -> dict[str, str]:
        """Return the values of the custom fields by name, without those that are unknown."""
        values = {
            FieldContent.DOCUMENT_ID: str(sidecar.bilko_document_id),
            FieldContent.ORGANIZATION_ID: str(sidecar.organization_id),
            FieldContent.SHA256: sidecar.sha256,
            FieldContent.FILE_NAME: sidecar.document_name,
            FieldContent.NUMBER: document_number(sidecar),
        }
        return {
            name: value[:_MAX_FIELD_CHARACTERS]
            for content, value in values.items()
            if value and (name := self._field_name(prefix, content))
        }

    def _field_name(self, prefix: str, content: FieldContent) -> str:
        return self.field_names.get(content, f"{prefix}_{content}")
