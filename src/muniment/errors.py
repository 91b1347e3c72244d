"""Everything that can be refused, as one tree. Features subclass these; the docstring is the message people see.

    MunimentError
    ├─ NotSignedIn            who is asking is not known
    ├─ Forbidden              known, may see it, may not do it
    ├─ NotFound               is not there, or not for the one who asks
    ├─ Refused                against a rule of the domain
    ├─ Invalid                the input cannot be understood or is out of bounds
    ├─ Conflict               somebody else was first, or the name is taken
    ├─ TooLarge               more bytes than are allowed
    ├─ Unsupported            a kind of file that no reader knows
    ├─ TooSlow                fell silent in the middle of sending
    ├─ TooManyRequests        slow down; carries the seconds to wait
    ├─ StorageFull            no room left for more bytes
    └─ Unavailable            a part does not answer; the only one worth a retry

`http/errors.py` maps each class to a status; the domain knows no numbers. Workers retry `Unavailable` and nothing else.
"""

from collections.abc import Mapping
from typing import ClassVar


class MunimentError(Exception):
    """Something went wrong"""

    body: Mapping[str, object] | None = None
    """A body that a specification prescribes, instead of `{"detail": message}`."""
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
