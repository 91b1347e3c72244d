"""What a pass works with."""

from dataclasses import dataclass, field
from datetime import timedelta

from muniment.archival.archiver.clock import Clock
from muniment.archival.archiver.lease import Lease
from muniment.archival.archiver.objects import Objects
from muniment.archival.archiver.pace import Pace
from muniment.archival.archiver.trash import TrashView
from muniment.archival.internal_client import InternalApi
from muniment.archival.paperless.client import Paperless
from muniment.archival.stores import ArchiveStores


@dataclass(frozen=True)
class Options:
    paperless_url: str
    concurrency: int = 4
    batch: int = 1000
    task_deadline: timedelta = timedelta(hours=24)
    restores_trashed: bool = True
    """A copy in the trash is brought back, also where a new one could be uploaded."""
    follows: timedelta = timedelta(minutes=1)
    """How long a job stays with its task before the next pass takes it up."""
    follows_in_pass: timedelta = timedelta(minutes=5)
    """After this a pass only looks at tasks once each: a Paperless whose worker is away must not hold it for hours."""


@dataclass
class Tools:
    stores: ArchiveStores
    paperless: Paperless
    api: InternalApi
    objects: Objects
    clock: Clock
    options: Options
    lease: Lease
    pace: Pace
    trash: TrashView
    reports: list[str] = field(default_factory=list)
    """What a person should know of although nothing is to be done."""
