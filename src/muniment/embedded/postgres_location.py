"""Locations of the cluster and its socket, recorded in `<data directory>/postgres.json`.

Normally both are in `<data directory>/postgres/`. There are two exceptions: if root switches to a user that cannot
reach the data directory, the cluster is in `/var/lib/muniment/<id>/`; if the path is too long for a socket, the socket
is in a short folder. The file always names both.
"""

import json
import os
import secrets
import stat
import sys
import tempfile
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from muniment.embedded.binaries import SHARED_FOLDER, make_traversable_folder
from muniment.embedded.errors import PostgresFailed
from muniment.embedded.system_user import SystemUser, choose_user
from muniment.storage.db.address import DatabaseAddress

DATABASE = "muniment"


SUPERUSER = "postgres"


@dataclass(frozen=True)
class LocationFile:
    data_dir: Path
    cluster: Path
    socket: Path
    port: int

    @classmethod
    def read(cls, data_dir: Path) -> Self | None:
        path = location_file_path(data_dir)
        try:
            values = json.loads(path.read_text(encoding="utf-8"))
            return cls(Path(values["data_dir"]), Path(values["cluster"]), Path(values["socket"]), int(values["port"]))
        except FileNotFoundError:
            return None
        except (ValueError, KeyError, TypeError):
            raise PostgresFailed(
                f"{path} is damaged. It should contain the folders of the embedded PostgreSQL"
            ) from None

    def write(self) -> None:
        """Write the file atomically and durably: for a cluster elsewhere, it is the only reference."""
        # mkstemp creates it with mode 0600
        descriptor, temporary = tempfile.mkstemp(dir=self.data_dir, prefix=".postgres-")
        try:
            with os.fdopen(descriptor, "w", encoding="utf-8") as file:
                json.dump(vars(self), file, indent=2, default=str)
                file.flush()
                os.fsync(file.fileno())
            Path(temporary).replace(location_file_path(self.data_dir))
        finally:
            Path(temporary).unlink(missing_ok=True)
        fsync_folder(self.data_dir)

    @property
    def address(self) -> DatabaseAddress:
        return DatabaseAddress(str(self.socket), self.port, DATABASE, SUPERUSER, password="")


def location_file_path(data_dir: Path) -> Path:
    return data_dir / "postgres.json"


def find_database_address(data_dir: Path) -> DatabaseAddress | None:
    """Return the address of the embedded PostgreSQL without a password, or `None` if there has never been one."""
    recorded = LocationFile.read(data_dir)
    return recorded.address if recorded else None


def fsync_folder(folder: Path) -> None:
    """Make a rename in `folder` survive a power failure."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


PORT = 5432  # only part of the socket's name; no port is opened


IS_MACOS = sys.platform == "darwin"


SOCKET_PATH_BYTES = 103 if IS_MACOS else 107  # the kernel's limit


RUN_FOLDER = Path("/var/run/muniment" if IS_MACOS else "/run/muniment")


@dataclass(frozen=True)
class PostgresLocation:
    """The folders of one cluster, and the user that owns them."""

    user: SystemUser
    base: Path
    socket: Path

    @property
    def cluster(self) -> Path:
        return self.base / "cluster"

    def make_socket_folder(self) -> None:
        """Create the socket folder. No server of this cluster may be running."""
        self.socket.mkdir(exist_ok=True)
        self.user.chown(self.socket)
        self.socket.chmod(0o700)
        for stale in self.socket.glob(".s.PGSQL.*"):
            stale.unlink()  # its lock file may name the process id of another process by now

    def remove_temporary_socket_folder(self) -> None:
        if self.socket.parent != self.base:
            with suppress(OSError):  # not empty, or gone
                self.socket.rmdir()


def resolve_location(data_dir: Path, *, preferred_user: str | None) -> PostgresLocation:
    """Find or choose the folders, and record them."""
    data_dir.mkdir(parents=True, exist_ok=True)
    recorded = LocationFile.read(data_dir)
    base = _existing_base(data_dir, recorded)
    user = choose_user(cluster_owner=_owner(base), preferred=preferred_user)
    base = base or _new_base(data_dir, user)
    make_traversable_folder(base)
    if not user.can_enter(base):
        raise PostgresFailed(
            f"The user {user.name}, who runs PostgreSQL, cannot access {base}. Allow access to its parent folders"
        )
    location = PostgresLocation(user, base, _socket_folder(base, user, recorded))
    LocationFile(data_dir, location.cluster, location.socket, PORT).write()
    return location


def _existing_base(data_dir: Path, recorded: LocationFile | None) -> Path | None:
    """Return the folder of the existing cluster, if any. One inside wins, because the data directory may have moved."""
    inside = data_dir / "postgres"
    if (inside / "cluster").exists():
        return inside
    if recorded is None or recorded.cluster.is_relative_to(recorded.data_dir):
        return None
    if not recorded.cluster.parent.exists():
        raise PostgresFailed(
            f"{location_file_path(data_dir)} refers to the database directory {recorded.cluster}, which is missing. "
            "Mount its disk or restore a backup. To start empty, delete that file"
        )
    if recorded.data_dir != data_dir and LocationFile.read(recorded.data_dir) == recorded:
        raise PostgresFailed(
            f"{data_dir} looks like a copy of {recorded.data_dir}. Both would use the database {recorded.cluster}. "
            f"To start empty, delete {location_file_path(data_dir)}"
        )
    return recorded.cluster.parent


def _new_base(data_dir: Path, user: SystemUser) -> Path:
    if user.can_enter(data_dir):
        return data_dir / "postgres"
    make_traversable_folder(SHARED_FOLDER)
    return SHARED_FOLDER / secrets.token_hex(8)


def _owner(base: Path | None) -> int | None:
    cluster = base / "cluster" if base else None
    return cluster.stat().st_uid if cluster and cluster.exists() else None


def _socket_folder(base: Path, user: SystemUser, recorded: LocationFile | None) -> Path:
    regular = base / "socket"
    if _fits_socket_path(regular):
        return regular
    # A short folder left by a killed supervisor is reused, unless another user has taken its name.
    if recorded and _fits_socket_path(recorded.socket) and _is_private(recorded.socket, user):
        return recorded.socket
    if user.is_other_user:
        make_traversable_folder(RUN_FOLDER)
    short = Path(tempfile.mkdtemp(prefix="muniment-", dir=RUN_FOLDER if user.is_other_user else None))
    user.chown(short)
    return short


def _fits_socket_path(folder: Path) -> bool:
    """Whether clients can use the folder: a comma separates hosts and cannot be quoted."""
    return "," not in str(folder) and len(os.fsencode(folder / f".s.PGSQL.{PORT}")) <= SOCKET_PATH_BYTES


def _is_private(folder: Path, user: SystemUser) -> bool:
    try:
        found = folder.lstat()
    except FileNotFoundError:
        return False
    return stat.S_ISDIR(found.st_mode) and stat.S_IMODE(found.st_mode) == 0o700 and found.st_uid == user.uid
