"""Index archived documents in display order, count them without row checks, and record why a run was cancelled."""

from alembic import op

from muniment.migrations.policies import definer_function, grant_execute

revision = "0013"
down_revision = "0012"

# As in the migration of runs, the login decides and not a setting that the caller can change.
MAY_TOUCH = """
    CASE session_user
        WHEN 'muniment_app' THEN d.knowledge_base_id IN (SELECT app_writable_kb_ids())
        WHEN 'muniment_service' THEN d.organization_id = app_service_organization_id()
        ELSE false END
"""
SUPERSEDED = "jsonb_build_object('code', 'superseded', 'message', 'Somebody else has this document now')"
CANCELLED = "jsonb_build_object('code', 'cancelled', 'message', 'Processing cancelled by user')"


def upgrade() -> None:
    # Admins list the archive of the organization, owners that of some knowledge bases. Row level security checks the
    # knowledge base of every scanned row, so it is in the index.
    op.execute("""
        CREATE INDEX idx_documents_archive ON documents (organization_id, archived_at, id)
            INCLUDE (knowledge_base_id) WHERE status = 'archived';
        CREATE INDEX idx_documents_kb_archive ON documents (knowledge_base_id, archived_at, id)
            WHERE status = 'archived';
    """)
    definer_function(
        "count_archived(p_kb_id uuid DEFAULT NULL)",
        "bigint",
        """
        SELECT count(*) FROM documents d WHERE d.status = 'archived' AND d.knowledge_base_id = ANY (ARRAY(
            SELECT kb_id FROM app_managed_kb_ids() AS kb_id WHERE p_kb_id IS NULL OR kb_id = p_kb_id))
        """,
    )
    grant_execute("count_archived(uuid)", "muniment_app")
    op.execute("DROP FUNCTION revoke_run(uuid, integer)")
    _create_revoke_run(
        "p_document_id uuid, p_epoch integer, p_reason text DEFAULT 'superseded'",
        f"CASE p_reason WHEN 'cancelled' THEN {CANCELLED} ELSE {SUPERSEDED} END",
    )
    grant_execute("revoke_run(uuid, integer, text)", "muniment_app", "muniment_service")


def _create_revoke_run(parameters: str, error: str) -> None:
    """Replace `revoke_run`, which also records why the run ended."""
    definer_function(
        f"revoke_run({parameters})",
        "boolean",
        f"""
        DECLARE
            v_job bigint;
        BEGIN
            SELECT r.job_id INTO v_job
              FROM document_processing_runs r JOIN documents d ON d.id = r.document_id
             WHERE r.document_id = p_document_id AND r.epoch = p_epoch AND {MAY_TOUCH};
            UPDATE document_processing_runs
               SET status = 'failed', ended_at = clock_timestamp(), artifact_text_id = NULL, error = {error}
             WHERE document_id = p_document_id AND epoch = p_epoch AND v_job IS NOT NULL
               AND status IN ('queued', 'in_progress');
            -- A waiting job is gone at once; a running one is asked to stop and loses the fence with the epoch anyway.
            RETURN v_job IS NOT NULL AND procrastinate_cancel_job_v1(v_job, true, true) IS NOT NULL;
        END
        """,
        language="plpgsql",
        volatility="VOLATILE",
    )


def downgrade() -> None:
    op.execute("""
        DROP FUNCTION revoke_run(uuid, integer, text);
        DROP FUNCTION count_archived;
        DROP INDEX idx_documents_kb_archive, idx_documents_archive;
    """)
    _create_revoke_run("p_document_id uuid, p_epoch integer", SUPERSEDED)
    grant_execute("revoke_run(uuid, integer)", "muniment_app", "muniment_service")
