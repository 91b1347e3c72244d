"""Node ExtractText: extract text, pages and paragraphs from the original once, or reuse the artifact that already
exists.
"""

import asyncio
import os
import time
from contextlib import suppress
from typing import BinaryIO

from langgraph.runtime import Runtime

from muniment.artifacts.repository import ArtifactKey, ArtifactRepository
from muniment.artifacts.tables import TextArtifact
from muniment.errors import Unavailable
from muniment.processing.pipeline.artifact_builder import ArtifactBuilder
from muniment.processing.pipeline.cleanup import release_reservation
from muniment.processing.pipeline.context import RunContext, RunState, artifact_state
from muniment.processing.pipeline.partial_pages import PartialPages
from muniment.processing.pipeline.progress import ProgressReporter, StepTurn
from muniment.processing.pipeline.publishing import pin_artifact
from muniment.processing.readers.errors import Unreadable, UnreadableCode
from muniment.processing.readers.limits import LimitCounter
from muniment.processing.runs.repository import RunRepository, RunSuperseded
from muniment.processing.runs.tables import StepStatus
from muniment.processing.sandbox.parent.job import ReadingTimeUp
from muniment.storage.deletions.ledger import Reservation, reserve
from muniment.storage.objects.async_io import run_to_completion
from muniment.storage.tasks.port import GiveUpSlot
from muniment.telemetry.metrics import ARTIFACTS, OCR_PAGES, PAGES_READ

EXTRACT_TEXT = "ExtractText"


async def extract_text(state: RunState, runtime: Runtime[RunContext]) -> RunState:
    """Extract the text of the original, or reuse the artifact that already holds it."""
    context = runtime.context
    run, record = context.run, context.record
    key = context.services.artifact_key(run, record)
    async with context.compute_lock(compute_lock_name(key)):
        builder, partial = ArtifactBuilder(key.organization_id), PartialPages(context, key, EXTRACT_TEXT)
        async with context.transaction(EXTRACT_TEXT, StepStatus.STARTED, durable=True) as work:
            if artifact := await context.services.find_artifact(work, run, record):
                await pin_artifact(work, run, artifact, is_reused=True)
                await RunRepository(work.session).record_steps(run, {EXTRACT_TEXT: StepStatus.SUCCESS})
                await partial.discard(work)
                return artifact_state(artifact)
            _require_installed_version(context, key)
            await partial.find(work)
            # Reserved before the bytes are written: if we die before the row exists, the ledger deletes the pack.
            reservation = await reserve(work, builder.pack.key, kb_id=record.kb_id, document_id=run.document_id)
        try:
            artifact = await _extract(context, key, builder, partial, reservation)
        except BaseException:
            await run_to_completion(release_reservation(context, reservation))
            raise
    return artifact_state(artifact)


def compute_lock_name(key: ArtifactKey) -> str:
    """Return the name of the lock under which this artifact is computed."""
    # Written out field by field: workers of two versions must agree on the name, whatever the class is called.
    variant = key.variant
    fields = f"algorithm_version={variant.algorithm_version!r}, params_fingerprint={variant.params_fingerprint!r}"
    return f"compute {key.content_key} Variant({fields})"


def _require_installed_version(context: RunContext, key: ArtifactKey) -> None:
    if context.run.algorithm_version not in (None, key.variant.algorithm_version):
        raise Unreadable(UnreadableCode.UNSUPPORTED, "The requested extraction version is not installed")


async def _extract(
    context: RunContext, key: ArtifactKey, builder: ArtifactBuilder, partial: PartialPages, reservation: Reservation
) -> TextArtifact:
    began = time.monotonic()
    async with context.original.open_copy() as file:
        await _read_pages(context, file, builder, partial)
    await context.services.objects.put(builder.pack.key, builder.pack.getvalue)
    async with context.transaction(EXTRACT_TEXT) as work:
        new = builder.build(time.monotonic() - began)
        artifact, is_new = await ArtifactRepository(work.session).add_once(key, new)
        await (reservation.confirm(work) if is_new else reservation.release(work))
        await pin_artifact(work, context.run, artifact, is_reused=False)
        await partial.discard(work)
    context.pending.pages = builder.pages_in_memory
    ARTIFACTS.labels("compute").inc()
    PAGES_READ.inc(builder.total_pages)
    OCR_PAGES.inc(builder.ocr_pages)
    return artifact


async def _read_pages(context: RunContext, file: BinaryIO, builder: ArtifactBuilder, partial: PartialPages) -> None:
    """Add all pages to the builder: first those that an interrupted run has left, then the others as they are read."""
    services, record = context.services, context.record
    counter = LimitCounter(services.resources, os.fstat(file.fileno()).st_size)
    for page in await partial.load():
        counter.add_page(page)
        builder.add_page(page)
    first_page, began = builder.total_pages + 1, time.monotonic()
    async with services.reader.read(file, record.media_type, services.options, first_page=first_page) as opened:
        counter.require_pages(opened.total_pages)
        progress = ProgressReporter(context, EXTRACT_TEXT, opened.total_pages)
        turn = StepTurn(context, began)
        try:
            async for page in opened.pages:
                counter.add_page(page)
                builder.add_page(page)
                await partial.add(page)
                await progress.report_page(page.number)
                if page.number < opened.total_pages:
                    await turn.give_up_if_over()
        except (asyncio.CancelledError, GiveUpSlot, Unavailable) as reason:
            # The worker stops, or the run goes back to the queue. If it has ended instead, the fence refuses.
            with suppress(Unavailable, RunSuperseded):
                await run_to_completion(partial.save())
            if isinstance(reason, ReadingTimeUp):
                raise GiveUpSlot from None  # a time limit never fails a document that makes progress
            raise
