import json
import logging
import os
import pty
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime

import pytest
import structlog

from muniment.telemetry.logs import configure_logs, mark_as_logged
from tests.support.log_lines import Lines, capture_logs


@pytest.fixture
def lines(capsys: pytest.CaptureFixture[str]) -> Iterator[Lines]:
    with capture_logs(capsys) as read:
        yield read


def test_our_events_are_json_lines_with_time_level_logger_and_fields(lines: Lines) -> None:
    structlog.get_logger("muniment.some").warning("upload.swept", count=3)

    (line,) = lines()
    timestamp = line.pop("timestamp")
    assert timestamp.endswith("Z")
    assert abs(datetime.now(UTC) - datetime.fromisoformat(timestamp)).total_seconds() < 5
    assert line == {"event": "upload.swept", "level": "warning", "logger": "muniment.some", "count": 3}


@pytest.mark.parametrize("name", ["uvicorn.error", "procrastinate.worker", "alembic.runtime", "sqlalchemy.pool"])
def test_lines_of_libraries_have_the_same_shape(lines: Lines, name: str) -> None:
    logging.getLogger(name).warning("started on %s", 8400)

    (line,) = lines()
    assert {"event": "started on 8400", "level": "warning", "logger": name}.items() <= line.items()
    assert "timestamp" in line


def test_bound_context_is_in_our_lines_and_in_those_of_libraries(lines: Lines) -> None:
    with structlog.contextvars.bound_contextvars(request_id="r-1", user="u-1"):
        structlog.get_logger().info("document.received")
        logging.getLogger("procrastinate").warning("job deferred")

    assert [(line["request_id"], line["user"]) for line in lines()] == [("r-1", "u-1")] * 2


def test_what_lies_below_the_level_is_not_written(lines: Lines) -> None:
    structlog.get_logger().debug("quiet")
    logging.getLogger("procrastinate").debug("quiet")

    assert lines() == []


def test_what_libraries_call_news_is_a_detail_to_the_operator(lines: Lines) -> None:
    logging.getLogger("procrastinate.worker").info("Starting job")
    assert lines() == []
    configure_logs("json", "DEBUG")
    logging.getLogger("procrastinate.worker").info("Starting job")
    assert len(lines()) == 1


def test_libraries_that_write_statements_and_queries_stay_quiet_even_at_debug(lines: Lines) -> None:
    configure_logs("json", "DEBUG")
    logging.getLogger("sqlalchemy.engine.Engine").info("INSERT …")
    logging.getLogger("httpx").info("GET https://example.org/?key=abc")

    assert lines() == []


def test_secrets_are_masked_in_our_fields_and_in_the_sentences_of_libraries(lines: Lines) -> None:
    structlog.get_logger().info("signin", password="hunter2")
    logging.getLogger("alembic").warning("connecting to postgresql://postgres:hunter2@db/muniment")

    ours, theirs = lines()
    assert ours["password"] == "***"
    assert theirs["event"] == "connecting to postgresql://postgres:***@db/muniment"


def test_a_traceback_is_one_field_without_local_variables(lines: Lines) -> None:
    try:
        passage = "text of a document"
        raise ValueError(len(passage))
    except ValueError:
        structlog.get_logger().exception("run.failed")

    (line,) = lines()
    assert line["exception"].endswith("ValueError: 18")
    assert "test_logs.py" in line["exception"]
    assert "text of a document" not in line["exception"]


def test_a_line_that_cannot_be_written_does_not_spill_its_values(lines: Lines) -> None:
    configure_logs("json", "INFO")  # removes pytest's handler, which would fail the test
    logging.getLogger("procrastinate").warning("%d jobs", "hunter2")

    assert lines() == [{"event": "log.failed", "logger": "procrastinate", "error": "TypeError"}]


def test_an_error_that_was_told_is_not_told_again_by_the_server(lines: Lines) -> None:
    told, untold = ValueError("told"), ValueError("untold")
    mark_as_logged(told)
    for error in (told, untold):
        logging.getLogger("uvicorn.error").error("Exception in ASGI application", exc_info=error)

    (line,) = lines()
    assert line["exception"].endswith("ValueError: untold")


def test_nobody_listens_to_uvicorns_own_access_log(lines: Lines) -> None:
    logging.getLogger("uvicorn.access").addHandler(logging.StreamHandler(sys.stderr))
    configure_logs("json", "INFO")

    assert not logging.getLogger("uvicorn.access").hasHandlers()
    assert lines() == []


WRITE_ONE_ERROR = """
import structlog
from muniment.telemetry.logs import configure_logs
configure_logs("auto", "INFO")
try:
    passage = "text " + "of a document"
    raise ValueError("no")
except ValueError:
    structlog.get_logger().exception("run.failed", path="a\\x1b[31mb")
"""


def test_auto_is_json_into_a_file() -> None:
    done = subprocess.run([sys.executable, "-c", WRITE_ONE_ERROR], stderr=subprocess.PIPE, check=True)

    assert json.loads(done.stderr)["event"] == "run.failed"


def test_auto_is_pretty_on_a_terminal_and_hides_variables_and_control_characters_there() -> None:
    ours, theirs = pty.openpty()
    with os.fdopen(ours, "rb", buffering=0) as terminal:
        subprocess.run([sys.executable, "-c", WRITE_ONE_ERROR], stderr=theirs, check=True)
        os.close(theirs)
        shown = terminal.read(65536).decode()

    assert "\x1b[1mrun.failed" in shown
    assert "ValueError: no" in shown
    assert "text of a document" not in shown
    assert r"a\x1b[31mb" in shown
