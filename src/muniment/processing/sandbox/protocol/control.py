"""Messages between the parent and the fork server: one line of JSON each, with descriptors beside a start message."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any


@dataclass(frozen=True)
class JobLimits:
    """What one job may cost. The memory is that of each of its processes."""

    memory_bytes: int
    cpu_seconds: int
    processes: int = 64
    open_files: int = 128


@dataclass(frozen=True)
class StartJob:
    """Do a job. The file and the child's end of the output come with it, in this order."""

    job_id: int
    job_name: str
    arguments: Mapping[str, Any]
    limits: JobLimits
    readable: tuple[str, ...] = field(default=())
    """Folders that hold what the job executes."""


@dataclass(frozen=True)
class KillJob:
    """End a job and all it has started. One that has ended is no error."""

    job_id: int


@dataclass(frozen=True)
class ServerReady:
    """Everything is imported; said once, first."""


@dataclass(frozen=True)
class ServerFailed:
    """The server cannot work: something could not be imported. It ends."""

    reason: str


@dataclass(frozen=True)
class JobStarted:
    job_id: int
    pid: int
    """Of the child, and the number of its group."""


@dataclass(frozen=True)
class JobExited:
    """All processes of the job are gone."""

    job_id: int
    exit_code: int | None
    """The exit code, or the signal as a negative number; `None`: it could not be started."""
    peak_bytes: int = 0
    cpu_seconds: float = 0.0


ControlMessage = StartJob | KillJob | ServerReady | ServerFailed | JobStarted | JobExited


_MESSAGE_TYPES: dict[str, type[ControlMessage]] = {
    kind.__name__: kind for kind in (StartJob, KillJob, ServerReady, ServerFailed, JobStarted, JobExited)
}


def encode(message: ControlMessage) -> bytes:
    return json.dumps([type(message).__name__, asdict(message)]).encode() + b"\n"


class MessageDecoder:
    """Cuts what arrives into messages."""

    def __init__(self) -> None:
        self._rest = b""

    def feed(self, data: bytes) -> Iterator[ControlMessage]:
        *lines, self._rest = (self._rest + data).split(b"\n")
        for line in lines:
            name, fields = json.loads(line)
            if name == StartJob.__name__:
                fields |= {"limits": JobLimits(**fields["limits"]), "readable": tuple(fields["readable"])}
            yield _MESSAGE_TYPES[name](**fields)


PROBE = "describe"


PROBE_PROGRAM = "try_program"
