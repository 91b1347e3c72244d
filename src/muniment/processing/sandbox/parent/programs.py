"""Make external programs executable for sandboxed children.

An unprivileged child cannot reach a program that is installed below a private folder. A child tries to run it first; if
that fails and we are root, the program is copied to a shared folder.
"""

import contextlib
import errno
import hashlib
import os
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path

SHARED_PROGRAMS_FOLDER = Path("/var/lib/muniment")
"""Where root copies programs that another user must be able to execute, if they are in a private folder."""


@dataclass(frozen=True)
class Program:
    path: str
    data_folder: str
    """Folder of the data that the program reads."""

    @property
    def readable_folders(self) -> tuple[str, ...]:
        """Return the folders needed to run it: its own, the libraries next to it, its data."""
        folder = Path(self.path).parent
        return (str(folder), *(str(folder.parent / name) for name in ("lib", "lib64")), self.data_folder)


def copy_program(installed: Program, *, shared_folder: Path = SHARED_PROGRAMS_FOLDER) -> Program:
    """Copy program and data to a place where every user can run them. Idempotent."""
    program, data = Path(installed.path), Path(installed.data_folder)
    target = shared_folder / f"{program.name}-{_digest(program, data)}"
    if not target.exists():
        _copy(program, data, target)
    return Program(str(target / "bin" / program.name), str(target / "data"))


def _digest(program: Path, data: Path) -> str:
    """Return a digest of the program and of the names and sizes of its data, so that each version has its own copy."""
    with program.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256")
    for path in sorted(data.rglob("*")):
        digest.update(f"\0{path.relative_to(data)}\0{path.stat().st_size}".encode())
    return digest.hexdigest()[:16]


def _copy(program: Path, data: Path, target: Path) -> None:
    """Copy atomically: a path that exists is complete."""
    if not target.parent.exists():
        target.parent.mkdir(parents=True)
        target.parent.chmod(0o711)  # others may traverse but not list it, whatever the umask
    beside = Path(tempfile.mkdtemp(dir=target.parent, prefix=".new-"))
    try:
        (beside / "bin").mkdir()
        shutil.copyfile(program, beside / "bin" / program.name)
        shutil.copytree(data, beside / "data", copy_function=shutil.copyfile)
        for path in (beside, *beside.rglob("*")):
            path.chmod(0o755 if path.is_dir() or path.parent.name == "bin" else 0o644)
        os.sync()  # the copy is permanent, and a power failure must not leave empty files under the final name
        beside.rename(target)
    except OSError as error:
        if error.errno not in (errno.EEXIST, errno.ENOTEMPTY):  # another process was first
            raise
    finally:
        with contextlib.suppress(FileNotFoundError):
            shutil.rmtree(beside)
