"""Build the sandbox, the embedders and the handler of processing runs."""

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from datetime import timedelta
from typing import TYPE_CHECKING

import structlog

from muniment.artifacts.keys import SharingScope, reading_variant
from muniment.bootstrap.object_stores import secret_value
from muniment.bootstrap.ocr import ocr_languages, require_ocr_languages
from muniment.bootstrap.stores import Stores
from muniment.errors import MunimentError
from muniment.processing.readers.contract import ReaderResources, ReadingOptions
from muniment.processing.readers.fingerprint import reading_parameters
from muniment.processing.readers.ocr.engine import find_engine
from muniment.search.embedding.local import LocalEmbedder
from muniment.search.embedding.openai_compatible import OpenAICompatibleEmbedder
from muniment.search.embedding.port import Embedder
from muniment.search.external_index.copier import IndexCopier
from muniment.search.indexing.repository import InstalledModels
from muniment.settings import Settings
from muniment.settings.sources import SettingsError
from muniment.storage.tasks.port import RunHandler

if TYPE_CHECKING:
    from muniment.processing.sandbox.client import Sandbox


log = structlog.get_logger()
IMAGE_TIMEOUT = timedelta(seconds=15)
"""Somebody waits for a picture, and others for their turn."""


def build_sandbox(settings: Settings, *, timeout: timedelta | None = None) -> "Sandbox":
    """Where documents are opened; its server starts with the first of them."""
    from muniment.processing.sandbox.client import Sandbox

    reader, engine = settings.reader, find_engine()
    return Sandbox(
        ReaderResources(
            max_pages=reader.max_pages,
            ocr_processes=os.cpu_count() or 1,
            tesseract=engine.path if engine else None,
            tessdata=engine.data_folder if engine else None,
        ),
        memory_bytes=reader.memory_bytes,
        stall_seconds=(timeout or reader.stall_timeout).total_seconds(),
        total_seconds=(timeout or reader.timeout).total_seconds(),
    )


@asynccontextmanager
async def open_run_handler(settings: Settings, stores: Stores) -> AsyncIterator[RunHandler]:
    """What a worker reads documents with, until the block ends."""
    from muniment.processing.pipeline.context import RunServices
    from muniment.processing.pipeline.processor import RunProcessor  # loads LangGraph, which takes a second

    require_ocr_languages(settings)
    options = build_reader_options(settings)
    sandbox = build_sandbox(settings)
    wanted, *others = embedders = build_embedders(settings)
    tools = RunServices(
        database=stores.database,
        blobs=stores.objects,
        locks=stores.locks,
        reader=sandbox,
        options=options,
        reading_variant=reading_variant(reading_parameters(options, find_engine())),
        shares_artifacts=settings.documents.scope is SharingScope.SHARED,
        installed_models=InstalledModels(wanted, tuple(others)),
        index_copier=IndexCopier(stores.database, stores.external_index) if stores.external_index else None,
    )
    warming = asyncio.create_task(_warm_up(sandbox))
    try:
        yield RunProcessor(tools)
    finally:
        warming.cancel()
        for embedder in embedders:
            await embedder.close()
        await sandbox.close()


async def _warm_up(sandbox: "Sandbox") -> None:
    """Start the sandbox before the first document needs it; if that fails, the first document says so."""
    with suppress(MunimentError):
        log.info("worker.sandbox", **await sandbox.probe())


def build_reader_options(settings: Settings) -> ReadingOptions:
    return ReadingOptions(ocr_languages=ocr_languages(settings), ocr_dpi=settings.reader.ocr_dpi)


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
        key=secret_value(search.embeddings_api_key),
        batch=search.embeddings_batch,
        timeout_seconds=search.embeddings_timeout.total_seconds(),
    )
    return [remote, local]
