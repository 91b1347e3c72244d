"""Programs executed by children but installed where these have no access."""

import os
import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from muniment.processing.readers.contract import ReaderResources
from muniment.processing.sandbox.client import Sandbox
from muniment.processing.sandbox.parent.programs import Program, copy_program
from tests.processing.sandbox.conftest import WORKPLACE


@pytest.fixture
def root() -> Iterator[Path]:
    """A folder that every user can reach, unlike those of pytest."""
    with tempfile.TemporaryDirectory(dir="/tmp") as name:
        Path(name).chmod(0o755)
        yield Path(name)


def install(folder: Path) -> Program:
    (folder / "bin").mkdir(parents=True)
    program, data = folder / "bin" / "program", folder / "data"
    shutil.copyfile(shutil.which("true") or "/bin/true", program)
    program.chmod(0o755)
    (data / "languages").mkdir(parents=True)
    (data / "languages" / "eng").write_text("words")
    return Program(str(program), str(data))


async def find_resources(tool: Program, open_folder: Path) -> ReaderResources:
    workplace = replace(WORKPLACE, shared_programs_folder=open_folder)
    sandbox = Sandbox(ReaderResources(tesseract=tool.path, tessdata=tool.data_folder), server_config=workplace)
    try:
        is_found = (await sandbox.probe())["ocr"]
        resources = await sandbox._resolve_resources()
        assert is_found is (resources.tesseract is not None)
        return resources
    finally:
        await sandbox.close()


async def test_program_within_reach_is_run_where_it_is(root: Path) -> None:
    tool = install(root / "installed")
    resources = await find_resources(tool, root / "open")
    assert (resources.tesseract, resources.tessdata) == (tool.path, tool.data_folder)
    assert not (root / "open").exists()


async def test_root_copies_a_program_from_a_closed_folder_to_an_open_one(root: Path) -> None:
    closed = root / "closed"
    tool = install(closed)
    closed.chmod(0o700)
    resources = await find_resources(tool, root / "open")
    if os.geteuid() == 0:
        assert resources.tesseract
        assert Path(resources.tesseract).is_relative_to(root / "open")
        assert resources.tessdata
        assert (Path(resources.tessdata) / "languages" / "eng").read_text() == "words"
    else:
        assert resources.tesseract == tool.path


async def test_program_that_does_not_run_is_no_program(root: Path) -> None:
    tool = install(root / "installed")
    Path(tool.path).write_text("not a program")
    assert (await find_resources(tool, root / "open")).tesseract is None


def test_copying_twice_copies_once_and_another_version_again(root: Path) -> None:
    tool = install(root / "installed")
    first = copy_program(tool, shared_folder=root / "open")
    assert copy_program(tool, shared_folder=root / "open") == first
    (Path(tool.data_folder) / "deu").write_text("words")
    assert copy_program(tool, shared_folder=root / "open") != first
    assert len(list((root / "open").iterdir())) == 2


def test_folder_of_copies_can_be_passed_through_but_not_listed(root: Path) -> None:
    copy_program(install(root / "installed"), shared_folder=root / "open")
    assert (root / "open").stat().st_mode & 0o777 == 0o711
