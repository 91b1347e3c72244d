import os
import pwd
import signal
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from muniment.embedded.errors import PostgresFailed
from muniment.embedded.postgres import EmbeddedPostgres
from muniment.embedded.postgres_location import find_database_address
from tests.embedded.stored_word import assert_word_is_stored, query, store_word

pytestmark = pytest.mark.slow

IS_ROOT = os.geteuid() == 0


@pytest.fixture
def new_postgres(data_dir: Path) -> Iterator[EmbeddedPostgres]:
    postgres = EmbeddedPostgres(data_dir, password="secret", durable=False)
    yield postgres
    postgres.stop()


@pytest.fixture
def postgres(used_data_dir: Path) -> Iterator[EmbeddedPostgres]:
    postgres = EmbeddedPostgres(used_data_dir, password="secret", durable=False)
    yield postgres
    postgres.stop()


def test_new_data_directory_gets_a_server_that_only_passwords_open(
    data_dir: Path, new_postgres: EmbeddedPostgres
) -> None:
    address = new_postgres.start()
    assert query(address, "SELECT current_database()") == "muniment"
    assert query(address, "SHOW listen_addresses") == ""
    assert query(address, "SHOW data_checksums") == "on"
    assert query(address, "SHOW fsync") == "off"
    assert query(address, "SELECT datlocale FROM pg_database WHERE datname = 'muniment'") == "C.UTF-8"
    assert find_database_address(data_dir) == address.as_login("postgres", "")
    for password in ("", "wrong"):
        with pytest.raises(psycopg.OperationalError, match="password"):
            query(address.as_login("postgres", password), "SELECT 1")


FILES = ["postgres", "postgres.json", "postgres.log", "postgres.made"]


def test_stop_and_start_keep_the_data_and_leave_no_file(data_dir: Path, new_postgres: EmbeddedPostgres) -> None:
    store_word(new_postgres.start())
    assert new_postgres.poll() is None
    new_postgres.stop()
    assert new_postgres.poll() == 0
    assert sorted(path.name for path in data_dir.iterdir()) == FILES
    assert sorted(path.name for path in (data_dir / "postgres").iterdir()) == ["cluster", "socket"]
    assert list((data_dir / "postgres" / "socket").iterdir()) == []
    assert_word_is_stored(new_postgres.start())


def test_durable_is_the_default(used_data_dir: Path) -> None:
    postgres = EmbeddedPostgres(used_data_dir, password="secret")
    try:
        address = postgres.start()
        settings = [query(address, f"SHOW {name}") for name in ("fsync", "synchronous_commit", "full_page_writes")]
        assert settings == ["on", "on", "on"]
    finally:
        postgres.stop()


def test_killed_server_comes_back_with_what_was_committed_once_its_last_process_is_gone(used_data_dir: Path) -> None:
    postgres = EmbeddedPostgres(used_data_dir, password="secret", durable=True)
    try:
        address = postgres.start()
        store_word(address)
        with psycopg.connect(address.conninfo) as connection:
            slow_to_die = connection.info.backend_pid
            os.kill(slow_to_die, signal.SIGSTOP)
            assert postgres.pid
            os.kill(postgres.pid, signal.SIGKILL)
            threading.Timer(1, os.kill, [slow_to_die, signal.SIGCONT]).start()
            assert_word_is_stored(postgres.start())
        assert "pre-existing shared memory block" in (used_data_dir / "postgres.log").read_text()
    finally:
        postgres.stop()


def test_orphaned_server_is_replaced(data_dir: Path, postgres: EmbeddedPostgres) -> None:
    store_word(postgres.start())
    successor = EmbeddedPostgres(data_dir, password="secret", durable=False)
    try:
        assert_word_is_stored(successor.start())
        assert successor.pid != postgres.pid
        assert postgres.poll() is not None
    finally:
        successor.stop()


def test_process_number_that_another_process_has_now_is_no_server(data_dir: Path, postgres: EmbeddedPostgres) -> None:
    cluster = data_dir / "postgres" / "cluster"
    # Not a child of ours: PostgreSQL would recognize its parent and siblings.
    stranger = subprocess.Popen(["sleep", "60"], user=cluster.stat().st_uid if IS_ROOT else None)
    (cluster / "postmaster.pid").write_text(f"{stranger.pid}\n{cluster}\n1700000000\n5432\n\n\n")
    try:
        assert query(postgres.start(), "SELECT 1") == 1
        assert stranger.poll() is None
    finally:
        stranger.kill()
        stranger.wait()


def test_interrupted_initdb_is_repeated(data_dir: Path, new_postgres: EmbeddedPostgres) -> None:
    half_made = data_dir / "postgres" / "half-made-x"
    (half_made / "cluster").mkdir(parents=True)
    (half_made / "cluster" / "PG_VERSION").write_text("18\n")
    (half_made / "password").write_text("secret")
    assert query(new_postgres.start(), "SELECT 1") == 1
    assert not half_made.exists()


def test_folder_that_holds_no_database_is_not_overwritten(data_dir: Path, new_postgres: EmbeddedPostgres) -> None:
    precious = data_dir / "postgres" / "cluster" / "precious"
    precious.parent.mkdir(parents=True)
    precious.touch()
    if IS_ROOT:
        os.chown(precious.parent, pwd.getpwnam("nobody").pw_uid, -1)
    with pytest.raises(PostgresFailed, match="contains no database"):
        new_postgres.start()
    assert precious.exists()


def test_cluster_of_another_major_version_is_refused_with_the_way_over(
    data_dir: Path, postgres: EmbeddedPostgres
) -> None:
    version = data_dir / "postgres" / "cluster" / "PG_VERSION"
    version.write_text("17\n")
    with pytest.raises(
        PostgresFailed, match="created by PostgreSQL 17, but this version of Muniment includes PostgreSQL 18"
    ) as refusal:
        postgres.start()
    assert "OLD/pg_dumpall" in refusal.value.message
    assert str(data_dir / "postgres" / "cluster-17") in refusal.value.message
    assert version.read_text() == "17\n"


def test_failure_shows_the_last_lines_of_the_log(data_dir: Path, postgres: EmbeddedPostgres) -> None:
    with (data_dir / "postgres" / "cluster" / "postgresql.conf").open("a") as file:
        file.write("no_such_setting = 1\n")
    with pytest.raises(PostgresFailed, match=r"exited with code 1\n(.*\n)*.*unrecognized configuration parameter"):
        postgres.start()


def test_lost_password_is_said_at_once(used_data_dir: Path) -> None:
    stranger = EmbeddedPostgres(used_data_dir, password="another", durable=False)
    with pytest.raises(PostgresFailed, match="rejected its password"):
        stranger.start()
    assert stranger.poll() == 0
