"""A sandbox with the jobs of the tests, and functions that call it."""

import tempfile
from collections.abc import AsyncIterator
from pathlib import Path
from typing import BinaryIO

import pytest

from muniment.processing.readers.contract import ExtractedPage, ReaderResources, ReadingOptions
from muniment.processing.sandbox.client import Sandbox
from muniment.processing.sandbox.parent.fork_server import ForkServerConfig

WORKPLACE = ForkServerConfig(
    jobs_module="tests.processing.sandbox.jobs", import_paths=(str(Path(__file__).parents[3]),)
)


@pytest.fixture
async def sandbox() -> AsyncIterator[Sandbox]:
    sandbox = Sandbox(ReaderResources(), memory_bytes=256 << 20, stall_seconds=60, server_config=WORKPLACE)
    yield sandbox
    await sandbox.close()


def a_file(content: bytes | str = b"") -> BinaryIO:
    """Return an open file without a name."""
    file = tempfile.TemporaryFile()  # noqa: SIM115 the caller closes it
    file.write(content.encode() if isinstance(content, str) else content)
    return file


async def read(sandbox: Sandbox, deed: str, content: bytes | str = b"") -> list[ExtractedPage]:
    with a_file(content) as file:
        async with sandbox.read(file, deed, ReadingOptions()) as reading:
            return [page async for page in reading.pages]


async def ask(sandbox: Sandbox, deed: str, content: bytes | str = b"") -> str:
    """Return the answer of a test job, on its only page."""
    [page] = await read(sandbox, deed, content)
    return page.text
