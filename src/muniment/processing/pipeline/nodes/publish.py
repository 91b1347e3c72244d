"""Nodes after extraction that make the document show the artifact: SavePages, SaveParagraphs, AggregateDiagrams,
SaveDiagrams, UpdateMetrics, MarkBasicComplete and BuildSummary.
"""

import structlog
from langgraph.runtime import Runtime

from muniment.artifacts.repository import ArtifactRepository
from muniment.processing.pipeline.context import Context, RunState
from muniment.processing.pipeline.nodes.index_text import indexed
from muniment.processing.pipeline.publishing import mark_complete
from muniment.processing.results import hydration
from muniment.storage.db.principal import Service
from muniment.storage.db.work import Work

SAVE_PAGES = "SavePages"


async def save_pages(state: RunState, runtime: Runtime[Context]) -> RunState:
    """artifact pages -> the pages of the document; what people wrote upon them stays"""
    run = runtime.context.run

    async def save(work: Work[Service]) -> None:
        await hydration.save_pages(work.session, run, state["artifact_text_id"])

    runtime.context.later(SAVE_PAGES, save)
    return {}


SAVE_PARAGRAPHS = "SaveParagraphs"


async def save_paragraphs(state: RunState, runtime: Runtime[Context]) -> RunState:
    """annotations of paragraphs -> the places where their text stands now"""
    run = runtime.context.run

    async def save(work: Work[Service]) -> None:
        await hydration.save_paragraphs(work.session, run, state["artifact_text_id"])

    runtime.context.later(SAVE_PARAGRAPHS, save)
    return {}


AGGREGATE_DIAGRAMS = "AggregateDiagrams"


async def aggregate_diagrams(state: RunState, runtime: Runtime[Context]) -> RunState:
    """figures that reading found on the pages -> diagram artifacts, those that are missing"""

    async def aggregate(work: Work[Service]) -> None:
        await ArtifactRepository(work.session).add_diagrams(state["artifact_text_id"])

    runtime.context.later(AGGREGATE_DIAGRAMS, aggregate)
    return {}


SAVE_DIAGRAMS = "SaveDiagrams"


async def save_diagrams(state: RunState, runtime: Runtime[Context]) -> RunState:
    """artifact diagrams -> the diagrams of the document"""
    run = runtime.context.run

    async def save(work: Work[Service]) -> None:
        await hydration.save_diagrams(work.session, run, state["artifact_text_id"])

    runtime.context.later(SAVE_DIAGRAMS, save)
    return {}


UPDATE_METRICS = "UpdateMetrics"


async def update_metrics(state: RunState, runtime: Runtime[Context]) -> RunState:
    """artifact -> number of pages and words, method, and the reference that keeps it"""
    run = runtime.context.run

    async def save(work: Work[Service]) -> None:
        await hydration.save_metrics(work.session, run, state["artifact_text_id"])

    runtime.context.later(UPDATE_METRICS, save)
    return {}


MARK_BASIC_COMPLETE = "MarkBasicComplete"


async def mark_basic_complete(state: RunState, runtime: Runtime[Context]) -> RunState:
    """processing -> completed, and the run with it: in the transaction in which the document shows the new result"""
    async with runtime.context.step(MARK_BASIC_COMPLETE, lasting=True) as work:
        await mark_complete(work, runtime.context.run)
    return {}


log = structlog.get_logger()


BUILD_SUMMARY = "BuildSummary"


async def build_summary(state: RunState, runtime: Runtime[Context]) -> RunState:
    """what was read, in numbers. Writes nothing: `GET …/summary` builds it from the artifact when somebody asks."""
    context = runtime.context
    if context.tools.copies is not None:
        await context.tools.copies.tidy(indexed(context, state))
    log.info(
        "processing.completed",
        run_id=str(context.run.run_id),
        document_id=str(context.run.document_id),
        pages=state["total_pages"],
        unread_pages=state["unread_pages"],
    )
    return {}
