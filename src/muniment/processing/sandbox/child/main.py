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

from muniment.processing.readers.errors import TOO_MUCH_MEMORY, Code, Unreadable
from muniment.processing.sandbox.child import landlock
from muniment.processing.sandbox.child.confinement import Surroundings, confine
from muniment.processing.sandbox.protocol.control import DESCRIBE, TRY_PROGRAM, Start
from muniment.processing.sandbox.protocol.frames import Outlet

Job = Callable[[BinaryIO, Mapping[str, Any], Outlet], None]
"""What a jobs module holds in `JOBS`, by name: reads the file, writes to the outlet, or raises `Unreadable`."""


CRASHED = 70


_FILE, _OUTPUT, _RULES = 3, 4, 5


@dataclass(frozen=True)
class Equipment:
    """What a child has from the server."""

    file: int
    output: int
    """Both are descriptors."""
    places: Sequence[tuple[int, int]]
    """What it can open, for Landlock."""
    user: int | None
    around: Surroundings


def run(start: Start, job: Job | None, given: Equipment) -> NoReturn:
    """Never returns: what the server has on its stack must not run twice."""
    code = CRASHED
    try:
        rules = _leave_server(given)
        outlet = Outlet(socket.socket(fileno=_OUTPUT))
        holds = confine(given.around, user=given.user, limits=start.limits, rules=rules)
        if rules is not None:
            os.close(rules)
        code = _work(start, outlet, job or _built_in(start.name, holds))
    finally:
        os._exit(code)


def _leave_server(given: Equipment) -> int | None:
    """Keep nothing of the server but the descriptors of this job; 0, 1 and 2 are /dev/null already."""
    os.setpgid(0, 0)
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    rules = landlock.build_rules(given.places)
    wanted = {_FILE: given.file, _OUTPUT: given.output, _RULES: rules}
    above = {target: fcntl.fcntl(source, fcntl.F_DUPFD, _RULES + 1) for target, source in wanted.items() if source}
    for target, source in above.items():
        os.dup2(source, target, inheritable=False)  # what the child executes has none of them
    last = max(above)
    for descriptor in _open_descriptors():
        if descriptor > last:
            with contextlib.suppress(OSError):  # the one that listed them
                os.close(descriptor)
    gc.enable()
    return _RULES if rules else None


def _open_descriptors() -> list[int]:
    for folder in ("/proc/self/fd", "/dev/fd"):
        with contextlib.suppress(OSError):
            return [int(name) for name in os.listdir(folder)]  # noqa: PTH208 a Path for each costs more than the close
    return list(range(os.sysconf("SC_OPEN_MAX")))


def _work(start: Start, outlet: Outlet, job: Job) -> int:
    with contextlib.suppress(BrokenPipeError, ConnectionResetError):  # nobody reads any more
        try:
            with open(_FILE, "rb") as file:
                job(file, start.arguments, outlet)
            outlet.done()
        except Unreadable as error:
            outlet.failed(error.code, error.message)
        except MemoryError:
            outlet.failed(Code.READER_MEMORY, TOO_MUCH_MEMORY)
        except (BrokenPipeError, ConnectionResetError):
            raise
        except Exception as error:  # noqa: BLE001 whatever a reader raises, all that is left to do is to say where
            outlet.crashed(_place_of(error))
            return CRASHED
    return 0


def _place_of(error: Exception) -> str:
    frame = traceback.extract_tb(error.__traceback__)[-1]
    return f"{Path(frame.filename).name}:{frame.lineno} {type(error).__name__}"


def _built_in(name: str, holds: Mapping[str, bool]) -> Job:
    if name == DESCRIBE:
        return lambda _file, _arguments, outlet: outlet.protections(holds)
    if name == TRY_PROGRAM:
        return _try_program
    raise KeyError(name)


def _try_program(_file: BinaryIO, arguments: Mapping[str, Any], outlet: Outlet) -> None:
    """Whether a program runs and a folder can be read from in here. Modes alone do not tell."""
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
        outlet.protections({"runs": False})
    else:
        outlet.protections({"runs": ended.returncode == 0})
