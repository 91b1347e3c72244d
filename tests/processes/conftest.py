from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.folders import shared_folder


@pytest.fixture
def folder() -> Iterator[Path]:
    """For an installation: its database stays inside, also when we are root."""
    with shared_folder() as folder:
        yield folder
