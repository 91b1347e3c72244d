"""Child processes of the supervisor, and how a child notices that its supervisor is gone, even if it was killed."""

import os
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress

SUPERVISOR_FD = "MUNIMENT_SUPERVISOR_FD"


SHUTDOWN_LIMIT_SECONDS = 60.0
"""For an orderly end; more than a supervisor gives."""


EXIT_CODE_ABANDONED = 70


def on_supervisor_exit(
    callback: Callable[[], object], *, shutdown_limit_seconds: float = SHUTDOWN_LIMIT_SECONDS
) -> None:
    """Call `on_lost`, in a thread of its own, when the supervisor ends. Without a supervisor nothing happens.

    Whoever has not ended by the limit is ended: nobody else is there to do it, and a process that hangs on its way out
    would stay for ever.
    """
    # Taken out of the environment: what this process starts later does not have the descriptor.
    number = os.environ.pop(SUPERVISOR_FD, None)
    if number is None:
        return
    descriptor = int(number)
    os.set_inheritable(descriptor, False)

    def wait_for_the_end() -> None:
        while os.read(descriptor, 1):
            pass
        os.close(descriptor)
        callback()
        time.sleep(shutdown_limit_seconds)
        os._exit(EXIT_CODE_ABANDONED)

    threading.Thread(target=wait_for_the_end, name="lifeline", daemon=True).start()


class ChildProcess:
    """A named command in a session of its own, so that Ctrl-C of the terminal reaches the supervisor alone.

    `is_ready` is asked until it first says yes; without it a child is ready when it is started.
    """

    def __init__(
        self,
        name: str,
        command: Sequence[str],
        *,
        is_ready: Callable[[], bool] | None = None,
    ) -> None:
        self.name = name
        self.has_been_ready = is_ready is None
        self._command = command
        self._is_ready = is_ready
        self._process: subprocess.Popen[bytes] | None = None
        self._code: int | None = None

    @property
    def pid(self) -> int | None:
        return self._process.pid if self._process else None

    def start(self, lifeline: int) -> None:
        """Start it with the read end of the supervisor's pipe."""
        self._code = None
        self._process = subprocess.Popen(  # noqa: S603 the command comes from our own code
            self._command,
            env={**os.environ, SUPERVISOR_FD: str(lifeline)},
            pass_fds=[lifeline],
            stdin=subprocess.DEVNULL,
            start_new_session=True,
        )

    def poll(self) -> int | None:
        """Its exit code if it has ended; what it had started itself is killed then."""
        if self._process and self._code is None:
            self._code = self._process.poll()
            if self._code is not None:
                _kill_group(self._process.pid)
        return self._code

    def check_ready(self) -> bool:
        if not self.has_been_ready and self._is_ready:
            self.has_been_ready = self._is_ready()
        return self.has_been_ready

    def stop(self, *, grace_seconds: float, force: Callable[[], bool]) -> None:
        """SIGTERM, then SIGKILL of its group when the grace period is over or somebody is in a hurry."""
        if self._process is None or self.poll() is not None:
            return
        self._process.terminate()
        deadline = time.monotonic() + grace_seconds
        while self.poll() is None:
            if force() or time.monotonic() > deadline:
                _kill_group(self._process.pid)
            time.sleep(0.02)


def _kill_group(leader: int) -> None:
    with suppress(ProcessLookupError, PermissionError):  # nobody is left in it; macOS says the second of zombies
        os.killpg(leader, signal.SIGKILL)
