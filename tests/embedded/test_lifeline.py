import os
import threading

import pytest

from muniment.embedded.lifeline import SUPERVISOR_FD, watch


def test_end_of_the_pipe_is_noticed_and_not_before(monkeypatch: pytest.MonkeyPatch) -> None:
    read_end, write_end = os.pipe()
    monkeypatch.setenv(SUPERVISOR_FD, str(read_end))
    lost = threading.Event()
    watch(lost.set)
    os.write(write_end, b"still here")
    assert not lost.wait(0.1)
    os.close(write_end)
    assert lost.wait(5)


def test_what_the_child_starts_itself_sees_no_lifeline(monkeypatch: pytest.MonkeyPatch) -> None:
    read_end, write_end = os.pipe()
    os.set_inheritable(read_end, True)
    monkeypatch.setenv(SUPERVISOR_FD, str(read_end))
    lost = threading.Event()
    watch(lost.set)
    assert SUPERVISOR_FD not in os.environ
    assert not os.get_inheritable(read_end)
    os.close(write_end)
    assert lost.wait(5)


def test_without_a_supervisor_nothing_happens(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(SUPERVISOR_FD, raising=False)
    before = threading.active_count()
    watch(lambda: pytest.fail("nothing was lost"))
    assert threading.active_count() == before
