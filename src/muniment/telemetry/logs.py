"""Write one stream of log lines, for us and all libraries: on stderr, or on stdout where a specification says so."""

import contextlib
import json
import logging
import sys
from typing import TextIO

import structlog
from structlog.stdlib import ProcessorFormatter
from structlog.typing import Processor

from muniment.telemetry.redaction import redact_event, render_traceback

# Below WARNING these log statements, URLs with their query, or parts of uploads.
CAPPED_AT_WARNING = ("sqlalchemy", "httpx", "httpcore", "urllib3", "python_multipart")
# Their INFO events (a migration, a sweep every few seconds, "press CTRL+C") are details for operators.
DEBUG_ONLY = ("alembic", "procrastinate", "uvicorn.error")

_LOGGED_MARK = "__muniment_logged__"


def configure_logs(log_format: str, level: str, *, to_stdout: bool = False) -> None:
    """Write events of `level` and above: `json` one object per line, `pretty` for people, `auto` pretty on a terminal.

    Start uvicorn with `log_config=None`, or it installs its own handlers.
    """
    shared: list[Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_logger_name,
        structlog.stdlib.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
    ]
    structlog.configure(
        processors=[structlog.stdlib.filter_by_level, *shared, ProcessorFormatter.wrap_for_formatter],
        wrapper_class=structlog.stdlib.BoundLogger,
        logger_factory=structlog.stdlib.LoggerFactory(),
    )
    handler = _StandardStream("stdout" if to_stdout else "stderr")
    handler.setFormatter(ProcessorFormatter(foreign_pre_chain=shared, processors=_render_processors(log_format)))
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(level)
    for name in CAPPED_AT_WARNING:
        logging.getLogger(name).setLevel(max(root.level, logging.WARNING))
    for name in DEBUG_ONLY:
        is_debugging = root.level <= logging.DEBUG
        logging.getLogger(name).setLevel(logging.NOTSET if is_debugging else max(root.level, logging.WARNING))
    _configure_uvicorn_loggers()


def mark_as_logged(error: BaseException) -> None:
    """Mark an error as logged, so that the server does not log it again."""
    setattr(error, _LOGGED_MARK, True)


def was_logged(error: BaseException) -> bool:
    """Whether the traceback of the error was logged already."""
    return getattr(error, _LOGGED_MARK, False)


class _StandardStream(logging.StreamHandler[TextIO]):
    def __init__(self, stream_name: str) -> None:
        super().__init__(getattr(sys, stream_name))
        self._stream_name = stream_name

    def emit(self, record: logging.LogRecord) -> None:
        # Looked up each time: it may have been replaced or closed since startup.
        self.stream = getattr(sys, self._stream_name)
        super().emit(record)

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802 the name is the standard library's
        # The standard library would print the arguments unmasked next to its traceback.
        failed = {"event": "log.failed", "logger": record.name, "error": type(sys.exc_info()[1]).__name__}
        with contextlib.suppress(OSError, ValueError):
            self.stream.write(json.dumps(failed) + self.terminator)


def _render_processors(log_format: str) -> list[Processor]:
    on_terminal = sys.stderr.isatty()
    pretty = log_format == "pretty" or (log_format != "json" and on_terminal)
    return [
        ProcessorFormatter.remove_processors_meta,
        structlog.processors.ExceptionRenderer(render_traceback),
        redact_event,
        # The default formatter of exceptions would print local variables.
        structlog.dev.ConsoleRenderer(colors=on_terminal, exception_formatter=structlog.dev.plain_traceback)
        if pretty
        else structlog.processors.JSONRenderer(ensure_ascii=False),
    ]


def _configure_uvicorn_loggers() -> None:
    for name in ("uvicorn", "uvicorn.error", "uvicorn.access"):
        logger = logging.getLogger(name)
        logger.handlers.clear()
        logger.propagate = True
    # uvicorn checks this logger for handlers. Its lines contain the query string; ours replace them.
    logging.getLogger("uvicorn.access").propagate = False
    logging.getLogger("uvicorn.error").addFilter(_is_not_logged_yet)


def _is_not_logged_yet(record: logging.LogRecord) -> bool:
    error = record.exc_info[1] if record.exc_info else None
    return error is None or not was_logged(error)
