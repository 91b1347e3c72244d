import logging
from collections.abc import Iterator

import pytest


@pytest.fixture(autouse=True)
def nobody_reads_the_log() -> Iterator[None]:
    """Thousands of errors are expected here, each with a traceback that takes its time."""
    root = logging.getLogger()
    level = root.level
    root.setLevel(logging.CRITICAL + 1)
    yield
    root.setLevel(level)
