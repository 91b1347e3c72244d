import os
import stat
from pathlib import Path

from muniment.embedded.postgres import PostgresLog


def test_tail_speaks_of_this_start_only(tmp_path: Path) -> None:
    log = PostgresLog(tmp_path / "postgres.log")
    for line in (b"of yesterday\n", b"of today\n"):
        descriptor = log.open()
        os.write(descriptor, line)
        os.close(descriptor)
    assert log.tail() == ["of today"]


def test_log_of_a_server_that_goes_on_writing_is_bounded(tmp_path: Path) -> None:
    path = tmp_path / "postgres.log"
    path.write_text("of yesterday\n" * 7)
    log = PostgresLog(path, limit_bytes=100)
    descriptor = log.open()
    for number in range(100):
        os.write(descriptor, f"line {number:03}\n".encode())
        log.rotate_if_large()
    os.close(descriptor)
    assert path.stat().st_size <= 100
    assert path.with_name("postgres.log.1").stat().st_size <= 110
    assert log.tail()[-1] == "line 099"
    assert sorted(found.name for found in tmp_path.iterdir()) == ["postgres.log", "postgres.log.1"]


def test_the_older_piece_is_closed_to_others_too(tmp_path: Path) -> None:
    path = tmp_path / "postgres.log"
    log = PostgresLog(path, limit_bytes=100)
    os.close(log.open())
    path.write_text("x" * 200)
    log.rotate_if_large()
    assert stat.S_IMODE((tmp_path / "postgres.log.1").stat().st_mode) == 0o600
