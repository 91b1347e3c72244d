import os
import subprocess
import sys
import threading

import pytest

from muniment.embedded.child_process import EXIT_CODE_ABANDONED, SUPERVISOR_FD, on_supervisor_exit

FOR_EVER = 365 * 24 * 3600.0
"""The test process is not a child that could be ended."""
HANGING = """
import signal
from muniment.embedded.child_process import on_supervisor_exit
on_supervisor_exit(lambda: None, shutdown_limit_seconds=0.1)
while True:
    signal.pause()
"""


def test_end_of_the_pipe_is_noticed_and_not_before(monkeypatch: pytest.MonkeyPatch) -> None:
    read_end, write_end = os.pipe()
    monkeypatch.setenv(SUPERVISOR_FD, str(read_end))
    lost = threading.Event()
    on_supervisor_exit(lost.set, shutdown_limit_seconds=FOR_EVER)
    os.write(write_end, b"still here")
    assert not lost.wait(0.1)
    os.close(write_end)
    assert lost.wait(5)


def test_what_the_child_starts_itself_sees_no_lifeline(monkeypatch: pytest.MonkeyPatch) -> None:
    read_end, write_end = os.pipe()
    os.set_inheritable(read_end, True)
    monkeypatch.setenv(SUPERVISOR_FD, str(read_end))
    lost = threading.Event()
    on_supervisor_exit(lost.set, shutdown_limit_seconds=FOR_EVER)
    assert SUPERVISOR_FD not in os.environ
    assert not os.get_inheritable(read_end)
    os.close(write_end)
    assert lost.wait(5)


def test_who_hangs_on_the_way_out_is_ended() -> None:
    read_end, write_end = os.pipe()
    environment = {**os.environ, SUPERVISOR_FD: str(read_end)}
    child = subprocess.Popen([sys.executable, "-c", HANGING], env=environment, pass_fds=[read_end])
    os.close(read_end)
    os.close(write_end)
    assert child.wait(60) == EXIT_CODE_ABANDONED


def test_without_a_supervisor_nothing_happens(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(SUPERVISOR_FD, raising=False)
    before = threading.active_count()
    on_supervisor_exit(lambda: pytest.fail("nothing was lost"))
    assert threading.active_count() == before
