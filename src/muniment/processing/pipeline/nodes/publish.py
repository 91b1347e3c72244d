"""Nodes after extraction that make the document show the artifact: SavePages, SaveParagraphs, AggregateDiagrams,
SaveDiagrams, UpdateMetrics, MarkBasicComplete and BuildSummary.
"""

import structlog
from langgraph.runtime import Runtime

from muniment.artifacts.repository import ArtifactRepository
from muniment.processing.pipeline.context import RunContext, RunState
from muniment.processing.pipeline.nodes.index_text import index_target
from muniment.processing.pipeline.publishing import complete_run
from muniment.processing.results import hydration
from muniment.storage.db.principal import Service
from muniment.storage.db.work import Work

SAVE_PAGES = "SavePages"


async def save_pages(state: RunState, runtime: Runtime[RunContext]) -> RunState:
    """artifact pages -> the pages of the document; what people wrote upon them stays"""
    run = runtime.context.run

    async def save(work: Work[Service]) -> None:
        await hydration.save_pages(work.session, run, state["artifact_text_id"])

    runtime.context.record_step(SAVE_PAGES, save)
    return {}


SAVE_PARAGRAPHS = "SaveParagraphs"


async def save_paragraphs(state: RunState, runtime: Runtime[RunContext]) -> RunState:
    """annotations of paragraphs -> the places where their text stands now"""
    run = runtime.context.run

    async def save(work: Work[Service]) -> None:
        await hydration.save_paragraphs(work.session, run, state["artifact_text_id"])

    runtime.context.record_step(SAVE_PARAGRAPHS, save)
    return {}


AGGREGATE_DIAGRAMS = "AggregateDiagrams"


async def aggregate_diagrams(state: RunState, runtime: Runtime[RunContext]) -> RunState:
    """figures that reading found on the pages -> diagram artifacts, those that are missing"""

    async def aggregate(work: Work[Service]) -> None:
        await ArtifactRepository(work.session).add_missing_diagrams(state["artifact_text_id"])

    runtime.context.record_step(AGGREGATE_DIAGRAMS, aggregate)
    return {}


SAVE_DIAGRAMS = "SaveDiagrams"


async def save_diagrams(state: RunState, runtime: Runtime[RunContext]) -> RunState:
    """artifact diagrams -> the diagrams of the document"""
    run = runtime.context.run

    async def save(work: Work[Service]) -> None:
        await hydration.save_diagrams(work.session, run, state["artifact_text_id"])

    runtime.context.record_step(SAVE_DIAGRAMS, save)
    return {}


UPDATE_METRICS = "UpdateMetrics"


async def update_metrics(state: RunState, runtime: Runtime[RunContext]) -> RunState:
    """artifact -> number of pages and words, method, and the reference that keeps it"""
    run = runtime.context.run

    async def save(work: Work[Service]) -> None:
        await hydration.save_metrics(work.session, run, state["artifact_text_id"])

    runtime.context.record_step(UPDATE_METRICS, save)
    return {}


MARK_BASIC_COMPLETE = "MarkBasicComplete"


async def mark_basic_complete(state: RunState, runtime: Runtime[RunContext]) -> RunState:
    """processing -> completed, and the run with it: in the transaction in which the document shows the new result"""
    async with runtime.context.transaction(MARK_BASIC_COMPLETE, durable=True) as work:
        await complete_run(work, runtime.context.run)
    return {}


log = structlog.get_logger()


BUILD_SUMMARY = "BuildSummary"


async def build_summary(state: RunState, runtime: Runtime[RunContext]) -> RunState:
    """what was read, in numbers. Writes nothing: `GET …/summary` builds it from the artifact when somebody asks."""
    context = runtime.context
    if context.services.index_copier is not None:
        await context.services.index_copier.remove_outdated(index_target(context, state))
    log.info(
        "processing.completed",
        run_id=str(context.run.run_id),
        document_id=str(context.run.document_id),
        pages=state["total_pages"],
        unread_pages=state["unread_pages"],
    )
    return {}
