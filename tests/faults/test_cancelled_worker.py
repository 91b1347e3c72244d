"""A document cancelled while a worker processes it stays cancelled (docs/design.md#i4)."""

from uuid import UUID

import pytest

from tests.faults.effects import PRINCIPAL, RunEffectRecorder
from tests.faults.harness import FaultHarness
from tests.faults.pausing import Pause, held_up
from tests.faults.results import referenced, stored
from tests.faults.scenarios import SCENARIOS, unknown
from tests.faults.test_late_worker import count_effects, tables
from tests.support.live_api import RunningApi

MESSAGE = "Processing cancelled by user"


async def cancel(api: RunningApi, fault_env: FaultHarness, document_id: UUID) -> None:
    async with api.client(fault_env.worker_env.owner) as client:
        answer = await client.post(
            f"/api/v1/knowledge-bases/{fault_env.worker_env.kb_id}/documents/{document_id}/cancel"
        )
    assert (answer.status_code, answer.json()) == (200, {"message": "Document processing cancelled"})


@pytest.mark.parametrize("node", ["ExtractText", "IndexText", "MarkBasicComplete"])
async def test_a_worker_that_continues_after_its_first_statement_writes_nothing(
    fault_env: FaultHarness, api: RunningApi, node: str
) -> None:
    reached = await count_effects(fault_env, SCENARIOS["unknown content"])
    # The first statement of a transaction sets the principal; the fence follows.
    first = next(at for at, effect in enumerate(reached) if effect.place == node and effect.what.startswith(PRINCIPAL))
    await fault_env.clear()
    document_id, pause = await unknown(fault_env), Pause(first + 1)
    async with held_up(fault_env, document_id, RunEffectRecorder(pause), pause):
        await cancel(api, fault_env, document_id)
        then = tables(fault_env.seed.rows)
    assert tables(fault_env.seed.rows) == then
    said = fault_env.seed.rows("SELECT status, last_error, processing_status FROM documents")
    assert said == [("failed", MESSAGE, "failed")]
    await fault_env.carry_out_ledger()
    assert await stored(fault_env.worker_env.objects) == referenced(fault_env.seed)
    assert fault_env.seed.one("SELECT count(*) FROM artifacts_full_text") == 0


async def test_a_cancelled_document_that_is_retried_is_the_new_runs_alone(
    fault_env: FaultHarness, api: RunningApi
) -> None:
    reached = await count_effects(fault_env, SCENARIOS["unknown content"])
    first = next(at for at, effect in enumerate(reached) if effect.place == "IndexText")
    await fault_env.clear()
    document_id, pause = await unknown(fault_env), Pause(first)
    async with held_up(fault_env, document_id, RunEffectRecorder(pause), pause):
        await cancel(api, fault_env, document_id)
        async with api.client(fault_env.worker_env.owner) as client:
            await client.post(f"/api/v1/knowledge-bases/{fault_env.worker_env.kb_id}/documents/{document_id}/retry")
    runs = fault_env.seed.rows("SELECT epoch, status, error->>'code' FROM document_processing_runs ORDER BY epoch")
    assert runs == [(1, "failed", "cancelled"), (3, "queued", None)]
    await fault_env.finish(document_id)
    assert fault_env.seed.rows("SELECT status, last_error FROM documents") == [("completed", None)]
