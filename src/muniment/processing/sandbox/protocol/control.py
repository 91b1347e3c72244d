"""Messages between the parent and the fork server: one line of JSON each, with descriptors beside a start message."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any


@dataclass(frozen=True)
class Limits:
    """What one job may cost. The memory is that of each of its processes."""

    memory_bytes: int
    cpu_seconds: int
    processes: int = 64
    open_files: int = 128


@dataclass(frozen=True)
class Start:
    """Do a job. The file and the child's end of the output come with it, in this order."""

    job: int
    name: str
    arguments: Mapping[str, Any]
    limits: Limits
    readable: tuple[str, ...] = field(default=())
    """Folders that hold what the job executes."""


@dataclass(frozen=True)
class Kill:
    """End a job and all it has started. One that has ended is no error."""

    job: int


@dataclass(frozen=True)
class Ready:
    """Everything is imported; said once, first."""


@dataclass(frozen=True)
class Broken:
    """The server cannot work: something could not be imported. It ends."""

    reason: str


@dataclass(frozen=True)
class Started:
    job: int
    pid: int
    """Of the child, and the number of its group."""


@dataclass(frozen=True)
class Ended:
    """All processes of the job are gone."""

    job: int
    code: int | None
    """The exit code, or the signal as a negative number; `None`: it could not be started."""
    peak_bytes: int = 0
    cpu_seconds: float = 0.0


Message = Start | Kill | Ready | Broken | Started | Ended


_KINDS: dict[str, type[Message]] = {kind.__name__: kind for kind in (Start, Kill, Ready, Broken, Started, Ended)}


def encode(message: Message) -> bytes:
    return json.dumps([type(message).__name__, asdict(message)]).encode() + b"\n"


class Lines:
    """Cuts what arrives into messages."""

    def __init__(self) -> None:
        self._rest = b""

    def feed(self, data: bytes) -> Iterator[Message]:
        *lines, self._rest = (self._rest + data).split(b"\n")
        for line in lines:
            name, fields = json.loads(line)
            if name == Start.__name__:
                fields |= {"limits": Limits(**fields["limits"]), "readable": tuple(fields["readable"])}
            yield _KINDS[name](**fields)


DESCRIBE = "describe"


TRY_PROGRAM = "try_program"
