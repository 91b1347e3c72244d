"""Filters of a search by properties of the documents: one SQL condition, which both halves of search apply."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from types import MappingProxyType
from typing import Any
from uuid import UUID

from muniment.documents.media_types.types import (
    BMP,
    DOCX,
    EML,
    GIF,
    HTML,
    JPEG,
    MARKDOWN,
    ODT,
    PDF,
    PNG,
    PPTX,
    RTF,
    TEXT,
    TIFF,
    WEBP,
    XLSX,
)
from muniment.documents.tables import Document
from muniment.storage.vectors.port import DocumentCondition


class FileFormat(StrEnum):
    """A group of file types. The values appear in the API."""

    PDF = "pdf"
    OFFICE = "office"
    IMAGE = "image"
    TEXT = "text"
    MAIL = "mail"


_TYPES = {
    FileFormat.PDF: (PDF,),
    FileFormat.OFFICE: (DOCX, PPTX, XLSX, ODT, RTF),
    FileFormat.IMAGE: (PNG, JPEG, TIFF, WEBP, GIF, BMP),
    FileFormat.TEXT: (TEXT, MARKDOWN, HTML),
    FileFormat.MAIL: (EML,),
}

MEDIA_TYPES: Mapping[FileFormat, Sequence[str]] = MappingProxyType(
    {name: tuple(one.media_type for one in types) for name, types in _TYPES.items()}
)
"""Media types of each format. Every supported type belongs to one of them."""

_AND = "AND {column} IN (SELECT id FROM {table} WHERE {conditions})"


# Read under the row level security of the caller, like every other query for documents.
_CONDITIONS = {
    "added_from": "created_at >= :added_from",
    "added_before": "created_at < :added_before",
    "uploaded_by": "uploaded_by = ANY (CAST(:uploaded_by AS uuid[]))",
    "media_types": "media_type = ANY (CAST(:media_types AS text[]))",
}


@dataclass(frozen=True)
class SearchFilters:
    """Properties that a document must have. Values of one filter are alternatives, and all filters must hold."""

    added_from: datetime | None = None
    added_before: datetime | None = None
    """The first moment that is too late."""
    uploaded_by: Sequence[UUID] = ()
    formats: Sequence[FileFormat] = ()

    @property
    def is_active(self) -> bool:
        return bool(self.parameters)

    @property
    def parameters(self) -> dict[str, Any]:
        """The parameters of the condition: those of active filters only."""
        return {name: value for name, value in self.all_parameters.items() if value is not None}

    @property
    def all_parameters(self) -> dict[str, Any]:
        """The parameters of all filters, as the functions of lexical search take them: `None` for an inactive one."""
        media_types = [media_type for name in self.formats for media_type in MEDIA_TYPES[name]]
        return {
            "added_from": self.added_from,
            "added_before": self.added_before,
            "uploaded_by": list(self.uploaded_by) or None,
            "media_types": media_types or None,
        }

    def and_condition(self, document_id: str = "p.document_id") -> str:
        """Return the condition on a column of document ids, with a leading `AND`, or nothing without an active filter.

        It is left out rather than made true, so that searches without filters keep their plans.
        """
        conditions = " AND ".join(_CONDITIONS[name] for name in self.parameters)
        return _AND.format(column=document_id, table=Document.__table__, conditions=conditions) if conditions else ""

    @property
    def document_condition(self) -> DocumentCondition | None:
        """The condition for a vector engine inside PostgreSQL."""
        return DocumentCondition(self.and_condition("document_id"), self.parameters) if self.is_active else None


NO_FILTERS = SearchFilters()
