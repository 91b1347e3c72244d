from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.folders import shared_folder


@pytest.fixture
def folder() -> Iterator[Path]:
    """Folder of an installation. Its database stays inside, even if the tests run as root."""
    with shared_folder() as folder:
        yield folder
