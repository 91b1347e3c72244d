"""Errors of `muniment serve` and of the processes that it starts."""

from collections.abc import Sequence

from muniment.errors import MunimentError


class PostgresFailed(MunimentError):
    """The embedded PostgreSQL cannot run. The message is a sentence, then the last lines of the server's log."""

    def __init__(self, message: str, log_lines: Sequence[str] = ()) -> None:
        super().__init__("\n".join([message, *(f"  {line}" for line in log_lines)]))
        self.log_lines = log_lines


class AlreadyRunning(MunimentError):
    """Another Muniment process uses this data directory"""


class ChildFailed(MunimentError):
    """A Muniment process exited before it was ready"""


class DataDirectoryNotWritable(MunimentError):
    """The data directory is not writable"""
