"""Status of a hand-over to Paperless.

This module does without SQLAlchemy, because the archiver imports it and must not reach the database.
"""

from enum import StrEnum


class HandoverStatus(StrEnum):
    """Status of a hand-over. The values are stored and appear in the API as `archive_status`."""

    PENDING = "pending"
    """Waiting to be queued, or for the archiver."""
    ARCHIVED = "archived"
    """Verified to be in Paperless."""
    FAILED = "failed"
    """Not queued because of an error, or a dead letter."""
