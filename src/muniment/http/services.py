"""Services that the endpoints work with.

`bootstrap/services.py` builds them once; they are stored on the application.
"""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass

from muniment.accounts.credentials import Passwords
from muniment.accounts.sign_in import SignIn
from muniment.audit.service import Auditing
from muniment.documents.intake import Intake
from muniment.handover.dead_letters import DeadLetters
from muniment.handover.submission import HandOver, OwnDocuments
from muniment.lifecycle.engine import Mover
from muniment.lifecycle.moves.purge import Removal
from muniment.lifecycle.moves.replace import Replacing
from muniment.processing.events.stream import Streams
from muniment.processing.results.images import Pictures
from muniment.search.query.service import Searching
from muniment.storage.db.work import Database
from muniment.storage.objects.port import Blobs
from muniment.storage.tasks.port import Tasks


@dataclass(frozen=True)
class Archiving:
    """What the endpoints of the archive queue work with. It never touches Paperless."""

    hand_over: HandOver
    own: OwnDocuments
    letters: DeadLetters
    internal_keys: tuple[str, ...]
    """Of the archiver. Without any, `/internal/v1` does not exist."""
    max_bytes: int


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
