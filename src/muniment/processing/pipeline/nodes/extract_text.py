"""Node ExtractText: extract text, pages and paragraphs from the original once, or reuse the artifact that already
exists.
"""

import time
from contextlib import suppress
from typing import BinaryIO

from langgraph.runtime import Runtime
from sqlalchemy import text

from muniment.artifacts.repository import ArtifactKey, ArtifactRepository
from muniment.artifacts.tables import FullText
from muniment.errors import Unavailable
from muniment.processing.pipeline.artifact_builder import Draft
from muniment.processing.pipeline.context import Context, RunState, found
from muniment.processing.pipeline.publishing import attach, find_wanted
from muniment.processing.readers.errors import Code, Unreadable
from muniment.processing.runs.repository import CHANNEL, RunRepository
from muniment.processing.runs.tables import StepStatus
from muniment.storage.deletions.ledger import Reservation, reserve
from muniment.storage.objects.async_io import to_the_end
from muniment.storage.objects.temporary_copy import local_copy
from muniment.storage.tasks.port import PutBack
from muniment.telemetry.metrics import ARTIFACTS, OCR_PAGES, PAGES_READ

INTERVAL_SECONDS = 0.5


class Progress:
    def __init__(self, context: Context, step: str, total_pages: int) -> None:
        self._context = context
        self._step = step
        self._total_pages = total_pages
        self._told_at = time.monotonic()

    async def note(self, page: int) -> None:
        """Written behind the fence, so that a run that was taken away stops here and not at its end."""
        if time.monotonic() - self._told_at < INTERVAL_SECONDS:
            return
        snapshot = {"page": page, "pages": self._total_pages}
        async with self._context.within(self._step, snapshot) as work:
            document_id = str(self._context.run.document_id)
            await work.session.execute(text("SELECT pg_notify(:channel, :id)"), {"channel": CHANNEL, "id": document_id})
        self._told_at = time.monotonic()


EXTRACT_TEXT = "ExtractText"


PUT_BACK_SECONDS = 1


async def extract_text(state: RunState, runtime: Runtime[Context]) -> RunState:
    context = runtime.context
    key = context.artifact_key(state["content_key"])
    async with context.tools.locks.attempt(_lock_name(key)) as is_ours:
        if not is_ours:
            # Somebody computes it right now: let others have the slot, and find the result when it is there.
            raise PutBack(PUT_BACK_SECONDS)
        draft = Draft(key.organization_id)
        async with context.step(EXTRACT_TEXT, StepStatus.STARTED, lasting=True) as work:
            if full := await find_wanted(work, context.run, key):
                await attach(work, context.run, full, was_known=True)
                await RunRepository(work.session).enter_steps(context.run, {EXTRACT_TEXT: StepStatus.SUCCESS})
                ARTIFACTS.labels("hit").inc()
                return found(full)
            _require_installed(context, key)
            # Before the bytes: if we die with the pack written and no row, the ledger takes it away.
            of_document = {"kb_id": state["kb_id"], "document_id": context.run.document_id}
            reservation = await reserve(work, draft.pack.key, **of_document)
        try:
            full = await _compute(context, key, state, draft, reservation)
        except BaseException:
            await to_the_end(_release(context, reservation))
            raise
    return found(full)


def _lock_name(key: ArtifactKey) -> str:
    # Written out field by field: workers of two versions must agree on it, whatever the class is called.
    variant = key.variant
    fields = f"algorithm_version={variant.algorithm_version!r}, params_fingerprint={variant.params_fingerprint!r}"
    return f"compute {key.content_key} Variant({fields})"


async def _release(context: Context, reservation: Reservation) -> None:
    with suppress(Unavailable):  # then the ledger takes it away tomorrow
        async with context.tools.database.service_work(context.service) as work:
            await reservation.release(work)


def _require_installed(context: Context, key: ArtifactKey) -> None:
    if context.run.algorithm_version not in (None, key.variant.algorithm_version):
        raise Unreadable(Code.UNSUPPORTED, "The requested extraction version is not installed")


async def _compute(
    context: Context, key: ArtifactKey, state: RunState, draft: Draft, reservation: Reservation
) -> FullText:
    began = time.monotonic()
    async with local_copy(context.tools.blobs, state["original"]) as file:
        await _read(context, file, state["media_type"], draft)
    await context.tools.blobs.put(draft.pack.key, draft.pack.data)
    async with context.step(EXTRACT_TEXT) as work:
        new = draft.finished(time.monotonic() - began)
        full, is_ours = await ArtifactRepository(work.session).add_once(key, new)
        await (reservation.keep(work) if is_ours else reservation.release(work))
        await attach(work, context.run, full, was_known=False)
    context.pending.pages = draft.sources
    ARTIFACTS.labels("compute").inc()
    PAGES_READ.inc(draft.total_pages)
    OCR_PAGES.inc(draft.ocr_pages)
    return full


async def _read(context: Context, file: BinaryIO, media_type: str, draft: Draft) -> None:
    tools = context.tools
    async with tools.reader.read(file, media_type, tools.options) as reading:
        progress = Progress(context, EXTRACT_TEXT, reading.total_pages)
        async for page in reading.pages:
            draft.add(page)
            await progress.note(page.number)
