"""The database files of PostgreSQL, made once."""

import shutil
import tempfile
from pathlib import Path

from muniment.embedded.binaries import Binaries
from muniment.embedded.errors import PostgresFailed
from muniment.embedded.place import Place
from muniment.embedded.pointer import SUPERUSER, sync_folder

HALF_MADE = "half-made-"


def make_cluster(place: Place, binaries: Binaries, *, password: str, durable: bool) -> None:
    """Make `place.cluster`, whole or not at all."""
    # Another name each time: an initdb that outlived its killed supervisor must not write into the next one's files.
    work = Path(tempfile.mkdtemp(dir=place.base, prefix=HALF_MADE))
    try:
        work.chmod(0o711)
        new, password_file = work / "cluster", work / "password"
        new.mkdir(mode=0o700)
        password_file.touch(mode=0o600)
        password_file.write_text(password, encoding="utf-8")
        for path in (new, password_file):
            place.user.own(path)
        _initdb(place, binaries, new, password_file=password_file, durable=durable)
        new.rename(place.cluster)
        sync_folder(place.base)
    finally:
        shutil.rmtree(work, ignore_errors=True)


def remove_half_made(base: Path) -> None:
    """Remove what an attempt that was killed left: half a cluster, and the password."""
    for work in base.glob(f"{HALF_MADE}*"):
        shutil.rmtree(work, ignore_errors=True)


def _initdb(place: Place, binaries: Binaries, folder: Path, *, password_file: Path, durable: bool) -> None:
    code, output = place.user.run(
        [
            binaries.program("initdb"),
            f"--pgdata={folder}",
            f"--username={SUPERUSER}",
            f"--pwfile={password_file}",
            "--auth=scram-sha-256",
            "--encoding=UTF8",
            "--locale=C",
            "--locale-provider=builtin",  # the wheel has no ICU, and the system's locales change under an index
            "--builtin-locale=C.UTF-8",
            "--data-checksums",
            *([] if durable else ["--no-sync"]),
        ]
    )
    if code != 0:
        raise PostgresFailed("PostgreSQL could not make its database files", output.splitlines()[-15:])
