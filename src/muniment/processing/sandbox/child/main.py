"""Main function of a child, from fork to exit: detach from the server, confine itself, run one job."""

import contextlib
import fcntl
import gc
import os
import signal
import socket
import subprocess
import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, NoReturn

from muniment.processing.readers.errors import MEMORY_MESSAGE, Unreadable, UnreadableCode
from muniment.processing.sandbox.child import landlock
from muniment.processing.sandbox.child.confinement import ServerInfo, confine
from muniment.processing.sandbox.protocol.control import PROBE, PROBE_PROGRAM, StartJob
from muniment.processing.sandbox.protocol.frames import FrameWriter

Job = Callable[[BinaryIO, Mapping[str, Any], FrameWriter], None]
"""Function of a job in the table `JOBS`: it reads the file and writes frames, or raises `Unreadable`."""


EXIT_CRASHED = 70


_FILE, _OUTPUT, _RULES = 3, 4, 5


@dataclass(frozen=True)
class ChildSetup:
    """What a child gets from the server."""

    file: int
    output: int
    """Both are descriptors."""
    allowed_paths: Sequence[tuple[int, int]]
    """Paths it can open, for Landlock."""
    user_id: int | None
    server_info: ServerInfo


def run_child(message: StartJob, job: Job | None, setup: ChildSetup) -> NoReturn:
    """Run a job and exit. Never returns, because the server's stack must not run twice."""
    code = EXIT_CRASHED
    try:
        rules = _detach_from_server(setup)
        writer = FrameWriter(socket.socket(fileno=_OUTPUT))
        protections = confine(setup.server_info, user_id=setup.user_id, limits=message.limits, ruleset=rules)
        if rules is not None:
            os.close(rules)
        code = _run_job(message, writer, job or _probe_job(message.job_name, protections))
    finally:
        os._exit(code)


def _detach_from_server(setup: ChildSetup) -> int | None:
    """Close all descriptors of the server but those of this job; 0, 1 and 2 are /dev/null already."""
    os.setpgid(0, 0)
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    rules = landlock.build_ruleset(setup.allowed_paths)
    descriptors = {_FILE: setup.file, _OUTPUT: setup.output, _RULES: rules}
    above = {target: fcntl.fcntl(source, fcntl.F_DUPFD, _RULES + 1) for target, source in descriptors.items() if source}
    for target, source in above.items():
        os.dup2(source, target, inheritable=False)  # executed programs inherit none of them
    last = max(above)
    for descriptor in _open_descriptors():
        if descriptor > last:
            with contextlib.suppress(OSError):  # the descriptor that listed them
                os.close(descriptor)
    gc.enable()
    gc.set_threshold(_GC_THRESHOLD)
    return _RULES if rules else None


_GC_THRESHOLD = 50_000
"""Objects created between two runs of the collector. A page has thousands of words, none of them in a cycle: with the
default of 700 the collector takes a tenth of the reading."""


def _open_descriptors() -> list[int]:
    for folder in ("/proc/self/fd", "/dev/fd"):
        with contextlib.suppress(OSError):
            return [int(name) for name in os.listdir(folder)]  # noqa: PTH208 a Path for each costs more than the close
    return list(range(os.sysconf("SC_OPEN_MAX")))


def _run_job(message: StartJob, frames: FrameWriter, job: Job) -> int:
    with contextlib.suppress(BrokenPipeError, ConnectionResetError):  # the parent no longer reads
        try:
            with open(_FILE, "rb") as file:
                job(file, message.arguments, frames)
            frames.done()
        except Unreadable as error:
            frames.failed(error.code, error.message)
        except MemoryError:
            frames.failed(UnreadableCode.READER_MEMORY, MEMORY_MESSAGE)
        except (BrokenPipeError, ConnectionResetError):
            raise
        except Exception as error:  # noqa: BLE001 whatever a reader raises, all that is left to do is to say where
            frames.crashed(_crash_location(error))
            return EXIT_CRASHED
    return 0


def _crash_location(error: Exception) -> str:
    frame = traceback.extract_tb(error.__traceback__)[-1]
    return f"{Path(frame.filename).name}:{frame.lineno} {type(error).__name__}"


def _probe_job(name: str, protections: Mapping[str, bool]) -> Job:
    if name == PROBE:
        return lambda _file, _arguments, writer: writer.protections(protections)
    if name == PROBE_PROGRAM:
        return _probe_program
    raise KeyError(name)


def _probe_program(_file: BinaryIO, arguments: Mapping[str, Any], frames: FrameWriter) -> None:
    """Report whether a program runs and a folder is readable in the sandbox. Permission bits alone do not tell."""
    try:
        os.listdir(arguments["folder"])  # noqa: PTH208
        ended = subprocess.run(  # noqa: S603 the program is named by our settings
            [arguments["program"], "--version"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            check=False,
        )
    except OSError:
        frames.protections({"runs": False})
    else:
        frames.protections({"runs": ended.returncode == 0})
