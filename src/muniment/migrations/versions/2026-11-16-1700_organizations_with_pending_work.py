"""Add functions that list organizations with work for a sweep.

With a thousand organizations, visiting all of them every few seconds would keep a worker busy.
"""

from alembic import op

from muniment.migrations.policies import definer_function, grant_execute

revision = "0022"
down_revision = "0021"

_FUNCTIONS = {
    "organizations_with_intents()": "SELECT DISTINCT organization_id FROM index_intents",
    "organizations_with_receipts()": "SELECT DISTINCT organization_id FROM receipts WHERE signed_at IS NULL",
    # Without entries that are not due yet.
    "organizations_with_deletions()": """
        SELECT DISTINCT organization_id FROM deletions
         WHERE done_at IS NULL AND (attempts > 0 OR next_attempt_at <= now())
    """,
    "chains_with_events()": "SELECT DISTINCT chain FROM audit_unsealed",
    # A request that was not submitted, a record to recheck, or a document whose status differs from its record.
    "organizations_with_hand_overs()": """
        SELECT organization_id FROM documents WHERE archive_status = 'pending' AND archive_job_id IS NULL
        UNION SELECT organization_id FROM archive_audit_log WHERE next_attempt_at <= now()
        UNION SELECT d.organization_id FROM documents d JOIN archive_audit_log a
              ON a.organization_id = d.organization_id AND a.bilko_document_id = d.id
                 AND a.r2_object_key = d.archive_job_id
           WHERE d.archive_job_id IS NOT NULL AND d.archive_status <> 'archived'
                 AND d.archive_status <> a.archive_status::text
    """,
}


def upgrade() -> None:
    op.execute("""
        CREATE POLICY owner_all ON index_intents FOR SELECT TO muniment_owner USING (true);
        CREATE POLICY owner_all ON deletions FOR SELECT TO muniment_owner USING (true);
        CREATE INDEX ix_documents_on_their_way ON documents (organization_id, archive_job_id)
            WHERE archive_job_id IS NOT NULL AND archive_status <> 'archived'
    """)
    for signature, body in _FUNCTIONS.items():
        definer_function(signature, "SETOF uuid", body)
        grant_execute(signature, "muniment_service")


def downgrade() -> None:
    for signature in _FUNCTIONS:
        op.execute(f"DROP FUNCTION {signature}")
    for table in ("index_intents", "deletions"):
        op.execute(f"DROP POLICY owner_all ON {table}")
    op.execute("DROP INDEX ix_documents_on_their_way")
