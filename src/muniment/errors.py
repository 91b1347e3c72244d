"""The error tree. Features subclass these errors; the docstring of an error is the message that users see.

    MunimentError
    ├─ NotSignedIn            the caller is not authenticated
    ├─ Forbidden              signed in, but not permitted
    ├─ NotFound               does not exist, or is hidden from the caller
    ├─ Refused                violates a rule of the domain
    ├─ Invalid                malformed input, or out of range
    ├─ Conflict               concurrent change or name conflict
    ├─ TooLarge               more bytes than allowed
    ├─ Unsupported            file type without a reader
    ├─ TooSlow                client stopped sending
    ├─ TooManyRequests        rate limit; has the seconds to wait
    ├─ StorageFull            not enough disk space
    └─ Unavailable            a component cannot be reached; worth a retry

`http/errors.py` maps each class to an HTTP status, which the domain does not know. Workers retry
`Unavailable` until it succeeds, and unexpected errors a few times.
"""

from collections.abc import Mapping
from typing import ClassVar


class MunimentError(Exception):
    """Something went wrong"""

    body: Mapping[str, object] | None = None
    """Response body prescribed by a specification, instead of `{"detail": message}`."""
    headers: ClassVar[Mapping[str, str]] = {}
    code: ClassVar[str] = "MunimentError"
    """Metric label and log field. It defaults to the class name; a renamed class keeps its old code."""

    def __init_subclass__(cls) -> None:
        if "code" not in cls.__dict__:
            cls.code = cls.__name__

    def __init__(self, message: str | None = None) -> None:
        self.message = message or (type(self).__doc__ or "").strip().splitlines()[0]
        super().__init__(self.message)


class NotSignedIn(MunimentError):
    """Not signed in"""

    headers: ClassVar[Mapping[str, str]] = {"WWW-Authenticate": "Bearer"}


class Forbidden(MunimentError):
    """Permission denied"""


class NotFound(MunimentError):
    """Not found"""


class Refused(MunimentError):
    """This action is not available right now"""


class Invalid(MunimentError):
    """Invalid input"""


class Conflict(MunimentError):
    """Someone else changed this at the same time. Reload and try again"""


class TooLarge(MunimentError):
    """The file is too large"""


class Unsupported(MunimentError):
    """Unsupported file type"""


class TooSlow(MunimentError):
    """The upload stalled. Send it again"""


class TooManyRequests(MunimentError):
    """Too many requests"""

    def __init__(self, message: str | None = None, *, retry_after_seconds: int) -> None:
        super().__init__(message)
        self.retry_after_seconds = retry_after_seconds


class StorageFull(MunimentError):
    """Not enough storage space"""


class Unavailable(MunimentError):
    """Muniment is temporarily unavailable. Try again shortly"""
