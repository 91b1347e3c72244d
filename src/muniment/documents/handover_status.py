"""Status of a hand-over. Without SQLAlchemy: the archiver imports it and must not reach the database."""

from enum import StrEnum


class HandoverStatus(StrEnum):
    PENDING = "pending"
    """Waits for the archiver, or for being put into the queue."""
    ARCHIVED = "archived"
    """Proven to be in Paperless."""
    FAILED = "failed"
    """Could not be put into the queue, or is a dead letter."""
