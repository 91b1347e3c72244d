"""Log events and metrics of lifecycle operations (docs/contracts.md#lifecycle-metrics, #lifecycle-log)."""

import asyncio
import re
from collections.abc import Iterator
from uuid import UUID, uuid4

import pytest

from muniment.documents.name_conflicts import MESSAGE
from muniment.documents.quotas import QuotaExceeded
from muniment.errors import Conflict, Forbidden, MunimentError, NotFound, StorageFull, TooManyRequests, Unavailable
from muniment.lifecycle.observability import COUNTERS, OperationStatus, count_move, observe
from muniment.lifecycle.rules import Move, MoveNotAllowed
from muniment.telemetry.logs import was_logged
from muniment.telemetry.metrics import REGISTRY
from tests.support.log_lines import Lines, capture_logs

KB, DOCUMENT, PERSON = uuid4(), uuid4(), uuid4()


@pytest.fixture
def lines(capsys: pytest.CaptureFixture[str]) -> Iterator[Lines]:
    with capture_logs(capsys) as lines:
        yield lines


def timed(operation: str, status: OperationStatus) -> float:
    name = "muniment_lifecycle_operation_duration_seconds_count"
    return REGISTRY.get_sample_value(name, {"operation": operation, "status": status.value}) or 0


def errors(operation: str, error_type: str) -> float:
    labels = {"operation": operation, "error_type": error_type}
    return REGISTRY.get_sample_value("muniment_lifecycle_errors_total", labels) or 0


async def operate(operation: str, error: BaseException | None = None, document_id: UUID | None = DOCUMENT) -> None:
    async with observe(operation, kb_id=KB, document_id=document_id, user_id=PERSON):
        if error:
            raise error


async def test_a_success_is_one_line_with_the_fields_of_the_specification(lines: Lines) -> None:
    before = timed("archive", OperationStatus.SUCCESS)

    await operate("archive")

    (line,) = lines()
    assert (line["event"], line["level"], line["operation"]) == ("lifecycle.operation", "info", "archive")
    assert (line["document_id"], line["kb_id"], line["user_id"]) == (str(DOCUMENT), str(KB), str(PERSON))
    assert line["status"] == "success"
    assert line["duration_ms"] >= 0
    assert timed("archive", OperationStatus.SUCCESS) == before + 1


async def test_an_operation_on_many_documents_names_none(lines: Lines) -> None:
    await operate("bulk_purge", document_id=None)

    assert lines()[0]["document_id"] is None


async def test_what_is_accepted_but_not_done_is_pending(lines: Lines) -> None:
    before = timed("purge", OperationStatus.PENDING)

    async with observe("purge", kb_id=KB, document_id=DOCUMENT, user_id=PERSON) as operation:
        operation.status = OperationStatus.PENDING

    assert lines()[0]["status"] == "pending"
    assert timed("purge", OperationStatus.PENDING) == before + 1


@pytest.mark.parametrize(
    "refusal",
    [
        MoveNotAllowed("Only completed documents can be archived"),
        Forbidden(),
        NotFound(),
        Conflict(MESSAGE),
        TooManyRequests(retry_after_seconds=7),
        QuotaExceeded("Your organization uses all of its space"),
    ],
    ids=lambda refusal: type(refusal).__name__,
)
async def test_a_refusal_is_no_error(lines: Lines, refusal: MunimentError) -> None:
    kind = refusal.code
    refused, failed = timed("archive", OperationStatus.REFUSED), timed("archive", OperationStatus.ERROR)

    with pytest.raises(type(refusal)):
        await operate("archive", refusal)

    (line,) = lines()
    assert (line["level"], line["status"], line["error_type"]) == ("info", "refused", kind)
    assert "exception" not in line
    assert timed("archive", OperationStatus.REFUSED) == refused + 1
    assert (timed("archive", OperationStatus.ERROR), errors("archive", kind)) == (failed, 0)


@pytest.mark.parametrize(
    "failure", [Unavailable(), StorageFull(), RuntimeError("no")], ids=lambda failure: type(failure).__name__
)
async def test_a_failure_is_counted_by_its_type_and_logged_once_with_its_traceback(
    lines: Lines, failure: Exception
) -> None:
    kind = type(failure).__name__
    counted, failed = errors("purge", kind), timed("purge", OperationStatus.ERROR)

    with pytest.raises(type(failure)):
        await operate("purge", failure)

    (line,) = lines()
    assert (line["level"], line["status"], line["error_type"]) == ("error", "error", kind)
    assert re.search(r"in operate\n", line["exception"])
    assert was_logged(failure)
    assert errors("purge", kind) == counted + 1
    assert timed("purge", OperationStatus.ERROR) == failed + 1


async def test_an_operation_that_is_cut_off_is_neither_a_success_nor_an_error(lines: Lines) -> None:
    with pytest.raises(asyncio.CancelledError):
        await operate("archive", asyncio.CancelledError())

    (line,) = lines()
    assert (line["level"], line["status"]) == ("info", "interrupted")
    assert errors("archive", "CancelledError") == 0


@pytest.mark.parametrize(
    ("move", "name"),
    [
        (Move.ARCHIVE, "archived"),
        (Move.RESTORE, "restored"),
        (Move.PURGE, "purged"),
        (Move.CLEAR, "cleared"),
        (Move.REPLACE, "replaced"),
        (Move.REVERT, "reverted"),
        (Move.CANCEL, "cancelled"),
        (Move.RETRY, "retried"),
        (Move.RETRY_REPLACEMENT, "retried"),
    ],
)
def test_each_move_has_its_counter(move: Move, name: str) -> None:
    kb_id = uuid4()
    own = {Move.PURGE: "bulk", Move.CLEAR: "auto"}.get(move)

    count_move(move, kb_id, PERSON, **({own: True} if own else {}))

    labels = {"kb_id": str(kb_id), "user_id": str(PERSON), **({own: "true"} if own else {})}
    assert REGISTRY.get_sample_value(f"muniment_documents_{name}_total", labels) == 1


def test_every_move_that_a_person_makes_is_counted() -> None:
    assert set(COUNTERS) == set(Move) - {Move.START, Move.COMPLETE, Move.FAIL, Move.AUTO_REVERT}
