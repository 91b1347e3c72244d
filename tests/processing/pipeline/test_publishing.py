"""No user sees a partial result: one transaction publishes all parts of it."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from sqlalchemy import Connection, event

from muniment.processing.pipeline.graph import NODES
from muniment.processing.pipeline.publishing import PUBLISH_STEPS
from muniment.processing.readers.contract import ExtractedPage, ExtractionMethod
from muniment.storage.db.work import Database
from muniment.storage.tasks.port import FAST, READING
from tests.processing.worker_fixture import WorkerFixture

DOCUMENT_PARTS = re.compile(r"\bdocument_(pages|paragraphs|diagrams)\b")


@contextmanager
def recorded_transactions(database: Database) -> Iterator[list[list[str]]]:
    """Collect the statements of the service login, one list per transaction."""
    transactions: list[list[str]] = []
    engine = database.service_engine.sync_engine

    def begin(_: Connection) -> None:
        transactions.append([])

    def execute(_connection: Connection, _cursor: Any, statement: str, *_: Any) -> None:
        transactions[-1].append(statement)

    event.listen(engine, "begin", begin)
    event.listen(engine, "before_cursor_execute", execute)
    try:
        yield transactions
    finally:
        event.remove(engine, "begin", begin)
        event.remove(engine, "before_cursor_execute", execute)


@pytest.mark.parametrize("queue", [READING, FAST])
async def test_only_the_completing_transaction_touches_the_parts_of_a_document(
    worker_env: WorkerFixture, queue: str
) -> None:
    if queue == FAST:
        await worker_env.process(await worker_env.document())
    document_id = await worker_env.document()
    with recorded_transactions(worker_env.database) as transactions:
        assert await worker_env.process(document_id) == queue
    [publishing] = [statements for statements in transactions if DOCUMENT_PARTS.search(" ".join(statements))]
    assert {match[1] for match in DOCUMENT_PARTS.finditer(" ".join(publishing))} == {"pages", "paragraphs", "diagrams"}
    assert any(re.search(r"UPDATE document_processing_runs\s+SET status", statement) for statement in publishing)


async def test_a_document_without_figures_costs_no_statement_on_diagrams(worker_env: WorkerFixture) -> None:
    worker_env.reader.pages = [ExtractedPage(1, "Only text.", ExtractionMethod.TEXT)]
    document_id = await worker_env.document()
    with recorded_transactions(worker_env.database) as transactions:
        await worker_env.process(document_id)
    written = [statement for statements in transactions for statement in statements if "INSERT" in statement]
    assert any("document_pages" in statement for statement in written)
    assert not any("_diagrams" in statement for statement in written)


def test_publish_steps_have_the_order_of_their_nodes() -> None:
    assert [name for name in NODES if name in PUBLISH_STEPS] == list(PUBLISH_STEPS)
