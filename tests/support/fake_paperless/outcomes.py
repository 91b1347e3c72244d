"""Outcomes of accepted uploads, set through `FakePaperless.next_uploads`."""

from dataclasses import dataclass


@dataclass
class Outcome:
    """An outcome that replaces the real one."""

    stuck: str | None = None
    """`pending` or `started`, forever."""
    message: str | None = None
    error_type: str = "ConsumerError"
    half_written_reads: int = 0
    """Number of reads in which the failure is a traceback object instead of its text."""
    is_dropped: bool = False
    """No task row, although the file is consumed."""
    is_without_id: bool = False
    parts: int = 0
    """Into how many documents barcodes split the file."""
    parts_delay: float = 0
    """Seconds until the parts are there."""
    is_altered: bool = False
    """A script changes the bytes before they are stored."""
    times: int = 1


def stuck_pending() -> Outcome:
    return Outcome(stuck="pending")


def stuck_started() -> Outcome:
    return Outcome(stuck="started")


def fails(message: str) -> Outcome:
    """Fail with this text; `{name}` is replaced by the name of the file."""
    return Outcome(message=message)


def database_locked() -> Outcome:
    return fails("{name}: The following error occurred while storing document {name} after parsing: database is locked")


def lost_race() -> Outcome:
    return fails(
        "{name}: The following error occurred while storing document {name} after parsing:"
        " UNIQUE constraint failed: documents_document.checksum"
    )


def worker_lost() -> Outcome:
    return Outcome(message="Worker exited prematurely: signal 9 (SIGKILL) Job: 0.", error_type="WorkerLostError")


def half_written(message: str, reads: int = 1) -> Outcome:
    """The text of the failure appears only after this number of reads."""
    return Outcome(message=message, half_written_reads=reads)


def history_dropped() -> Outcome:
    return Outcome(is_dropped=True)


def split(parts: int, *, delay: float = 0) -> Outcome:
    """Barcodes split the file: the task succeeds without a document, and each part is a task of its own."""
    return Outcome(parts=parts, parts_delay=delay, is_without_id=True)


def altered() -> Outcome:
    return Outcome(is_altered=True)


def without_id() -> Outcome:
    """Success, but the task does not name its document."""
    return Outcome(is_without_id=True)
