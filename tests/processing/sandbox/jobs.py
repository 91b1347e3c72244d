"""Test jobs: what a document that controls its reader might try."""

import contextlib
import ctypes
import os
import resource
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, BinaryIO

from muniment.processing.readers.contract import ExtractedPage, ExtractionMethod, RenderedImage
from muniment.processing.readers.errors import Unreadable, UnreadableCode
from muniment.processing.sandbox.child.main import Job
from muniment.processing.sandbox.protocol.frames import FrameWriter

PNG = bytes.fromhex("89504e470d0a1a0a0000000d49484452000000030000000208020000001216f14d")


def read(file: BinaryIO, arguments: Mapping[str, Any], outlet: FrameWriter) -> None:
    """Run the test job named by the media type, with the file as its argument."""
    DEEDS[arguments["media_type"]](file, outlet)


def tell(outlet: FrameWriter, *texts: str) -> None:
    outlet.opened(len(texts))
    for number, text in enumerate(texts, 1):
        outlet.page(ExtractedPage(number, text, ExtractionMethod.TEXT))


def told(deed: Callable[[str], str]) -> Callable[[BinaryIO, FrameWriter], None]:
    """Wrap a function whose result becomes the text of page one; an error becomes its name."""

    def do(file: BinaryIO, outlet: FrameWriter) -> None:
        try:
            answer = deed(file.read().decode())
        except OSError as error:
            answer = type(error).__name__
        tell(outlet, answer)

    return do


def endless(_: BinaryIO, outlet: FrameWriter) -> None:
    outlet.opened(1_000_000)
    for number in range(1, 1_000_001):
        outlet.page(ExtractedPage(number, "x" * 1000, ExtractionMethod.TEXT))


def drip(_: BinaryIO, outlet: FrameWriter) -> None:
    """Never silent for long, never busy, never done."""
    outlet.opened(1_000_000)
    for number in range(1, 1_000_001):
        outlet.page(ExtractedPage(number, "", ExtractionMethod.NONE))
        time.sleep(0.02)


def hang(file: BinaryIO, outlet: FrameWriter) -> None:
    tell(outlet, str(os.getpid()), "second")
    signal.pause()


def hang_with_family(file: BinaryIO, outlet: FrameWriter) -> None:
    """Send a page with the ids of this process, of the program it executes, and of a child that tries to leave its
    group."""
    executed = subprocess.Popen(["sleep", "1000"])
    runaway = subprocess.Popen(["sleep", "1000"], start_new_session=True)
    outlet.opened(2)
    outlet.page(ExtractedPage(1, f"{os.getpid()} {executed.pid} {runaway.pid}", ExtractionMethod.TEXT))
    signal.pause()


def crash_with_family(file: BinaryIO, outlet: FrameWriter) -> None:
    executed = subprocess.Popen(["sleep", "1000"])
    outlet.opened(2)
    outlet.page(ExtractedPage(1, f"{os.getpid()} {executed.pid}", ExtractionMethod.TEXT))
    os.abort()


def burn(file: BinaryIO, outlet: FrameWriter) -> None:
    resource.setrlimit(resource.RLIMIT_CPU, (1, 2))  # like the real limit, only sooner
    while True:
        pass


def hog(file: BinaryIO, outlet: FrameWriter) -> None:
    held = []
    while True:
        held.append(bytearray(1 << 24))


def hog_and_abort(file: BinaryIO, outlet: FrameWriter) -> None:
    """Like a C++ library that gets no more memory."""
    held = []
    try:
        while True:
            held.append(b"x" * (1 << 20))
    except MemoryError:
        os.abort()


def segfault(file: BinaryIO, outlet: FrameWriter) -> None:
    ctypes.string_at(0)


def fork_bomb(_: str) -> str:
    born = 0
    with contextlib.suppress(BlockingIOError):
        while born < 1000:
            if os.fork() == 0:
                time.sleep(1000)
            born += 1
    return str(born)


def connect(port: str) -> str:
    with socket.create_connection(("127.0.0.1", int(port)), timeout=5):
        return "connected"


def connect_path(path: str) -> str:
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(path)
        return "connected"


def write_file(path: str) -> str:
    Path(path).write_text("was here")
    return "written"


def write_input(file: BinaryIO, outlet: FrameWriter) -> None:
    answers = []
    for deed in (lambda: os.write(3, b"x"), lambda: os.ftruncate(3, 0)):
        try:
            deed()
            answers.append("written")
        except OSError:
            answers.append("refused")
    tell(outlet, " ".join(answers))


def signal_process(pid: str) -> str:
    os.kill(int(pid), 0)
    return "reached"


def open_descriptors(_: str) -> str:
    found = []
    for number in range(128):
        with contextlib.suppress(OSError):
            os.fstat(number)
            found.append(number)
    return " ".join(map(str, found))


def say(file: BinaryIO, outlet: FrameWriter) -> None:
    """Send the bytes of the file instead of frames."""
    outlet._connection.sendall(file.read())
    signal.pause()


def encrypted(file: BinaryIO, outlet: FrameWriter) -> None:
    raise Unreadable(
        UnreadableCode.ENCRYPTED, "The file is protected by a password. Remove it and upload the file again."
    )


def stumble(file: BinaryIO, outlet: FrameWriter) -> None:
    raise KeyError("a secret of the document")


def late_failure(file: BinaryIO, outlet: FrameWriter) -> None:
    tell(outlet, "first")
    raise Unreadable(UnreadableCode.CORRUPT, "The rest is missing.")


def close_output(file: BinaryIO, outlet: FrameWriter) -> None:
    os.close(4)
    signal.pause()


def picture(file: BinaryIO, arguments: Mapping[str, Any], outlet: FrameWriter) -> None:
    outlet.image(RenderedImage(PNG + f"{arguments['page_number']}".encode()))


DEEDS: dict[str, Callable[[BinaryIO, FrameWriter], None]] = {
    "echo": told(lambda text: text),
    "lines": lambda file, outlet: tell(outlet, *file.read().decode().splitlines()),
    "endless": endless,
    "drip": drip,
    "hang": hang,
    "hang_with_family": hang_with_family,
    "crash_with_family": crash_with_family,
    "abort": lambda file, outlet: os.abort(),
    "exit": lambda file, outlet: os._exit(0),
    "burn": burn,
    "hog": hog,
    "hog_and_abort": hog_and_abort,
    "segfault": segfault,
    "fork_bomb": told(fork_bomb),
    "connect": told(connect),
    "connect_path": told(connect_path),
    "write_file": told(write_file),
    "write_input": write_input,
    "read_file": told(lambda path: Path(path).read_text()),
    "signal_process": told(signal_process),
    "environment": told(lambda _: " ".join(os.environ)),
    "who": told(lambda _: f"{os.getuid()} {os.getgid()} {os.getgroups()}"),
    "descriptors": told(open_descriptors),
    "say": say,
    "encrypted": encrypted,
    "stumble": stumble,
    "late_failure": late_failure,
    "close_output": close_output,
}

JOBS: Mapping[str, Job] = {"read": read, "page_picture": picture, "figure_picture": picture}
