"""Capture the log lines that are written during a test."""

import json
import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
import structlog

from muniment.telemetry.logs import configure_logs

Lines = Callable[[], list[dict[str, Any]]]


@contextmanager
def capture_logs(capsys: pytest.CaptureFixture[str]) -> Iterator[Lines]:
    """Log as JSON from INFO on. Each call returns the lines since the previous one, without those of the server."""
    root = logging.getLogger()
    handlers, level, before = root.handlers[:], root.level, structlog.get_config()
    configure_logs("json", "INFO")

    def read() -> list[dict[str, Any]]:
        written = [json.loads(line) for line in capsys.readouterr().err.splitlines()]
        return [line for line in written if (line["logger"], line.get("level")) != ("uvicorn.error", "info")]

    yield read
    root.handlers[:] = handlers
    root.setLevel(level)
    structlog.configure(**before)
