"""Folders for servers under test: accessible to the user that runs PostgreSQL, and checked for leftovers."""

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil

from muniment.embedded.postgres_location import LocationFile
from muniment.storage.disk import GIBIBYTE, has_free_space


@contextmanager
def shared_folder() -> Iterator[Path]:
    """Yield a folder with a short path, because a unix socket path is limited to 107 bytes; pytest's folders are closed
    to other users.

    Fails if a process is left in it, or in a cluster elsewhere that a data directory in it names.
    """
    top = Path(tempfile.mkdtemp(prefix="mun-", dir=fast_folder())).resolve()
    top.chmod(0o755)
    yield top
    folders = {top, *_clusters_elsewhere(top)}
    left = [process for process in psutil.process_iter() if _runs_in(process, folders)]
    for process in left:
        process.kill()
    for folder in folders:
        shutil.rmtree(folder)
    assert not left


def fast_folder() -> Path | None:
    """Return a folder in memory if there is enough of it: creating a cluster there is four times as fast."""
    memory = Path("/dev/shm")
    return memory if memory.is_dir() and has_free_space(memory, 2 * GIBIBYTE) else None


def _clusters_elsewhere(top: Path) -> Iterator[Path]:
    for file in top.rglob("postgres.json"):
        pointer = LocationFile.read(file.parent)
        if pointer and not pointer.cluster.is_relative_to(top) and pointer.cluster.parent.exists():
            yield pointer.cluster.parent


def _runs_in(process: psutil.Process, folders: set[Path]) -> bool:
    try:
        return any(Path(process.cwd()).is_relative_to(folder) for folder in folders)
    except psutil.Error:
        return False
