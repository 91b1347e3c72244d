"""What the endpoints work with. `bootstrap.py` builds it once; it hangs on the application."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass

from muniment.accounts.passwords import Passwords
from muniment.accounts.sign_in import SignIn
from muniment.archival.service import Archiving
from muniment.audit.service import Auditing
from muniment.documents.intake import Intake
from muniment.lifecycle.mover import Mover
from muniment.lifecycle.removal.removing import Removal
from muniment.lifecycle.replacing.service import Replacing
from muniment.processing.events.stream import Streams
from muniment.processing.results.pictures import Pictures
from muniment.search.service import Searching
from muniment.storage.blobs.port import Blobs
from muniment.storage.db.work import Database
from muniment.storage.tasks.port import Tasks


@dataclass(frozen=True)
class Check:
    """A look at one part: returns a few words when it works, raises `Unavailable` with a sentence when it does not."""

    look: Callable[[], Awaitable[str]]
    is_needed: bool
    """Without it no request can be answered."""


@dataclass(frozen=True)
class Parts:
    database: Database
    passwords: Passwords
    sign_in: SignIn
    intake: Intake
    blobs: Blobs
    tasks: Tasks
    mover: Mover
    removal: Removal
    archive: Archiving
    replacing: Replacing
    pictures: Pictures
    events: Streams
    searching: Searching
    audit: Auditing
    checks: Mapping[str, Check]
    secure_cookies: bool
    metrics_token: str | None
