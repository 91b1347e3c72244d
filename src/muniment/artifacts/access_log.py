"""Log every read of an artifact on behalf of a user."""

from enum import StrEnum
from uuid import UUID

import structlog

from muniment.storage.db.principal import Principal

log = structlog.get_logger()


class ArtifactContent(StrEnum):
    """Part of an artifact that is read."""

    PAGE = "page"
    PARAGRAPHS = "paragraphs"
    DIAGRAMS = "diagrams"
    TEXT = "text"
    SUMMARY = "summary"
    IMAGE = "image"
    SEARCH = "search"


def log_artifact_read(
    principal: Principal, document_id: UUID, content: ArtifactContent, *, page: int | None = None
) -> None:
    """Log that a user reads this content of the artifact that a document shows."""
    ids = {"user_id": str(principal.user_id), "document_id": str(document_id)}
    log.info("artifacts.read", **ids, kind=str(content), page=page)
