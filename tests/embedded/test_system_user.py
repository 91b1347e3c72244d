import os
import pwd
import subprocess
from pathlib import Path

import pytest

from muniment.embedded.errors import PostgresFailed
from muniment.embedded.system_user import CANDIDATES, SystemUser, choose_user

IS_ROOT = os.geteuid() == 0
NOBODY = pwd.getpwnam("nobody")


def test_root_drops_to_the_first_candidate_that_exists_and_others_stay_themselves() -> None:
    chosen = choose_user(cluster_owner=None, preferred=None)
    if IS_ROOT:
        existing = [entry.pw_name for entry in pwd.getpwall()]
        assert chosen.name == next(name for name in CANDIDATES if name in existing)
    else:
        assert chosen.uid == os.geteuid()


def test_setting_decides_for_root_and_for_nobody_else() -> None:
    assert choose_user(cluster_owner=None, preferred="nobody").uid == (NOBODY.pw_uid if IS_ROOT else os.geteuid())


def test_owner_of_an_existing_cluster_wins_over_the_setting() -> None:
    if IS_ROOT:
        assert choose_user(cluster_owner=NOBODY.pw_uid, preferred="daemon").name == "nobody"
    else:
        with pytest.raises(PostgresFailed, match=f"belong to the user ID {NOBODY.pw_uid}"):
            choose_user(cluster_owner=NOBODY.pw_uid, preferred=None)


def test_cluster_of_root_is_refused() -> None:
    with pytest.raises(PostgresFailed, match="belong to"):
        choose_user(cluster_owner=0, preferred=None)


@pytest.mark.parametrize("name", ["no-such-user", "root"])
def test_user_that_cannot_run_postgresql_is_refused_by_name(name: str) -> None:
    if IS_ROOT:
        with pytest.raises(PostgresFailed, match=rf"no unprivileged user was found \({name}\)"):
            choose_user(cluster_owner=None, preferred=name)
    else:
        assert choose_user(cluster_owner=None, preferred=name).uid == os.geteuid()


def test_folder_below_a_closed_one_cannot_be_entered_by_another_user(data_dir: Path) -> None:
    user = choose_user(cluster_owner=None, preferred=None)
    assert user.can_enter(data_dir)
    data_dir.parent.chmod(0o700)
    assert user.can_enter(data_dir) is not user.is_other_user


def test_programs_run_as_that_user_and_get_nothing_of_our_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MUNIMENT_SECRET", "secret")
    user = choose_user(cluster_owner=None, preferred=None)
    _, said = user.run(["/bin/sh", "-c", "id -u; id -G; env"])
    assert said.splitlines()[0] == str(user.uid)
    assert said.splitlines()[1] == str(user.gid) or not IS_ROOT, "no group of ours is kept"
    assert "secret" not in said


def test_ctrl_c_of_the_terminal_does_not_reach_the_programs() -> None:
    process = choose_user(cluster_owner=None, preferred=None).spawn(["/bin/sleep", "60"], output=subprocess.DEVNULL)
    assert os.getsid(process.pid) == process.pid
    process.kill()
    process.wait()


def test_user_id_without_a_name_is_refused() -> None:
    with pytest.raises(PostgresFailed, match="4242424 has no name"):
        SystemUser.from_uid(4242424)
