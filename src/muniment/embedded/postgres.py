"""The embedded PostgreSQL server: start, monitor, stop, and keep its log small."""

import os
import shutil
import signal
import subprocess
import time
from contextlib import suppress
from pathlib import Path

import psycopg
from psycopg import sql
from tenacity import Retrying, retry_if_exception, stop_after_delay, wait_fixed

from muniment.embedded.binaries import Binaries, find_binaries
from muniment.embedded.errors import PostgresFailed
from muniment.embedded.postgres_cluster import (
    check_major_version,
    create_cluster,
    remove_incomplete_clusters,
    stop_orphan,
)
from muniment.embedded.postgres_location import DATABASE, PORT, SUPERUSER, PostgresLocation, resolve_location
from muniment.storage.db.address import DatabaseAddress

LOG_LIMIT_BYTES = 10 * 1024 * 1024


TAIL_BYTES = 8 * 1024


TAIL_LINES = 15


class PostgresLog:
    """The file `postgres.log`, and the previous part of it in `postgres.log.1`."""

    def __init__(self, path: Path, *, limit_bytes: int = LOG_LIMIT_BYTES) -> None:
        self._path = path
        self._limit_bytes = limit_bytes
        self._start_offset = 0

    def open(self) -> int:
        """Return a descriptor for appending. `tail` covers what is written from here on."""
        descriptor = os.open(self._path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        self._start_offset = os.fstat(descriptor).st_size
        return descriptor

    def tail(self) -> list[str]:
        """Return the last lines written since `open`."""
        with self._path.open("rb") as file:
            size = os.fstat(file.fileno()).st_size
            begin = self._start_offset if self._start_offset <= size else 0  # truncated since then
            file.seek(max(begin, size - TAIL_BYTES))
            return file.read().decode(errors="replace").splitlines()[-TAIL_LINES:]

    def rotate_if_large(self) -> None:
        """Truncate the file if it has grown too large, keeping a copy.

        The server keeps its descriptor, so the file is copied and truncated, not renamed. Lines written in between are
        lost, which saves a log process.
        """
        if self._path.exists() and self._path.stat().st_size > self._limit_bytes:
            with suppress(OSError):  # a full disk is no reason to let the log grow
                shutil.copy(self._path, self._path.with_name(f"{self._path.name}.1"))  # with its mode, which is private
            os.truncate(self._path, 0)


READY_SECONDS = 60.0


RETRY_SECONDS = 10.0
RETRY_INTERVAL_SECONDS = 0.2


STOP_SIGNALS = ((signal.SIGINT, 60.0), (signal.SIGQUIT, 5.0), (signal.SIGKILL, 5.0))


def shared_buffers() -> str:
    """Return an eighth of the memory, up to 4 GB.

    Data that searches read repeatedly stays in the server. With a million passages and 1 GB, a search in a tenth of
    them takes a quarter longer.
    """
    memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return f"{min(max(memory // 8 // 2**20, 128), 4096)}MB"


SERVER_SETTINGS = {
    "listen_addresses": "",
    "port": str(PORT),
    "unix_socket_permissions": "0700",
    "max_connections": "100",
    "shared_buffers": shared_buffers(),
    "jit": "off",  # compiling a plan takes longer than any of our statements
    "timezone": "UTC",
    "log_timezone": "UTC",
}


NON_DURABLE_SETTINGS = {"fsync": "off", "synchronous_commit": "off", "full_page_writes": "off"}


class EmbeddedPostgres:
    """One cluster in one data directory, whose lock the caller holds.

    `user` is the system user to switch to as root. `durable=False` is for tests: a power failure may lose everything.
    """

    def __init__(self, data_dir: Path, *, password: str, user: str | None = None, durable: bool = True) -> None:
        self._data_dir = data_dir.resolve()
        self._password = password
        self._preferred_user = user
        self._durable = durable
        self._log = PostgresLog(self._data_dir / "postgres.log")
        self._location: PostgresLocation | None = None
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def pid(self) -> int | None:
        return self._process.pid if self._process else None

    def poll(self) -> int | None:
        """Return the exit code if the server has ended."""
        self._log.rotate_if_large()
        return self._process.poll() if self._process else None

    def start(self) -> DatabaseAddress:
        """Create the cluster if there is none, stop an orphaned server, and return when a connection works."""
        self._stop_server()
        self._location = location = resolve_location(self._data_dir, preferred_user=self._preferred_user)
        binaries = find_binaries(location.user)
        remove_incomplete_clusters(location.base)
        marker = self._data_dir / "postgres.made"
        if not location.cluster.exists():
            if marker.exists():
                raise PostgresFailed(
                    f"The database directory {location.cluster} is missing. Mount its disk or restore a backup. "
                    f"To start empty, delete {marker}"
                )
            create_cluster(location, binaries, password=self._password, durable=self._durable)
        marker.touch(mode=0o600)
        check_major_version(location, binaries)
        stop_orphan(location.cluster)
        location.make_socket_folder()
        address = DatabaseAddress(str(location.socket), PORT, DATABASE, SUPERUSER, self._password)
        try:
            self._start_server(location, binaries, address)
            _create_database(address)
        except psycopg.Error as error:
            self._stop_server()
            raise PostgresFailed(f"PostgreSQL started and then failed: {error}", self._log.tail()) from None
        except BaseException:
            self._stop_server()
            raise
        return address

    def stop(self) -> None:
        """Stop the server. Clients are disconnected; committed data is kept."""
        self._stop_server()
        # Only here and not before a restart, because the API and the worker look for the server at this address.
        if self._location:
            self._location.remove_temporary_socket_folder()

    def _stop_server(self) -> None:
        """Stop our own server, or reap one that has died."""
        if not self._process:
            return
        for number, seconds in STOP_SIGNALS:
            self._process.send_signal(number)
            try:
                self._process.wait(seconds)
                return
            except subprocess.TimeoutExpired:
                continue

    def _start_server(self, location: PostgresLocation, binaries: Binaries, address: DatabaseAddress) -> None:
        settings = (
            SERVER_SETTINGS
            | {"unix_socket_directories": str(location.socket)}
            | ({} if self._durable else NON_DURABLE_SETTINGS)
        )
        options = [part for name, value in settings.items() for part in ("-c", f"{name}={value}")]
        command = [binaries.program("postgres"), "-D", str(location.cluster), *options]
        retrying = Retrying(
            stop=stop_after_delay(RETRY_SECONDS),
            wait=wait_fixed(RETRY_INTERVAL_SECONDS),
            retry=retry_if_exception(_is_memory_in_use),
            reraise=True,
        )
        retrying(self._spawn_server, location, command, address)

    def _spawn_server(self, location: PostgresLocation, command: list[str], address: DatabaseAddress) -> None:
        output = self._log.open()
        try:
            self._process = location.user.spawn(command, output=output)
        finally:
            os.close(output)
        if not self._wait_until_ready(self._process, address):
            raise PostgresFailed(f"PostgreSQL exited with code {self._process.returncode}", self._log.tail())

    def _wait_until_ready(self, process: subprocess.Popen[bytes], address: DatabaseAddress) -> bool:
        """Wait for the first connection. Return False if the server exits before."""
        deadline = time.monotonic() + READY_SECONDS
        while process.poll() is None:
            try:
                psycopg.connect(address.at_database("postgres").conninfo, connect_timeout=5).close()
                return True
            except psycopg.OperationalError as error:
                reason = str(error)
            if "password authentication failed" in reason:
                raise PostgresFailed("The embedded PostgreSQL rejected its password. It was created with another one")
            if "the database system is" in reason:  # starting up: recovery may take long
                deadline = time.monotonic() + READY_SECONDS
            if time.monotonic() > deadline:
                raise PostgresFailed(f"PostgreSQL is not responding: {reason}", self._log.tail())
            time.sleep(0.05)
        return False


def _is_memory_in_use(error: BaseException) -> bool:
    # After a kill -9 of the server, its children hold the shared memory for a moment longer.
    return isinstance(error, PostgresFailed) and any("shared memory block" in line for line in error.log_lines)


def _create_database(address: DatabaseAddress) -> None:
    with psycopg.connect(address.at_database("postgres").conninfo, autocommit=True) as connection:
        if not connection.execute("SELECT 1 FROM pg_database WHERE datname = %s", [DATABASE]).fetchone():
            connection.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(DATABASE)))
