"""Build the sandbox and the embedders, which the API and the worker both use."""

import os
from datetime import timedelta
from typing import TYPE_CHECKING

from muniment.bootstrap.object_stores import secret_value
from muniment.processing.readers.contract import ReaderResources, ReadingOptions
from muniment.processing.readers.ocr.engine import find_engine
from muniment.search.embedding.local import LocalEmbedder
from muniment.search.embedding.port import Embedder
from muniment.settings import Settings
from muniment.settings.sources import SettingsError

if TYPE_CHECKING:
    from muniment.processing.sandbox.client import Sandbox

IMAGE_TIMEOUT = timedelta(seconds=15)
"""Short, because a person waits for the image and others wait for their turn."""


def build_sandbox(settings: Settings, *, timeout: timedelta | None = None) -> "Sandbox":
    """Build the sandbox that opens documents; its fork server starts with the first of them."""
    from muniment.processing.sandbox.client import Sandbox

    reader = settings.reader
    return Sandbox(
        build_reader_resources(settings),
        memory_bytes=reader.memory_bytes,
        stall_seconds=(timeout or reader.stall_timeout).total_seconds(),
        total_seconds=(timeout or reader.timeout).total_seconds(),
    )


def build_reader_resources(settings: Settings) -> ReaderResources:
    """Return the limits and programs of the readers. They are not part of the fingerprint."""
    reader, engine = settings.reader, find_engine()
    return ReaderResources(
        max_pages=reader.max_pages,
        max_paragraphs=reader.max_paragraphs,
        max_characters=reader.max_characters,
        max_rows=reader.max_rows,
        max_expansion=reader.max_expansion,
        ocr_processes=os.cpu_count() or 1,
        tesseract=engine.path if engine else None,
        tessdata=engine.data_folder if engine else None,
    )


def build_reader_options(settings: Settings) -> ReadingOptions:
    return ReadingOptions(ocr_languages=settings.reader.languages, ocr_dpi=settings.reader.ocr_dpi)


def build_embedders(settings: Settings) -> list[Embedder]:
    """Return the configured embedder first; the bundled one also answers until the model is switched."""
    search, local = settings.search, LocalEmbedder()
    if search.embeddings_url is None:
        return [local]
    if search.embeddings_model is None:
        raise SettingsError("MUNIMENT_EMBEDDINGS_URL requires MUNIMENT_EMBEDDINGS_MODEL")
    # Loaded only where it is configured: its HTTP client takes long to import.
    from muniment.search.embedding.openai_compatible import OpenAICompatibleEmbedder

    remote = OpenAICompatibleEmbedder(
        url=search.embeddings_url,
        model=search.embeddings_model,
        dimensions=search.embeddings_dimensions,
        key=secret_value(search.embeddings_api_key),
        batch=search.embeddings_batch,
        timeout_seconds=search.embeddings_timeout.total_seconds(),
    )
    return [remote, local]
