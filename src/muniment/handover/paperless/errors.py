"""Errors of a call to Paperless, as one tree.

PaperlessError
├─ PaperlessMisconfigured     no call can succeed before a person acts; no document is at fault
│  └─ PaperlessForbidden      the user of the token lacks a permission
├─ DocumentForbidden          this token may not access this document
├─ RateLimited                wait; carries the seconds if Paperless named them
├─ OutcomeUnknown             it may or may not have happened: check before trying again
│  ├─ TaskStatusUnknown       the state of an upload's task could not be read: the upload is in progress
│  └─ PaperlessDocumentGone   the document no longer exists
├─ StaleObjectId              an id that was sent does not exist (any more)
└─ RequestRejected            this file or its metadata will never be accepted
"""

from collections.abc import Iterable
from enum import StrEnum

from muniment.errors import MunimentError


class PaperlessKind(StrEnum):
    """Kind of an object in Paperless. The value is its path in the API."""

    TAG = "tags"
    CORRESPONDENT = "correspondents"
    DOCUMENT_TYPE = "document_types"
    CUSTOM_FIELD = "custom_fields"


class PaperlessError(MunimentError):
    """Paperless rejected the request"""


class PaperlessMisconfigured(PaperlessError):
    """Paperless cannot be used with this configuration"""


class PaperlessForbidden(PaperlessMisconfigured):
    """Paperless denied the request. Check the permissions of the archiver's user"""


class DocumentForbidden(PaperlessError):
    """The Paperless token has no access to the document"""


class RateLimited(PaperlessError):
    """Paperless is limiting requests"""

    def __init__(self, retry_after: float | None = None) -> None:
        super().__init__()
        self.retry_after = retry_after


class OutcomeUnknown(PaperlessError):
    """The result of the Paperless request is unknown"""


class TaskStatusUnknown(OutcomeUnknown):
    """The state of a Paperless task could not be read"""


class PaperlessDocumentGone(OutcomeUnknown):
    """Paperless no longer shows the document"""


class StaleObjectId(PaperlessError):
    """Paperless rejected an unknown ID"""

    def __init__(self, kind: PaperlessKind, reason: str | None = None) -> None:
        super().__init__(reason)
        self.kind = kind


class RequestRejected(PaperlessError):
    """Paperless rejected the file"""

    def __init__(self, reason: str, *, fields: Iterable[str] = ()) -> None:
        super().__init__(f"Paperless rejected the file: {reason}")
        self.reason = reason
        self.fields = frozenset(fields)
        """Names of the invalid fields, as Paperless reports them."""
