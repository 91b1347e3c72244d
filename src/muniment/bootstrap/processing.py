"""Build the sandbox, the embedders and the handler of processing runs."""

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from datetime import timedelta
from typing import TYPE_CHECKING

import structlog

from muniment.artifacts.keys import Scope, reading_variant
from muniment.bootstrap.object_stores import revealed
from muniment.bootstrap.ocr import ocr_languages, require_ocr_languages
from muniment.bootstrap.stores import Stores
from muniment.errors import MunimentError
from muniment.processing.readers.contract import Means, Options
from muniment.processing.readers.fingerprint import reading_parameters
from muniment.processing.readers.ocr.engine import find_engine
from muniment.search.embedding.local import LocalEmbedder
from muniment.search.embedding.openai_compatible import OpenAICompatibleEmbedder
from muniment.search.embedding.port import Embedder
from muniment.search.external_index.copier import Copies
from muniment.search.indexing.repository import Indexing
from muniment.settings import Settings
from muniment.settings.sources import SettingsError
from muniment.storage.tasks.port import Process

if TYPE_CHECKING:
    from muniment.processing.sandbox.client import Sandbox


log = structlog.get_logger()
PICTURE_PATIENCE = timedelta(seconds=15)
"""Somebody waits for a picture, and others for their turn."""


def build_sandbox(settings: Settings, *, patience: timedelta | None = None) -> "Sandbox":
    """Where documents are opened; its server starts with the first of them."""
    from muniment.processing.sandbox.client import Sandbox

    reader, engine = settings.reader, find_engine()
    return Sandbox(
        Means(
            max_pages=reader.max_pages,
            ocr_processes=os.cpu_count() or 1,
            tesseract=engine.program if engine else None,
            tessdata=engine.data if engine else None,
        ),
        memory_bytes=reader.memory_bytes,
        stall_seconds=(patience or reader.stall_timeout).total_seconds(),
        total_seconds=(patience or reader.timeout).total_seconds(),
    )


@asynccontextmanager
async def open_processing(settings: Settings, stores: Stores) -> AsyncIterator[Process]:
    """What a worker reads documents with, until the block ends."""
    from muniment.processing.pipeline.context import Tools
    from muniment.processing.pipeline.processor import Processing  # loads LangGraph, which takes a second

    require_ocr_languages(settings)
    options = reading_options(settings)
    sandbox = build_sandbox(settings)
    wanted, *others = embedders = build_embedders(settings)
    tools = Tools(
        database=stores.database,
        blobs=stores.blobs,
        locks=stores.locks,
        reader=sandbox,
        options=options,
        reading=reading_variant(reading_parameters(options, find_engine())),
        is_shared=settings.documents.scope is Scope.SHARED,
        indexing=Indexing(wanted, tuple(others)),
        copies=Copies(stores.database, stores.index) if stores.index.holds_copies else None,
    )
    warming = asyncio.create_task(_warm_up(sandbox))
    try:
        yield Processing(tools)
    finally:
        warming.cancel()
        for embedder in embedders:
            await embedder.close()
        await sandbox.close()


async def _warm_up(sandbox: "Sandbox") -> None:
    """Start the sandbox before the first document needs it; if that fails, the first document says so."""
    with suppress(MunimentError):
        log.info("worker.sandbox", **await sandbox.describe())


def reading_options(settings: Settings) -> Options:
    return Options(ocr_languages=ocr_languages(settings), ocr_dpi=settings.reader.ocr_dpi)


def build_embedders(settings: Settings) -> list[Embedder]:
    """The one that is set up, first; the one that comes along answers too until the switch."""
    search, local = settings.search, LocalEmbedder()
    if search.embeddings_url is None:
        return [local]
    if search.embeddings_model is None:
        raise SettingsError("MUNIMENT_EMBEDDINGS_URL requires MUNIMENT_EMBEDDINGS_MODEL")
    remote = OpenAICompatibleEmbedder(
        url=search.embeddings_url,
        model=search.embeddings_model,
        dimensions=search.embeddings_dimensions,
        key=revealed(search.embeddings_api_key),
        batch=search.embeddings_batch,
        timeout_seconds=search.embeddings_timeout.total_seconds(),
    )
    return [remote, local]
