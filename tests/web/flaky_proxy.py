"""Proxy between browser and server that breaks connections on demand. It changes no bytes."""

import socket
import threading
from collections.abc import Callable
from contextlib import suppress
from types import TracebackType
from typing import Self

CHUNK = 65_536


class FlakyProxy:
    """Listens on its own port and forwards everything.

    `should_break` gets what a connection sends. When it returns True, the connection is closed: immediately, or with
    `after_the_request` only when the server has started to respond, so that the response is lost.
    """

    def __init__(self, port: int, should_break: Callable[[bytes], bool], *, after_the_request: bool = False) -> None:
        self._port = port
        self._should_break = should_break
        self._after_the_request = after_the_request
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._open: set[socket.socket] = set()
        self._threads: list[threading.Thread] = []
        self.broken = 0
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"

    def __enter__(self) -> Self:
        self._start(self._accept)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        for end in list(self._open):
            _close(end)
        for thread in self._threads:
            thread.join()

    def _start(self, target: Callable[..., None], *arguments: object) -> None:
        thread = threading.Thread(target=target, args=arguments, daemon=True)
        self._threads.append(thread)
        thread.start()

    def _accept(self) -> None:
        while True:
            try:
                browser, _ = self._listener.accept()
            except OSError:
                return
            server = socket.create_connection(("127.0.0.1", self._port))
            self._open |= {browser, server}
            cursed = threading.Event()
            self._start(self._pass_requests, browser, server, cursed)
            self._start(self._pass_answers, browser, server, cursed)

    def _pass_requests(self, browser: socket.socket, server: socket.socket, cursed: threading.Event) -> None:
        while piece := _receive(browser):
            if self._should_break(piece):
                cursed.set()
                if not self._after_the_request:
                    break
            if not _send(server, piece):
                break
        self._end(browser, server, cursed)

    def _pass_answers(self, browser: socket.socket, server: socket.socket, cursed: threading.Event) -> None:
        while piece := _receive(server):
            if cursed.is_set() or not _send(browser, piece):
                break
        self._end(browser, server, cursed)

    def _end(self, browser: socket.socket, server: socket.socket, cursed: threading.Event) -> None:
        if cursed.is_set() and browser in self._open:
            self.broken += 1
        for end in (browser, server):
            self._open.discard(end)
            _close(end)


def _receive(end: socket.socket) -> bytes:
    try:
        return end.recv(CHUNK)
    except OSError:
        return b""


def _send(end: socket.socket, piece: bytes) -> bool:
    try:
        end.sendall(piece)
    except OSError:
        return False
    return True


def _close(end: socket.socket) -> None:
    with suppress(OSError):
        end.shutdown(socket.SHUT_RDWR)
    end.close()
