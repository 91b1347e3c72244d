"""The test's handle on the server: `with fake_paperless(folder, flavour=3) as paperless`."""

import base64
import json
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, cast
from urllib.request import Request, urlopen

from tests.support.fake_paperless.faults import Fault
from tests.support.fake_paperless.outcomes import Outcome
from tests.support.fake_paperless.users import ARCHIVER, User

_ROOT = Path(__file__).parents[3]


@dataclass(frozen=True)
class SeenDocument:
    """A stored document, with names instead of ids."""

    id: int
    title: str
    created: str
    sha256: str
    tags: Sequence[str]
    correspondent: str | None
    document_type: str | None
    custom_fields: Mapping[str, Any]
    file_name: str
    owner: int | None
    is_trashed: bool


@dataclass(frozen=True)
class SeenTask:
    task_id: str
    status: str
    file_name: str
    document_id: int | None
    message: str | None


@dataclass(frozen=True)
class SeenRequest:
    """A received request, without its token."""

    name: str
    method: str
    path: str
    query: Mapping[str, Sequence[str]]
    headers: Mapping[str, str]
    size: int
    status: int


@dataclass
class FakePaperless:
    """A Paperless in its own process. It keeps its state and its port between `stop` and `start`."""

    folder: Path
    switches: Mapping[str, Any]
    token: str = ARCHIVER.token
    port: int = 0
    _process: "subprocess.Popen[str] | None" = field(default=None, repr=False)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def start(self) -> None:
        arguments = [str(self.port), str(self.folder / "paperless.state"), json.dumps(self.switches)]
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.support.fake_paperless.server", *arguments],
            cwd=_ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self._process.stdout
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError("The stand-in for Paperless does not start")
        self.port = int(line)

    def stop(self) -> None:
        if self._process is None:
            return
        process, self._process = self._process, None
        process.terminate()
        process.communicate()

    def restart(self) -> None:
        self.stop()
        self.start()

    def fault(self, on: str, fault: Fault, *, times: int | None = 1, skip: int = 0) -> None:
        """Make calls of this name fail: `upload`, `documents.list`, `tags.*`, `*`; see `routes.py`."""
        self._control("faults", **asdict(replace(fault, on=on, times=times, skip=skip)))

    def clear(self) -> None:
        """Remove all faults and planned outcomes, and release hanging requests."""
        self._control("clear")

    def next_uploads(self, outcome: Outcome, *, times: int = 1) -> None:
        """Set the outcome of the next uploads, after those already planned."""
        self._control("outcomes", **asdict(replace(outcome, times=times)))

    def set(self, **switches: Any) -> None:
        """Change the configuration of the server; see `Switches`."""
        self._control("switches", **switches)

    def wipe(self) -> None:
        """Reset to an empty server with its initial configuration, and start it if it was stopped."""
        if self._process is None:
            self.start()
        self._control("wipe", **self.switches)

    def documents(self, *, is_trashed: bool = False) -> list[SeenDocument]:
        found = [SeenDocument(**row) for row in self._control("documents")]
        return [document for document in found if document.is_trashed == is_trashed]

    def tasks(self) -> list[SeenTask]:
        return [SeenTask(**row) for row in self._control("tasks")]

    def requests(self, name: str = "*") -> list[SeenRequest]:
        """Return the requests so far, including those that got a faulty response."""
        found = [SeenRequest(**row) for row in self._control("requests")]
        return [request for request in found if fnmatchcase(request.name, name)]

    def clear_requests(self) -> None:
        self._control("forget-requests")

    def put_document(
        self,
        content: bytes,
        *,
        owner: User | None = ARCHIVER,
        file_name: str = "by hand.pdf",
        is_trashed: bool = False,
        **values: Any,
    ) -> int:
        """Add a document that was not uploaded by us. Return its id."""
        given = {"content": base64.b64encode(content).decode(), "file_name": file_name, "is_trashed": is_trashed}
        return cast("int", self._control("put-document", **given, owner=owner.id if owner else None, **values))

    def create_object(self, kind: str, name: str, *, owner: User | None = ARCHIVER, **values: Any) -> int:
        """Create a tag (`tags`), correspondent and so on, as another user. Return its id."""
        given = {"kind": kind, "name": name, "owner": owner.id if owner else None, "values": values}
        return cast("int", self._control("make-thing", **given))

    def objects(self, kind: str) -> list[dict[str, Any]]:
        return cast("list[dict[str, Any]]", self._control("things", kind=kind))

    def delete_object(self, kind: str, key: int) -> None:
        self._control("forget-thing", kind=kind, id=key)

    def add_system_task(self, name: str) -> None:
        """Add a finished task that imports no file and needed no worker, such as `check_sanity`."""
        self._control("add-system-task", name=name)

    def delete_tasks(self) -> None:
        self._control("forget-tasks")

    def lose_queue(self) -> None:
        """Lose the queue, as when Redis restarts empty: waiting tasks stay pending forever."""
        self._control("lose-queue")

    def release(self) -> None:
        """Process tasks that were stuck pending."""
        self._control("release")

    def upgrade(self) -> None:
        """Upgrade from 2.x to 3.x."""
        self._control("upgrade")

    def _control(self, action: str, **body: Any) -> Any:
        request = Request(f"{self.url}/control/{action}", json.dumps(body).encode(), method="POST")
        with urlopen(request) as response:
            return json.loads(response.read())


@dataclass(frozen=True)
class FakePaperlessServers:
    """One server of each version, started on first use: starting a process takes longer than most tests."""

    folder: Path
    _running: dict[int, FakePaperless] = field(default_factory=dict)

    def of(self, flavour: int) -> FakePaperless:
        """Return an empty server of this version."""
        if flavour not in self._running:
            folder = self.folder / str(flavour)
            folder.mkdir()
            self._running[flavour] = FakePaperless(folder, {"flavour": flavour})
        self._running[flavour].wipe()
        return self._running[flavour]

    def close(self) -> None:
        for server in self._running.values():
            server.stop()


@contextmanager
def fake_paperless(folder: Path, *, flavour: int = 3, **switches: Any) -> Iterator[FakePaperless]:
    """Run a server for the duration of the block."""
    server = FakePaperless(folder, {"flavour": flavour, **switches})
    server.start()
    try:
        yield server
    finally:
        server.stop()
