"""Cancelled over HTTP while a worker is in the middle of it: nothing comes back (docs/design.md#i4)."""

from uuid import UUID

import pytest

from tests.faults.effects import PRINCIPAL, EffectRecorder
from tests.faults.harness import FaultHarness
from tests.faults.pausing import Pause, held_up
from tests.faults.results import referenced, stored
from tests.faults.scenarios import SCENARIOS, unknown
from tests.faults.test_late_worker import count_effects, tables
from tests.support.live_api import RunningApi

MESSAGE = "Processing cancelled by user"


async def cancel(api: RunningApi, stage: FaultHarness, document_id: UUID) -> None:
    async with api.client(stage.desk.owner) as client:
        answer = await client.post(f"/api/v1/knowledge-bases/{stage.desk.kb_id}/documents/{document_id}/cancel")
    assert (answer.status_code, answer.json()) == (200, {"message": "Document processing cancelled"})


@pytest.mark.parametrize("node", ["ExtractText", "Index", "MarkBasicComplete"])
async def test_a_worker_that_goes_on_after_its_first_statement_writes_nothing_any_more(
    stage: FaultHarness, api: RunningApi, node: str
) -> None:
    reached = await count_effects(stage, SCENARIOS["unknown content"])
    # The first statement of a transaction says who is asking: the fence comes after it.
    first = next(at for at, effect in enumerate(reached) if effect.place == node and effect.what.startswith(PRINCIPAL))
    await stage.clear()
    document_id, pause = await unknown(stage), Pause(first + 1)
    async with held_up(stage, document_id, EffectRecorder(pause), pause):
        await cancel(api, stage, document_id)
        then = tables(stage.seed.rows)
    assert tables(stage.seed.rows) == then
    said = stage.seed.rows("SELECT status, last_error, processing_status FROM documents")
    assert said == [("failed", MESSAGE, "failed")]
    await stage.carry_out_ledger()
    assert await stored(stage.desk.objects) == referenced(stage.seed)


async def test_a_cancelled_document_that_is_retried_is_the_new_runs_alone(stage: FaultHarness, api: RunningApi) -> None:
    reached = await count_effects(stage, SCENARIOS["unknown content"])
    first = next(at for at, effect in enumerate(reached) if effect.place == "Index")
    await stage.clear()
    document_id, pause = await unknown(stage), Pause(first)
    async with held_up(stage, document_id, EffectRecorder(pause), pause):
        await cancel(api, stage, document_id)
        async with api.client(stage.desk.owner) as client:
            await client.post(f"/api/v1/knowledge-bases/{stage.desk.kb_id}/documents/{document_id}/retry")
    runs = stage.seed.rows("SELECT epoch, status, error->>'code' FROM document_processing_runs ORDER BY epoch")
    assert runs == [(1, "failed", "cancelled"), (3, "queued", None)]
    await stage.finish(document_id)
    assert stage.seed.rows("SELECT status, last_error FROM documents") == [("completed", None)]
