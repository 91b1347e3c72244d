from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.folders import open_folder


@pytest.fixture
def folder() -> Iterator[Path]:
    """For an installation: its database stays inside, also when we are root."""
    with open_folder() as folder:
        yield folder
