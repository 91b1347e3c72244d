"""Node ExtractText: extract text, pages and paragraphs from the original once, or reuse the artifact that already
exists.
"""

import time
from contextlib import suppress
from typing import BinaryIO

from langgraph.runtime import Runtime
from sqlalchemy import text

from muniment.artifacts.repository import ArtifactKey, ArtifactRepository
from muniment.artifacts.tables import TextArtifact
from muniment.errors import Unavailable
from muniment.processing.pipeline.artifact_builder import ArtifactBuilder
from muniment.processing.pipeline.context import RunContext, RunState, artifact_state
from muniment.processing.pipeline.publishing import find_reusable_artifact, pin_artifact
from muniment.processing.readers.errors import Unreadable, UnreadableCode
from muniment.processing.runs.repository import DOCUMENT_CHANGES_CHANNEL, RunRepository
from muniment.processing.runs.tables import StepStatus
from muniment.storage.deletions.ledger import Reservation, reserve
from muniment.storage.objects.async_io import run_to_completion
from muniment.storage.objects.temporary_copy import open_temporary_copy
from muniment.storage.tasks.port import RetryLater
from muniment.telemetry.metrics import ARTIFACTS, OCR_PAGES, PAGES_READ

INTERVAL_SECONDS = 0.5


class ProgressReporter:
    def __init__(self, context: RunContext, step: str, total_pages: int) -> None:
        self._context = context
        self._step = step
        self._total_pages = total_pages
        self._reported_at = time.monotonic()

    async def report_page(self, page: int) -> None:
        """Written behind the fence, so that a run that was taken away stops here and not at its end."""
        if time.monotonic() - self._reported_at < INTERVAL_SECONDS:
            return
        snapshot = {"page": page, "pages": self._total_pages}
        async with self._context.progress_transaction(self._step, snapshot) as work:
            document_id = str(self._context.run.document_id)
            await work.session.execute(
                text("SELECT pg_notify(:channel, :id)"), {"channel": DOCUMENT_CHANGES_CHANNEL, "id": document_id}
            )
        self._reported_at = time.monotonic()


EXTRACT_TEXT = "ExtractText"


LOCKED_RETRY_SECONDS = 1


async def extract_text(state: RunState, runtime: Runtime[RunContext]) -> RunState:
    context = runtime.context
    key = context.artifact_key(state["content_key"])
    async with context.services.locks.try_acquire(_lock_name(key)) as is_ours:
        if not is_ours:
            # Somebody computes it right now: let others have the slot, and find the result when it is there.
            raise RetryLater(LOCKED_RETRY_SECONDS)
        draft = ArtifactBuilder(key.organization_id)
        async with context.transaction(EXTRACT_TEXT, StepStatus.STARTED, durable=True) as work:
            if full := await find_reusable_artifact(work, context.run, key):
                await pin_artifact(work, context.run, full, is_reused=True)
                await RunRepository(work.session).record_steps(context.run, {EXTRACT_TEXT: StepStatus.SUCCESS})
                ARTIFACTS.labels("hit").inc()
                return artifact_state(full)
            _require_installed_version(context, key)
            # Before the bytes: if we die with the pack written and no row, the ledger takes it away.
            of_document = {"kb_id": state["kb_id"], "document_id": context.run.document_id}
            reservation = await reserve(work, draft.pack.key, **of_document)
        try:
            full = await _extract(context, key, state, draft, reservation)
        except BaseException:
            await run_to_completion(_release_reservation(context, reservation))
            raise
    return artifact_state(full)


def _lock_name(key: ArtifactKey) -> str:
    # Written out field by field: workers of two versions must agree on it, whatever the class is called.
    variant = key.variant
    fields = f"algorithm_version={variant.algorithm_version!r}, params_fingerprint={variant.params_fingerprint!r}"
    return f"compute {key.content_key} Variant({fields})"


async def _release_reservation(context: RunContext, reservation: Reservation) -> None:
    with suppress(Unavailable):  # then the ledger takes it away tomorrow
        async with context.services.database.service_work(context.service) as work:
            await reservation.release(work)


def _require_installed_version(context: RunContext, key: ArtifactKey) -> None:
    if context.run.algorithm_version not in (None, key.variant.algorithm_version):
        raise Unreadable(UnreadableCode.UNSUPPORTED, "The requested extraction version is not installed")


async def _extract(
    context: RunContext, key: ArtifactKey, state: RunState, builder: ArtifactBuilder, reservation: Reservation
) -> TextArtifact:
    began = time.monotonic()
    async with open_temporary_copy(context.services.blobs, state["original"]) as file:
        await _read_pages(context, file, state["media_type"], builder)
    await context.services.blobs.put(builder.pack.key, builder.pack.getvalue)
    async with context.transaction(EXTRACT_TEXT) as work:
        new = builder.build(time.monotonic() - began)
        full, is_ours = await ArtifactRepository(work.session).add_once(key, new)
        await (reservation.confirm(work) if is_ours else reservation.release(work))
        await pin_artifact(work, context.run, full, is_reused=False)
    context.pending.pages = builder.pages_in_memory
    ARTIFACTS.labels("compute").inc()
    PAGES_READ.inc(builder.total_pages)
    OCR_PAGES.inc(builder.ocr_pages)
    return full


async def _read_pages(context: RunContext, file: BinaryIO, media_type: str, builder: ArtifactBuilder) -> None:
    tools = context.services
    async with tools.reader.read(file, media_type, tools.options) as reading:
        progress = ProgressReporter(context, EXTRACT_TEXT, reading.total_pages)
        async for page in reading.pages:
            builder.add_page(page)
            await progress.report_page(page.number)
