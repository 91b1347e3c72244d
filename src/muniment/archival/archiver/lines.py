"""What the archiver writes into the log, with the fields of specs/archive-queue.md §8.4."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

import structlog

from muniment.archival.archiver.objects import Ids
from muniment.archival.keys import JobKey
from muniment.archival.paperless.values import PaperlessDocument
from muniment.archival.sidecar import Sidecar

log = structlog.get_logger()

_ERROR_CHARACTERS = 500


@dataclass(frozen=True)
class JobLine:
    """One line for what became of a job in a pass."""

    key: JobKey
    action: str
    """`archived`, `closed`, `waiting`, `left`, `failed`, `dead_letter`, `orphan`."""
    sidecar: Sidecar | None = None
    started_at: datetime | None = None
    paperless_doc_id: int | None = None
    error: str | None = None

    def write(self, now: datetime) -> None:
        level, severity = _LEVELS.get(self.action, ("info", "INFO"))
        getattr(log, level)(
            "archive.job",
            severity=severity,
            r2Key=self.key.pdf,
            organizationId=str(self.key.organization_id),
            documentType=self.key.document_type,
            bilkoDocumentId=str(self.sidecar.bilko_document_id) if self.sidecar else None,
            action=self.action,
            retryCount=self.sidecar.retry_count if self.sidecar else None,
            durationMs=round((now - self.started_at).total_seconds() * 1000) if self.started_at else None,
            paperlessDocId=self.paperless_doc_id,
            error=self.error[:_ERROR_CHARACTERS] if self.error else None,
        )


_LEVELS = {"failed": ("warning", "WARNING"), "orphan": ("warning", "WARNING"), "dead_letter": ("error", "ERROR")}


def report_added_tags(key: JobKey, document: PaperlessDocument, ids: Ids) -> None:
    """What Paperless's own rules put on a document stays there."""
    if added := sorted(document.tags - ids.tags):
        log.info("archive.tags_added_by_paperless", r2Key=key.pdf, paperlessDocId=document.id, tagIds=added)


def report_doubles(key: JobKey, kept: int, others: Sequence[int]) -> str:
    """The sentence for people, too."""
    log.warning("archive.doubles", severity="WARNING", r2Key=key.pdf, paperlessDocId=kept, doubles=list(others))
    listed = ", ".join(map(str, others))
    return f"Paperless had one document more than once: {kept} stays, see also {listed} ({key.pdf})"
