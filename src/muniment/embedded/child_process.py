"""Child processes of the supervisor, and the child's side, which notices a lost supervisor even if it was killed."""

import os
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from urllib.error import URLError
from urllib.request import ProxyHandler, build_opener

SUPERVISOR_FD = "MUNIMENT_SUPERVISOR_FD"
SHUTDOWN_LIMIT_SECONDS = 60.0
"""Time for an orderly shutdown without a supervisor; longer than the grace period of a supervisor."""
EXIT_CODE_ABANDONED = 70

# Our own API is called directly: a proxy from the environment may not know this machine.
_direct = build_opener(ProxyHandler({}))


def responds_ok(url: str) -> bool:
    """Whether a GET of the URL answers 200 within a few seconds."""
    try:
        with _direct.open(url, timeout=5) as response:
            return bool(response.status == 200)
    except (URLError, OSError):
        return False


def on_supervisor_exit(
    callback: Callable[[], object], *, shutdown_limit_seconds: float = SHUTDOWN_LIMIT_SECONDS
) -> None:
    """Call `callback` in a separate thread when the supervisor exits. Do nothing without a supervisor.

    A process that is still running after the limit exits hard: it may hang during shutdown, and no supervisor is left
    to kill it.
    """
    # Removed from the environment because processes started later do not inherit the descriptor.
    number = os.environ.pop(SUPERVISOR_FD, None)
    if number is None:
        return
    descriptor = int(number)
    os.set_inheritable(descriptor, False)

    def wait_for_supervisor_exit() -> None:
        while os.read(descriptor, 1):
            pass
        os.close(descriptor)
        callback()
        time.sleep(shutdown_limit_seconds)
        os._exit(EXIT_CODE_ABANDONED)

    threading.Thread(target=wait_for_supervisor_exit, name="lifeline", daemon=True).start()


class ChildProcess:
    """A named command in its own session, so that Ctrl-C in the terminal reaches only the supervisor.

    `is_ready` is called until it first returns True; without it, a child is ready as soon as it has started.
    `hidden_variables` are environment variables that the child does not inherit.
    """

    def __init__(
        self,
        name: str,
        command: Sequence[str],
        *,
        is_ready: Callable[[], bool] | None = None,
        hidden_variables: Collection[str] = (),
    ) -> None:
        self.name = name
        self._hidden_variables = frozenset(hidden_variables)
        self.has_been_ready = is_ready is None
        self._command = command
        self._is_ready = is_ready
        self._process: subprocess.Popen[bytes] | None = None
        self._code: int | None = None

    @property
    def pid(self) -> int | None:
        return self._process.pid if self._process else None

    def start(self, lifeline: int) -> None:
        """Start the process with the read end of the supervisor's pipe."""
        self._code = None
        inherited = {name: value for name, value in os.environ.items() if name not in self._hidden_variables}
        self._process = subprocess.Popen(  # noqa: S603 the command comes from our own code
            self._command,
            env={**inherited, SUPERVISOR_FD: str(lifeline)},
            pass_fds=[lifeline],
            stdin=subprocess.DEVNULL,
            start_new_session=True,
        )

    def poll(self) -> int | None:
        """Return the exit code if the process has exited; its remaining process group is killed then."""
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
        """Send SIGTERM, and SIGKILL to the process group after the grace period or when `force` returns True."""
        if self._process is None or self.poll() is not None:
            return
        self._process.terminate()
        deadline = time.monotonic() + grace_seconds
        while self.poll() is None:
            if force() or time.monotonic() > deadline:
                _kill_group(self._process.pid)
            time.sleep(0.02)


def _kill_group(leader: int) -> None:
    with suppress(ProcessLookupError, PermissionError):  # the group is empty; macOS raises the second for zombies
        os.killpg(leader, signal.SIGKILL)
