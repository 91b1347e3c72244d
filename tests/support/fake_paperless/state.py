"""The complete state of the server. It survives a restart."""

from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from tests.support.fake_paperless.faults import Fault
from tests.support.fake_paperless.outcomes import Outcome
from tests.support.fake_paperless.users import USERS, User


@dataclass
class Switches:
    """Configuration and current condition of the server."""

    flavour: int = 3
    version: str = ""
    delete_duplicates: bool = False
    task_delay: float = 0
    """Seconds from the upload until the document exists."""
    task_lag: float = 0
    """Seconds from then until the task reports it."""
    task_seconds: float = 0
    """Seconds that the worker takes for one task. It processes one after the other."""
    task_requests: int = 0
    """Requests that arrive while the worker processes one task, one after the other: tasks that take time without
    depending on it."""
    worker: str = "running"
    """`running`, `stopped` (tasks wait), `killed` (its current task stays started forever)."""
    workflow_owner: int | None = None
    """Whom a workflow makes the owner of every new document, so that the uploader no longer sees it."""
    redis: bool = True
    redis_seconds: float = 0
    """How long an upload takes to fail without Redis: in reality 19 s on 3.x and 0.6 s on 2.x."""
    time_zone: str = "UTC"
    makes_archive: bool | None = None
    host: str | None = None
    """Host name in links; by default the one the client uses."""

    def __post_init__(self) -> None:
        self.version = self.version or {2: "2.20.15", 3: "3.0.5"}[self.flavour]
        self.makes_archive = self.flavour == 2 if self.makes_archive is None else self.makes_archive

    @property
    def newest_api(self) -> int:
        return {2: 9, 3: 10}[self.flavour]


@dataclass
class NamedObject:
    """A tag, correspondent, document type, storage path or custom field."""

    id: int
    kind: str
    name: str
    owner: int | None
    values: dict[str, Any] = field(default_factory=dict)


@dataclass
class Document:
    id: int
    content: bytes
    checksum: str
    sha256: str
    archive: bytes | None
    archive_checksum: str | None
    title: str
    created: str
    tags: list[int]
    correspondent: int | None
    document_type: int | None
    storage_path: int | None
    custom_fields: dict[int, Any]
    original_file_name: str
    owner: int | None
    added: str
    modified: str
    mime_type: str
    archive_serial_number: int | None = None
    deleted_at: str | None = None


@dataclass
class Upload:
    """The metadata sent with the file."""

    file_name: str
    content: bytes
    title: str | None = None
    created: str | None = None
    correspondent: int | None = None
    document_type: int | None = None
    storage_path: int | None = None
    tags: list[int] = field(default_factory=list)
    custom_fields: dict[int, Any] = field(default_factory=dict)
    archive_serial_number: int | None = None
    owner: int | None = None


@dataclass
class Task:
    id: int
    task_id: str
    upload: Upload
    due_at: float
    outcome: Outcome | None
    owner: int | None
    status: str = "pending"
    created: str = ""
    started: str | None = None
    done: str | None = None
    message: str | None = None
    error_type: str | None = None
    document_id: int | None = None
    duplicate_of: int | None = None
    is_duplicate_in_trash: bool = False
    half_written_reads: int = 0
    is_split: bool = False
    is_acknowledged: bool = False
    name: str = "consume_file"


@dataclass
class State:
    switches: Switches
    users: list[User] = field(default_factory=lambda: list(USERS))
    things: dict[str, dict[int, NamedObject]] = field(default_factory=dict)
    documents: dict[int, Document] = field(default_factory=dict)
    tasks: dict[int, Task] = field(default_factory=dict)
    unfinished: list[Task] = field(default_factory=list)
    faults: list[Fault] = field(default_factory=list)
    outcomes: list[Outcome] = field(default_factory=list)
    requests: list[dict[str, Any]] = field(default_factory=list)
    token_attempts: list[float] = field(default_factory=list)
    busy_until: float = 0
    """When the worker is done with everything that was uploaded, if a task takes time."""
    requests_into_task: int = 0
    _last_ids: dict[str, int] = field(default_factory=dict)

    def next_id(self, of: str) -> int:
        """Return a new id. Ids are never reused, not even after a purge."""
        self._last_ids[of] = self._last_ids.get(of, 0) + 1
        return self._last_ids[of]

    def of_kind(self, kind: str) -> dict[int, NamedObject]:
        return self.things.setdefault(kind, {})

    def is_visible(self, owner: int | None, user: User) -> bool:
        return user.is_superuser or owner is None or owner == user.id


def utc_now() -> str:
    return datetime.now(UTC).isoformat().replace("+00:00", "Z")
