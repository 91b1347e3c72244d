"""The server in unusual locations and for unusual users."""

import os
import pwd
import shutil
import signal
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from muniment.embedded.postgres import EmbeddedPostgres
from tests.embedded.conftest import Eventually
from tests.embedded.stored_word import assert_word_is_stored, query, store_word

pytestmark = pytest.mark.slow

IS_ROOT = os.geteuid() == 0


def test_long_path_gets_a_short_socket_that_stays_until_the_stop(data_dir: Path, eventually: Eventually) -> None:
    postgres = EmbeddedPostgres(data_dir / ("d" * 120), password="secret", durable=False)
    try:
        address = postgres.start()
        assert postgres.pid
        os.kill(postgres.pid, signal.SIGINT)
        eventually(lambda: postgres.poll() is not None)
        assert postgres.start() == address, "the API and the worker look for it there"
        assert query(address, "SELECT 1") == 1
    finally:
        postgres.stop()
    assert not Path(address.host).exists()


def test_name_of_the_data_directory_may_have_quotes_and_spaces_in_it(data_dir: Path) -> None:
    postgres = EmbeddedPostgres(data_dir / 'my "own" data', password="secret", durable=False)
    try:
        assert query(postgres.start(), "SELECT 1") == 1
    finally:
        postgres.stop()


def test_data_directory_below_a_closed_folder_works(data_dir: Path) -> None:
    below = data_dir / "closed" / "data"
    below.mkdir(parents=True)
    below.parent.chmod(0o700)
    postgres = EmbeddedPostgres(below, password="secret", durable=False)
    try:
        store_word(postgres.start())
        postgres.stop()
        address = postgres.start()
        assert_word_is_stored(address)
        socket = Path(address.host)
        assert socket.is_relative_to(below) is not IS_ROOT
        assert stat.S_IMODE(socket.stat().st_mode) == 0o700
        assert stat.S_IMODE(below.parent.stat().st_mode) == 0o700, "nothing was opened to others"
    finally:
        postgres.stop()


def test_ordinary_user_needs_nothing_of_root(data_dir: Path) -> None:
    """Root runs it as `nobody`, if there is a Python that `nobody` can execute; other users as themselves."""
    user = pwd.getpwnam("nobody").pw_uid if IS_ROOT else None
    if IS_ROOT:
        os.chown(data_dir, user or 0, -1)
    script = shutil.copy(Path(__file__).parent / "programs" / "round_trip.py", data_dir)
    pythons = (sys.executable, shutil.which(f"python3.{sys.version_info.minor}", path="/usr/bin:/usr/local/bin"))
    python = next((found for found in pythons if found and _can_run(found, user)), None)
    if python is None:
        assert IS_ROOT, "whoever runs the tests can run Python"
        return  # Python or our sources are below a closed folder
    said = subprocess.run(
        [python, script, str(data_dir)], user=user, env=_environment(), capture_output=True, text=True, check=False
    )
    assert (said.stdout, said.stderr) == (f"{user if IS_ROOT else os.geteuid()} ('still there',)\n", "")
    assert (data_dir / "postgres" / "cluster").stat().st_uid == (user if IS_ROOT else os.geteuid())


def _can_run(python: str, user: int | None) -> bool:
    command = [python, "-c", "import psycopg, psutil, muniment.embedded.postgres"]
    try:
        return subprocess.run(command, user=user, env=_environment(), capture_output=True, check=False).returncode == 0
    except PermissionError:
        return False


def _environment() -> dict[str, str]:
    return {"PYTHONPATH": os.pathsep.join(sys.path), "PYTHONDONTWRITEBYTECODE": "1", "PATH": os.defpath}
