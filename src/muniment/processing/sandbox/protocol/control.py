"""Messages between the parent and the fork server: one line of JSON each; a start message carries descriptors."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any


@dataclass(frozen=True)
class JobLimits:
    """Limits of one job. The memory limit applies to each of its processes."""

    memory_bytes: int
    cpu_seconds: int
    processes: int = 64
    open_files: int = 128


@dataclass(frozen=True)
class StartJob:
    """Run a job. The file and the child's end of the output are attached, in this order."""

    job_id: int
    job_name: str
    arguments: Mapping[str, Any]
    limits: JobLimits
    readable: tuple[str, ...] = field(default=())
    """Folders with programs that the job executes."""


@dataclass(frozen=True)
class KillJob:
    """Kill a job and everything it has started. Not an error if it has ended."""

    job_id: int


@dataclass(frozen=True)
class ServerReady:
    """Everything is imported; sent once, as the first message."""


@dataclass(frozen=True)
class ServerFailed:
    """The server cannot work because an import failed. It exits."""

    reason: str


@dataclass(frozen=True)
class JobStarted:
    job_id: int
    pid: int
    """Process id of the child, also the id of its process group."""


@dataclass(frozen=True)
class JobExited:
    """All processes of the job are gone."""

    job_id: int
    exit_code: int | None
    """Exit code, or the signal as a negative number; `None` if it could not be started."""
    peak_bytes: int = 0
    cpu_seconds: float = 0.0


ControlMessage = StartJob | KillJob | ServerReady | ServerFailed | JobStarted | JobExited


_MESSAGE_TYPES: dict[str, type[ControlMessage]] = {
    kind.__name__: kind for kind in (StartJob, KillJob, ServerReady, ServerFailed, JobStarted, JobExited)
}


def encode(message: ControlMessage) -> bytes:
    return json.dumps([type(message).__name__, asdict(message)]).encode() + b"\n"


class MessageDecoder:
    """Splits received bytes into messages."""

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
