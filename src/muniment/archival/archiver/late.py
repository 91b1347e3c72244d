"""Uploads that were given up: Paperless may still take one in, days later, behind the one that was proven.

3.x then has the document twice. The job has left the queue by that time, so a note of its own tells where to look.
"""

import json
from dataclasses import dataclass
from datetime import datetime, timedelta
from random import Random

from muniment.archival.archiver.copies import put_away_double
from muniment.archival.archiver.notes import Noted
from muniment.archival.archiver.tools import Tools
from muniment.archival.keys import JobKey
from muniment.archival.stores import QueueStore
from muniment.storage.blobs.port import BlobNotFound

PREFIX = "archiver/late/"
WATCHED_FOR = timedelta(days=30)
LOOKS_IN_PASS = 50
"""After an upgrade, which drops the history of tasks, there may be thousands of notes: each has its turn."""


@dataclass(frozen=True)
class Late:
    """An upload whose end nobody saw."""

    key: JobKey
    file_name: str
    task_id: str
    given_up_at: datetime

    @property
    def note(self) -> str:
        return f"{PREFIX}{self.file_name}.json"

    def to_bytes(self) -> bytes:
        fields = {"r2Key": self.key.pdf, "fileName": self.file_name, "taskId": self.task_id}
        return json.dumps(fields | {"givenUpAt": self.given_up_at.isoformat()}).encode()

    @classmethod
    def read(cls, data: bytes) -> "Late | None":
        """Nothing where this is no note of ours."""
        try:
            found = json.loads(data)
            key = JobKey.parse(found["r2Key"])
            at = datetime.fromisoformat(found["givenUpAt"])
            return cls(key, str(found["fileName"]), str(found["taskId"]), at) if key else None
        except (ValueError, KeyError, TypeError):
            return None


async def remember(tools: Tools, noted: Noted) -> None:
    """Before the sidecar forgets the attempt."""
    assert noted.sidecar.file_name is not None
    assert noted.sidecar.task_id is not None
    late = Late(noted.key, noted.sidecar.file_name, noted.sidecar.task_id, tools.clock.now())
    await tools.stores.queue.put_new(late.note, late.to_bytes())


async def list_late(queue: QueueStore, random: Random) -> list[str]:
    """The notes to look at in this pass: any, if there are too many of them."""
    notes = [info.key async for info in queue.list(PREFIX)]
    return random.sample(notes, LOOKS_IN_PASS) if len(notes) > LOOKS_IN_PASS else notes


async def resolve_abandoned(tools: Tools, note: str) -> None:
    """Put away what arrived after all, behind the one that was proven; forget what will not arrive any more."""
    queue = tools.stores.queue
    try:
        late = Late.read((await queue.get(note)).data)
    except BlobNotFound:
        return
    if late is not None and await queue.exists(late.key.sidecar):
        return  # the job itself looks for it
    if late is None or await _has_ended(tools, late):
        await queue.delete(note)


async def _has_ended(tools: Tools, late: Late) -> bool:
    # In this order: the document becomes visible before its task is done.
    task = await tools.paperless.task(late.task_id)
    tags = await tools.objects.find_telling_tags(late.key.organization_id, late.key.sha256)
    arrived = await tools.paperless.find_by_file_name(late.file_name)
    for document in arrived if tags else ():
        await tools.lease.check()
        await put_away_double(tools, late.key, tags or frozenset(), document.id)
    is_over = tools.clock.now() - late.given_up_at > WATCHED_FOR
    return bool(arrived) or is_over or (task is not None and task.is_done)
