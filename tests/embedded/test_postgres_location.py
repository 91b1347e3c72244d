import json
import os
import pwd
import stat
from pathlib import Path

import pytest

from muniment.embedded.binaries import SHARED_FOLDER
from muniment.embedded.errors import PostgresFailed
from muniment.embedded.postgres_location import (
    PostgresLocation,
    find_database_address,
    location_file_path,
    resolve_location,
)

IS_ROOT = os.geteuid() == 0


def resolve(data_dir: Path) -> PostgresLocation:
    return resolve_location(data_dir, preferred_user=None)


def close_to_others(data_dir: Path) -> Path:
    """Return a data directory below a folder that only its owner may enter."""
    below = data_dir / "closed" / "data"
    below.mkdir(parents=True)
    below.parent.chmod(0o700)
    return below


def test_cluster_and_socket_live_in_the_data_directory(data_dir: Path) -> None:
    place = resolve(data_dir / "new")
    assert place.cluster == data_dir / "new" / "postgres" / "cluster"
    assert place.socket == data_dir / "new" / "postgres" / "socket"


def test_pointer_is_private_and_gives_others_the_address_without_a_password(data_dir: Path) -> None:
    assert find_database_address(data_dir) is None
    place = resolve(data_dir)
    assert stat.S_IMODE(location_file_path(data_dir).stat().st_mode) == 0o600
    address = find_database_address(data_dir)
    assert address
    assert (address.host, address.port, address.database) == (str(place.socket), 5432, "muniment")
    assert (address.user, address.password) == ("postgres", "")
    assert address.as_login("muniment_app", "secret").conninfo.endswith("user=muniment_app password=secret")


def test_data_directory_that_the_user_cannot_reach_puts_the_cluster_elsewhere(data_dir: Path) -> None:
    below = close_to_others(data_dir)
    place = resolve(below)
    if IS_ROOT:
        assert place.base.parent == SHARED_FOLDER
        assert resolve(below) == place, "the pointer names it from now on"
    else:
        assert place.base == below / "postgres"


def test_data_directory_that_moved_keeps_the_cluster_inside_it_and_its_owner(data_dir: Path) -> None:
    owner = pwd.getpwnam("daemon").pw_uid if IS_ROOT else os.geteuid()
    cluster = resolve(data_dir / "before").cluster
    cluster.mkdir()
    os.chown(cluster, owner, -1)
    (data_dir / "before").rename(data_dir / "after")
    place = resolve(data_dir / "after")
    assert (place.base, place.user.uid) == (data_dir / "after" / "postgres", owner)


def test_cluster_elsewhere_that_is_gone_is_not_replaced_by_an_empty_one(data_dir: Path) -> None:
    gone = {"data_dir": str(data_dir), "cluster": "/var/lib/muniment/gone/cluster", "socket": "/x", "port": 5432}
    location_file_path(data_dir).write_text(json.dumps(gone))
    with pytest.raises(PostgresFailed, match=r"/var/lib/muniment/gone/cluster, which is missing"):
        resolve(data_dir)


def test_copy_of_a_data_directory_does_not_share_the_cluster_elsewhere(data_dir: Path) -> None:
    first, copy = data_dir / "first", data_dir / "copy"
    for folder in (first, copy, data_dir / "elsewhere"):
        folder.mkdir()
    shared = {"data_dir": str(first), "cluster": str(data_dir / "elsewhere" / "cluster"), "socket": "/x", "port": 5432}
    for folder in (first, copy):
        location_file_path(folder).write_text(json.dumps(shared))
    with pytest.raises(PostgresFailed, match="looks like a copy"):
        resolve(copy)
    location_file_path(first).unlink()
    assert resolve(copy).base == data_dir / "elsewhere", "a data directory that moved keeps it"


def test_damaged_pointer_is_an_error_with_its_name(data_dir: Path) -> None:
    location_file_path(data_dir).write_text("{")
    with pytest.raises(PostgresFailed, match=r"postgres\.json is damaged"):
        find_database_address(data_dir)
    location_file_path(data_dir).unlink()


@pytest.mark.parametrize("name", ["d" * 120, "with, comma"])
def test_path_that_no_client_can_name_moves_the_socket_to_a_short_private_folder(data_dir: Path, name: str) -> None:
    deep = data_dir / name
    place = resolve(deep)
    assert place.cluster == deep / "postgres" / "cluster"
    assert len(f"{place.socket}/.s.PGSQL.5432") < 104
    assert stat.S_IMODE(place.socket.stat().st_mode) == 0o700
    assert place.socket.stat().st_uid == place.user.uid
    assert resolve(deep).socket == place.socket, "a folder that is there is used again"

    place.remove_temporary_socket_folder()
    assert not place.socket.exists()
    anew = resolve(deep)
    assert anew.socket.exists()
    anew.remove_temporary_socket_folder()


def test_short_folder_whose_name_somebody_else_took_is_not_used(data_dir: Path) -> None:
    deep = data_dir / ("d" * 60) / ("e" * 60)
    place = resolve(deep)
    place.socket.chmod(0o777)
    anew = resolve(deep)
    assert anew.socket != place.socket
    for each in (place, anew):
        each.remove_temporary_socket_folder()
