"""What can come of a call to Paperless, as one tree.

PaperlessError
├─ LineStopped      no call will work before a person acts; no document is to blame
├─ NotForThis       this token may not touch this one document
├─ Throttled        wait; carries the seconds if they were said
├─ Unclear          it may have happened or not: look before trying again
│  └─ Gone          what was there a moment ago is not, or not any more
├─ UnknownId        an id that we sent means nothing there (any more)
└─ Rejected         this file, or what is said about it, will never be taken
"""

from collections.abc import Iterable

from muniment.archival.paperless.kinds import Kind
from muniment.errors import MunimentError


class PaperlessError(MunimentError):
    """Paperless did not do as it was asked"""


class LineStopped(PaperlessError):
    """Paperless cannot be used as it is configured"""


class NotForThis(PaperlessError):
    """Paperless does not let this token touch the document"""


class Throttled(PaperlessError):
    """Paperless asks to wait"""

    def __init__(self, retry_after: float | None = None) -> None:
        super().__init__()
        self.retry_after = retry_after


class Unclear(PaperlessError):
    """Paperless did not say what became of the call"""


class Gone(Unclear):
    """Paperless no longer shows the document"""


class UnknownId(PaperlessError):
    """Paperless does not know an id that was sent"""

    def __init__(self, kind: Kind, reason: str | None = None) -> None:
        super().__init__(reason)
        self.kind = kind


class Rejected(PaperlessError):
    """Paperless does not take the file"""

    def __init__(self, reason: str, *, fields: Iterable[str] = ()) -> None:
        super().__init__(reason)
        self.reason = reason
        self.fields = frozenset(fields)
        """The names of what was wrong, as Paperless calls them."""
