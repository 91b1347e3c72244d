"""Kinds of runs: each prepares a document whose job waits in a queue."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from uuid import UUID

from muniment.processing.readers.errors import Unreadable, UnreadableCode
from muniment.storage.tasks.port import FAST, READING, RunRequest
from tests.faults.effects import ERROR_HANDLING
from tests.faults.harness import NEWER, SUBJECT, FaultHarness
from tests.processing.worker_fixture import PAGES

REREAD = RunRequest(purpose="reread")
NEWER_PAGES = (replace(PAGES[0], figures=()),)
"""The same file as seen by a newer reader: without the second page and without figures."""


@dataclass(frozen=True)
class Scenario:
    prepare: Callable[[FaultHarness], Awaitable[UUID]]
    queue: str
    passes: tuple[str, ...]
    """Queues and nodes in order."""


async def unknown(fault_env: FaultHarness) -> UUID:
    return await fault_env.worker_env.document(fault_env.content, name=SUBJECT)


async def known(fault_env: FaultHarness) -> UUID:
    await fault_env.finish(await fault_env.worker_env.document(fault_env.content, name="first.pdf"))
    return await unknown(fault_env)


async def unreadable(fault_env: FaultHarness) -> UUID:
    fault_env.worker_env.reader.error = Unreadable(UnreadableCode.ENCRYPTED, "The file is protected by a password.")
    return await unknown(fault_env)


async def reread(fault_env: FaultHarness) -> UUID:
    """Reread of an annotated document with a newer reader."""
    document_id = await _completed_and_annotated(fault_env)
    fault_env.worker_env.reader.pages, fault_env.worker_env.reader.opened, fault_env.worker_env.reading = (
        NEWER_PAGES,
        0,
        NEWER,
    )
    await _queue_reread(fault_env, document_id, REREAD)
    return document_id


async def reread_of_the_same(fault_env: FaultHarness) -> UUID:
    document_id = await _completed_and_annotated(fault_env)
    await _queue_reread(fault_env, document_id, REREAD)
    return document_id


async def _queue_reread(fault_env: FaultHarness, document_id: UUID, wish: RunRequest) -> None:
    fault_env.seed.execute("UPDATE documents SET epoch = 2 WHERE id = %s", document_id)
    await fault_env.worker_env.enqueue(document_id, wish, epoch=2)


async def _completed_and_annotated(fault_env: FaultHarness) -> UUID:
    document_id = await unknown(fault_env)
    await fault_env.finish(document_id)
    for table in ("document_pages", "document_diagrams"):
        fault_env.seed.execute(f"UPDATE {table} SET annotations = jsonb_build_object('on', page_number)")
    fault_env.seed.execute("""
        INSERT INTO document_paragraphs (document_id, organization_id, page_number, paragraph_index,
                                         artifact_paragraph_id, paragraph_text_sha256, annotations)
        SELECT d.id, d.organization_id, a.page_number, a.paragraph_index, a.id, a.paragraph_text_sha256,
               jsonb_build_object('on', a.paragraph_index)
          FROM documents d JOIN artifact_paragraphs a ON a.content_hmac = d.content_hmac
    """)
    return document_id


_WITH_THE_NEXT = {"FetchDocumentRecord", "MarkProcessingStarted"}
_WITH_THE_LAST = {"SavePages", "SaveParagraphs", "AggregateDiagrams", "SaveDiagrams", "UpdateMetrics"}
WITHOUT_EFFECTS = {"BuildSummary", *_WITH_THE_NEXT, *_WITH_THE_LAST}
"""Nodes that write in the transaction of ExtractText or MarkBasicComplete."""
_READ = ("ExtractText", "IndexText", "MarkBasicComplete", READING)
"""At the end the queue releases the document."""
_UNTIL_IT_WAITS = (READING, "AlreadyProcessedCheck", "ExtractText", "IndexText")
"""A reread is put back into the queue until all passages have vectors."""

SCENARIOS = {
    "unknown content": Scenario(unknown, FAST, (FAST, READING, *_READ)),
    "known content": Scenario(known, FAST, (FAST,)),
    "content that is found in the reading slot": Scenario(known, READING, (READING, *_READ)),
    "a file that cannot be read": Scenario(unreadable, FAST, (FAST, READING, "ExtractText", ERROR_HANDLING, READING)),
    "a reread by another variant": Scenario(
        reread, FAST, (FAST, *_UNTIL_IT_WAITS, READING, "AlreadyProcessedCheck", *_READ)
    ),
    "a reread of what is shown already": Scenario(
        reread_of_the_same, READING, (READING, "AlreadyProcessedCheck", "MarkBasicComplete", READING)
    ),
}
