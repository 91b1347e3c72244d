"""Fork server: `python -I -m muniment.processing.sandbox.server <control socket> <jobs module> [folder of it…]`.

It runs with an empty environment and has no secrets. Everything a job needs is imported before the first fork, because
a child that has become another user may not be able to read modules. It has one thread, no log and no state but its
children, which are killed when the control socket closes.
"""

import contextlib
import encodings
import gc
import importlib
import os
import pkgutil
import signal
import socket
import sys
from collections import deque
from collections.abc import Iterator, Mapping
from selectors import EVENT_READ, DefaultSelector
from typing import NoReturn

from muniment.processing.sandbox.child import landlock, linux
from muniment.processing.sandbox.child import main as child
from muniment.processing.sandbox.child.confinement import ServerInfo
from muniment.processing.sandbox.protocol.control import (
    ControlMessage,
    JobExited,
    JobStarted,
    KillJob,
    MessageDecoder,
    ServerFailed,
    ServerReady,
    StartJob,
    encode,
)
from muniment.processing.sandbox.server.children import ChildProcesses

_RECEIVE_BYTES = 1 << 16
_DESCRIPTORS_AT_ONCE = 64


class ForkServerLoop:
    def __init__(self, control: socket.socket, jobs: Mapping[str, child.Job], server_info: ServerInfo) -> None:
        self._control = control
        self._jobs = jobs
        self._server_info = server_info
        self._decoder = MessageDecoder()
        self._descriptors: deque[int] = deque()
        self._children = ChildProcesses()

    def serve(self) -> None:
        """Handle messages until the other side of the control socket is closed."""
        with DefaultSelector() as selector, _child_signals() as signals:
            selector.register(self._control, EVENT_READ)
            selector.register(signals, EVENT_READ)
            try:
                while self._poll_once(selector, signals):
                    pass
            finally:
                self._children.kill_all()

    def _poll_once(self, selector: DefaultSelector, signals: socket.socket) -> bool:
        ready = {key.fileobj for key, _ in selector.select()}
        if signals in ready:
            signals.recv(_RECEIVE_BYTES)
        if self._control in ready and not self._receive():
            return False
        return all(self._send(ended) for ended in self._children.reap())

    def _receive(self) -> bool:
        try:
            data, descriptors, _, _ = socket.recv_fds(self._control, _RECEIVE_BYTES, _DESCRIPTORS_AT_ONCE)
        except ConnectionResetError:
            return False
        self._descriptors.extend(descriptors)
        return bool(data) and all(self._handle(message) for message in self._decoder.feed(data))

    def _handle(self, message: ControlMessage) -> bool:
        match message:
            case StartJob():
                return self._send(self._start(message))
            case KillJob():
                self._children.kill(message.job_id)
        return True

    def _start(self, start: StartJob) -> JobStarted | JobExited:
        descriptors = file, output = self._descriptors.popleft(), self._descriptors.popleft()
        allowed_paths = landlock.open_allowed_paths(start.readable)

        def run(user: int | None) -> NoReturn:
            setup = child.ChildSetup(file, output, allowed_paths, user, self._server_info)
            child.run_child(start, self._jobs.get(start.job_name), setup)

        try:
            return JobStarted(start.job_id, self._children.fork(start.job_id, run))
        except OSError:
            return JobExited(start.job_id, exit_code=None)
        finally:
            for descriptor in descriptors:
                os.close(descriptor)

    def _send(self, message: ControlMessage) -> bool:
        try:
            self._control.sendall(encode(message))
        except (BrokenPipeError, ConnectionResetError):
            return False
        return True


@contextlib.contextmanager
def _child_signals() -> Iterator[socket.socket]:
    """Return a socket that becomes readable when a child has ended."""
    wakeup, signals_end = socket.socketpair()
    with wakeup, signals_end:
        signals_end.setblocking(False)
        signal.set_wakeup_fd(signals_end.fileno(), warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)  # the default would not wake us up
        yield wakeup


def _leave_network_namespace() -> bool:
    try:
        # once for all children, because one namespace per child would cost milliseconds
        linux.unshare(linux.CLONE_NEWNET)
    except OSError:
        return False
    return True


def _import_encodings() -> None:
    """Import all encodings. Python imports them at first use, which would be too late."""
    for module in pkgutil.iter_modules(encodings.__path__):
        with contextlib.suppress(ImportError):  # codecs of Windows
            importlib.import_module(f"encodings.{module.name}")


def main(arguments: list[str]) -> int:
    control = socket.socket(fileno=int(arguments[0]))
    control.set_inheritable(False)
    sys.path.extend(arguments[2:])
    try:
        _import_encodings()
        jobs: Mapping[str, child.Job] = importlib.import_module(arguments[1]).JOBS
    except Exception as error:  # noqa: BLE001 whatever an import raises, the client is to hear of it
        control.sendall(encode(ServerFailed(f"{type(error).__name__}: {error}")))
        return 1
    around = ServerInfo.capture(has_own_network=_leave_network_namespace())
    with contextlib.suppress(OSError):
        # Orphaned processes of a child become our children, so that we know when the last one is gone.
        linux.prctl(linux.PR_SET_CHILD_SUBREAPER, 1)
    gc.collect()
    gc.disable()
    gc.freeze()  # pages that the collector does not touch stay shared with the children
    control.sendall(encode(ServerReady()))
    ForkServerLoop(control, jobs, around).serve()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
