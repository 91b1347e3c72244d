import os
import subprocess
import sys
from pathlib import Path

import pytest

from muniment.embedded.data_directory import DataDirectoryLock
from muniment.embedded.errors import AlreadyRunning, DataDirectoryNotWritable


def test_second_holder_is_told_which_process_to_stop(tmp_path: Path) -> None:
    with (
        DataDirectoryLock(tmp_path / "new"),
        pytest.raises(AlreadyRunning, match=rf"process {os.getpid()}\)\. Stop it first"),
        DataDirectoryLock(tmp_path / "new"),
    ):
        pass


def test_a_data_directory_that_cannot_be_written_is_said_in_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "data").touch()
    with pytest.raises(DataDirectoryNotWritable, match="is not writable"), DataDirectoryLock(tmp_path / "data"):
        pass


def test_lock_is_free_after_release(tmp_path: Path) -> None:
    with DataDirectoryLock(tmp_path):
        pass
    with DataDirectoryLock(tmp_path):
        assert (tmp_path / "muniment.lock").read_text() == f"{os.getpid()}\n"


def test_a_child_that_lives_on_does_not_keep_the_lock(tmp_path: Path) -> None:
    with DataDirectoryLock(tmp_path):
        child = subprocess.Popen(
            [sys.executable, "-c", "print(flush=True); input()"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            close_fds=False,
        )
        assert child.stdout
        child.stdout.readline()  # the descriptors are closed while it starts
    try:
        with DataDirectoryLock(tmp_path):
            assert child.poll() is None
    finally:
        child.communicate(b"\n")
