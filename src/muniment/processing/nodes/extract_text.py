"""original -> text, pages and paragraphs: found if anybody computed them, computed once if not."""

import time
from contextlib import suppress
from typing import BinaryIO

from langgraph.runtime import Runtime

from muniment.artifacts.repository import ArtifactKey, ArtifactRepository
from muniment.artifacts.tables import FullText
from muniment.errors import Unavailable
from muniment.processing.completion import attach, find_wanted
from muniment.processing.context import Context, RunState, found
from muniment.processing.drafts import Draft
from muniment.processing.originals import local_copy
from muniment.processing.progress import Progress
from muniment.processing.readers.contract import Code, Unreadable
from muniment.processing.runs import RunRepository
from muniment.processing.tables import StepStatus
from muniment.storage.blobs.uninterrupted import to_the_end
from muniment.storage.deletions.reservations import Reservation, reserve
from muniment.storage.tasks.port import PutBack
from muniment.telemetry.metrics import ARTIFACTS, OCR_PAGES, PAGES_READ

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
        raise Unreadable(Code.UNSUPPORTED, "The version of the reader that was asked for is not installed")


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
