"""Index archived documents by organization.

Users with access to most knowledge bases would otherwise need many short lists merged and sorted for each page.
"""

from alembic import op

from muniment.migrations.policies import definer_function, grant_execute

revision = "0024"
down_revision = "0023"

MANAGED = "SELECT kb_id FROM app_managed_kb_ids() AS kb_id WHERE p_kb_id IS NULL OR kb_id = p_kb_id"
COUNTED = "SELECT count(*) FROM documents d WHERE d.status = 'archived' AND d.knowledge_base_id = ANY ({managed})"


def upgrade() -> None:
    op.execute("DROP FUNCTION count_archived")
    definer_function(
        "measure_archive(p_kb_id uuid DEFAULT NULL)",
        "TABLE (total bigint, is_most boolean)",
        f"""
        WITH mine AS MATERIALIZED (SELECT ARRAY({MANAGED}) AS ids)
        SELECT ({COUNTED.format(managed="(SELECT ids FROM mine)::uuid[]")}),
               (SELECT 2 * cardinality((SELECT ids FROM mine)) > count(*) FROM knowledge_bases kb
                 WHERE kb.organization_id = (SELECT me.organization_id FROM users me WHERE me.id = app_user_id()))
        """,
    )
    grant_execute("measure_archive(uuid)", "muniment_app")


def downgrade() -> None:
    op.execute("DROP FUNCTION measure_archive")
    definer_function("count_archived(p_kb_id uuid DEFAULT NULL)", "bigint", COUNTED.format(managed=f"ARRAY({MANAGED})"))
    grant_execute("count_archived(uuid)", "muniment_app")
