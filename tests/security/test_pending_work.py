"""Which organizations have work for a sweep: the only query of the service login across all of them."""

import pytest

from muniment.storage.db.address import APP_LOGIN, SERVICE_LOGIN
from muniment.storage.db.work import Database, PendingWork, list_organizations, list_organizations_with
from tests.security.world import a_world
from tests.support.seed import Seed

DONE = {
    PendingWork.DELETIONS: "UPDATE deletions SET done_at = now()",
    PendingWork.HANDOVERS: """
        UPDATE archive_audit_log SET next_attempt_at = NULL;
        UPDATE documents SET archive_status = NULL WHERE archive_job_id IS NULL
    """,
    PendingWork.INTENTS: "DELETE FROM index_intents",
    PendingWork.RECEIPTS: "UPDATE receipts SET record = '{}', signature = '', signed_at = now()",
    PendingWork.VECTORS_IN_CHUNKS: "UPDATE artifact_indexes SET vectors_in_chunks = false",
    PendingWork.UNSEALED_EVENTS: "DELETE FROM audit_unsealed",
}


@pytest.mark.parametrize("what", PendingWork)
async def test_only_an_organization_with_something_to_do_is_told(
    database: Database, seed: Seed, what: PendingWork
) -> None:
    world, idle = a_world(seed), seed.organization()
    assert set(await list_organizations(database)) == {world.organization_id, idle}
    assert world.organization_id in await list_organizations_with(database, what)
    assert idle not in await list_organizations_with(database, what)

    seed.execute(DONE[what])

    assert await list_organizations_with(database, what) == []


@pytest.mark.parametrize("what", PendingWork)
def test_it_is_for_the_service_login_alone(seed: Seed, what: PendingWork) -> None:
    may = "SELECT has_function_privilege(%s, %s, 'EXECUTE')"
    assert seed.one(may, SERVICE_LOGIN, f"{what}()")
    assert not seed.one(may, APP_LOGIN, f"{what}()")


async def test_a_document_that_says_something_else_than_its_row_is_seen_after(database: Database, seed: Seed) -> None:
    """After a revert: the restored columns are older than the row."""
    world = a_world(seed)
    seed.execute(DONE[PendingWork.HANDOVERS])
    seed.execute("UPDATE archive_audit_log SET archive_status = 'archived' WHERE id = %s", world.archive_row_id)
    says = "UPDATE documents SET archive_status = %s, archive_job_id = r2_object_key FROM archive_audit_log a"
    of_row = f"{says} WHERE a.id = %s AND documents.id = a.bilko_document_id"

    seed.execute(of_row, "pending", world.archive_row_id)
    assert await list_organizations_with(database, PendingWork.HANDOVERS) == [world.organization_id]
    seed.execute(of_row, "archived", world.archive_row_id)

    assert await list_organizations_with(database, PendingWork.HANDOVERS) == []
