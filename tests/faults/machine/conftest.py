import logging
from collections.abc import Iterator

import pytest


@pytest.fixture(autouse=True)
def silence_logs() -> Iterator[None]:
    """Silence logging: thousands of errors are expected here, and formatting their tracebacks is slow."""
    root = logging.getLogger()
    level = root.level
    root.setLevel(logging.CRITICAL + 1)
    yield
    root.setLevel(level)
