"""A document that controls its reader can reach nothing."""

import os
import socket
import tempfile
from pathlib import Path

import pytest

from muniment.processing.readers.contract import ReadingOptions
from muniment.processing.sandbox.client import Sandbox
from tests.processing.sandbox.conftest import a_file, ask

IS_ROOT = os.geteuid() == 0


async def test_on_this_machine_every_protection_holds_that_its_kernel_and_user_allow(sandbox: Sandbox) -> None:
    protections = await sandbox.probe()
    assert protections["no_new_privileges"]
    assert protections["dies_with_server"]
    assert protections["not_traceable"]
    assert protections["oom_first"]
    assert protections["user"] == IS_ROOT
    assert protections["ocr"] is False


async def test_environment_of_the_client_does_not_come_along(sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOCUMENT_HMAC_SECRET", "very secret")
    assert set((await ask(sandbox, "environment")).split()) <= {"PATH", "LC_ALL"}


async def test_no_descriptor_is_inherited_but_file_and_output(sandbox: Sandbox) -> None:
    with socket.socket() as ours, a_file() as other:
        os.set_inheritable(ours.fileno(), True)
        os.set_inheritable(other.fileno(), True)
        assert await ask(sandbox, "descriptors") == "0 1 2 3 4"


async def test_root_becomes_a_user_that_nobody_knows(sandbox: Sandbox) -> None:
    user, group, groups = (await ask(sandbox, "who")).split(maxsplit=2)
    assert (int(user) == os.getuid()) is not IS_ROOT
    assert (int(group) == os.getgid()) is not IS_ROOT
    assert groups == "[]" or not IS_ROOT


async def test_two_children_at_once_are_two_users(sandbox: Sandbox) -> None:
    with a_file() as one, a_file() as other:
        async with (
            sandbox.read(one, "who", ReadingOptions()) as first,
            sandbox.read(other, "who", ReadingOptions()) as second,
        ):
            users = {page.text async for page in first.pages} | {page.text async for page in second.pages}
    assert len(users) == (2 if IS_ROOT else 1)


async def test_no_file_can_be_written(sandbox: Sandbox) -> None:
    with tempfile.TemporaryDirectory(dir="/tmp") as name:
        Path(name).chmod(0o777)
        target = Path(name) / "new"
        assert await ask(sandbox, "write_file", str(target)) in ("PermissionError", "OSError")
        assert not target.exists() or target.stat().st_size == 0


async def test_the_document_itself_can_be_neither_changed_nor_shortened(sandbox: Sandbox) -> None:
    with a_file("as it was") as file:
        async with sandbox.read(file, "write_input", ReadingOptions()) as reading:
            assert [page.text async for page in reading.pages] == ["refused refused"]
        file.seek(0)
        assert file.read() == b"as it was"


async def test_reading_moves_no_place_in_the_file_of_the_caller(sandbox: Sandbox) -> None:
    with a_file("abcdef") as file:
        file.seek(2)
        async with sandbox.read(file, "echo", ReadingOptions()) as reading:
            assert [page.text async for page in reading.pages] == ["abcdef"]
        assert file.read() == b"cdef"


async def test_secrets_of_the_machine_cannot_be_read(sandbox: Sandbox, tmp_path: Path) -> None:
    tmp_path.chmod(0o700)
    secret = tmp_path / "secret"
    secret.write_text("very secret")
    protections = await sandbox.probe()
    for path in ("/etc/shadow", str(secret)):
        if protections["user"] or protections["files"]:
            assert await ask(sandbox, "read_file", path) == "PermissionError"


async def test_what_everybody_may_read_is_hidden_too_where_the_kernel_has_landlock(sandbox: Sandbox) -> None:
    protections = await sandbox.probe()
    with tempfile.NamedTemporaryFile(dir="/tmp") as file:
        file.write(b"open to all")
        file.flush()
        Path(file.name).chmod(0o644)
        answer = await ask(sandbox, "read_file", file.name)
    assert answer == ("PermissionError" if protections["files"] else "open to all")


async def test_network_is_out_of_reach(sandbox: Sandbox) -> None:
    protections = await sandbox.probe()
    with socket.create_server(("127.0.0.1", 0)) as listener:
        answer = await ask(sandbox, "connect", str(listener.getsockname()[1]))
    assert (answer == "connected") is not (protections["network"] or protections["system_calls"])


async def test_sockets_in_the_file_system_are_out_of_reach(sandbox: Sandbox) -> None:
    protections = await sandbox.probe()
    with tempfile.TemporaryDirectory(dir="/tmp") as folder, socket.socket(socket.AF_UNIX) as listener:
        Path(folder).chmod(0o755)
        path = Path(folder) / "socket"
        listener.bind(str(path))
        path.chmod(0o777)
        listener.listen()
        answer = await ask(sandbox, "connect_path", str(path))
    assert (answer == "connected") is not protections["system_calls"]


async def test_our_own_processes_cannot_be_signalled(sandbox: Sandbox) -> None:
    protections = await sandbox.probe()
    answer = await ask(sandbox, "signal_process", str(os.getpid()))
    assert answer == "PermissionError" or not (protections["user"] or protections["files"])


async def test_root_stops_a_fork_bomb(sandbox: Sandbox) -> None:
    if (await sandbox.probe())["user"]:
        assert int(await ask(sandbox, "fork_bomb")) < 64
    assert await ask(sandbox, "echo", "still here") == "still here"
