"""`<data directory>/postgres.json`: where the embedded PostgreSQL of this data directory lives and listens."""

import json
import os
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from muniment.embedded.errors import PostgresFailed
from muniment.storage.db.address import DatabaseAddress

DATABASE = "muniment"
SUPERUSER = "postgres"


@dataclass(frozen=True)
class Pointer:
    data_dir: Path
    cluster: Path
    socket: Path
    port: int

    @classmethod
    def read(cls, data_dir: Path) -> Self | None:
        path = pointer_file(data_dir)
        try:
            said = json.loads(path.read_text(encoding="utf-8"))
            return cls(Path(said["data_dir"]), Path(said["cluster"]), Path(said["socket"]), int(said["port"]))
        except FileNotFoundError:
            return None
        except (ValueError, KeyError, TypeError):
            raise PostgresFailed(f"{path} is damaged; it should name the folders of the embedded PostgreSQL") from None

    def write(self) -> None:
        """Whole and durable, or not at all: for a cluster elsewhere it is the only thing that names it."""
        descriptor, temporary = tempfile.mkstemp(dir=self.data_dir, prefix=".postgres-")  # mkstemp makes it 0600
        try:
            with os.fdopen(descriptor, "w", encoding="utf-8") as file:
                json.dump(vars(self), file, indent=2, default=str)
                file.flush()
                os.fsync(file.fileno())
            Path(temporary).replace(pointer_file(self.data_dir))
        finally:
            Path(temporary).unlink(missing_ok=True)
        sync_folder(self.data_dir)

    @property
    def address(self) -> DatabaseAddress:
        return DatabaseAddress(str(self.socket), self.port, DATABASE, SUPERUSER, password="")


def pointer_file(data_dir: Path) -> Path:
    return data_dir / "postgres.json"


def find_address(data_dir: Path) -> DatabaseAddress | None:
    """Where the embedded PostgreSQL of `data_dir` listens, without a password; `None` if there never was one."""
    pointer = Pointer.read(data_dir)
    return pointer.address if pointer else None


def sync_folder(folder: Path) -> None:
    """Make a rename in `folder` survive a power failure."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
