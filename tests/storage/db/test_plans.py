"""Query plans in a new database: without statistics, and with generic plans."""

from uuid import uuid4

import pytest

from tests.support.seed import Seed

KEYS = {
    "documents": "uq_documents_id_organization_id",
    "knowledge_bases": "uq_knowledge_bases_id_organization_id",
    "users": "uq_users_id_organization_id",
}


@pytest.mark.parametrize("table", KEYS)
def test_the_row_that_a_foreign_key_names_is_found_by_its_key(seed: Seed, table: str) -> None:
    # Like PostgreSQL's own foreign key check for each inserted row: 1,000 times for 1,000 pages.
    seed.execute("SET plan_cache_mode = force_generic_plan")
    seed.execute(
        f"PREPARE looked_up (uuid, uuid) AS SELECT FROM ONLY {table} x"
        " WHERE id = $1 AND organization_id = $2 FOR KEY SHARE OF x"
    )
    plan = "\n".join(line for (line,) in seed.rows(f"EXPLAIN EXECUTE looked_up ('{uuid4()}', '{uuid4()}')"))
    assert f"using {KEYS[table]}" in plan
