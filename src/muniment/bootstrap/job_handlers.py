"""Build what a worker does with its jobs. Only the worker imports it: LangGraph takes a second to load."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

import structlog

from muniment.artifacts.keys import SharingScope, reading_variant
from muniment.bootstrap.processing import build_embedders, build_reader_options, build_reader_resources, build_sandbox
from muniment.bootstrap.stores import Stores
from muniment.errors import MunimentError
from muniment.processing.pipeline.context import RunServices
from muniment.processing.pipeline.embedding_jobs import EmbeddingProcessor, ReadingActivity
from muniment.processing.pipeline.isolation import IsolationGate
from muniment.processing.pipeline.processor import RunProcessor
from muniment.processing.readers.fingerprint import reading_parameters
from muniment.processing.readers.ocr.engine import find_engine, require_languages
from muniment.processing.sandbox.client import Sandbox
from muniment.search.external_index.copier import IndexCopier
from muniment.search.indexing.embedding import PassageEmbedding
from muniment.search.indexing.repository import InstalledModels
from muniment.settings import Settings
from muniment.storage.tasks.port import JobHandlers
from muniment.storage.tasks.worker_registry import WorkerRegistry

log = structlog.get_logger()


@asynccontextmanager
async def open_job_handlers(settings: Settings, stores: Stores, workers: WorkerRegistry) -> AsyncIterator[JobHandlers]:
    """Provide the handlers of runs and of embedding jobs, and close their resources at the end of the block."""
    require_languages(settings.reader.languages)
    options = build_reader_options(settings)
    sandbox = build_sandbox(settings)
    configured, *previous = embedders = build_embedders(settings)
    services = RunServices(
        database=stores.database,
        objects=stores.objects,
        locks=stores.locks,
        reader=sandbox,
        options=options,
        reading_variant=reading_variant(reading_parameters(options, find_engine())),
        shares_artifacts=settings.documents.scope is SharingScope.SHARED,
        installed_models=InstalledModels(configured, tuple(previous)),
        ledger=stores.ledger,
        workers=workers,
        tasks=stores.tasks,
        resources=build_reader_resources(settings),
        index_copier=IndexCopier(stores.database, stores.external_index) if stores.external_index else None,
    )
    warm_up = asyncio.create_task(_warm_up(sandbox))
    try:
        gate, activity = IsolationGate(), ReadingActivity()
        embedding = PassageEmbedding(stores.database, services.installed_models)
        yield JobHandlers(RunProcessor(services, gate, activity), EmbeddingProcessor(embedding, gate, activity))
    finally:
        warm_up.cancel()
        for embedder in embedders:
            await embedder.close()
        await sandbox.close()


async def _warm_up(sandbox: Sandbox) -> None:
    """Start the sandbox before the first document needs it; if that fails, the first document reports it."""
    with suppress(MunimentError):
        log.info("worker.sandbox", **await sandbox.probe())
