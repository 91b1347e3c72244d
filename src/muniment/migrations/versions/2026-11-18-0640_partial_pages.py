"""Release what an interrupted run has stored when the run is revoked, and index open reservations.

A waiting run has no worker that could still write. One in progress has a minute to notice that it was revoked; after
that, only reconciliation would find what it writes.
"""

from alembic import op

from muniment.migrations.policies import definer_function, grant_execute

revision = "0031"
down_revision = "0030"

_SIGNATURE = "revoke_run(p_document_id uuid, p_epoch integer, p_reason text DEFAULT 'superseded')"

# The login decides, not a setting that the caller can change.
_MAY_TOUCH = """
    CASE session_user
        WHEN 'muniment_app' THEN d.knowledge_base_id IN (SELECT app_writable_kb_ids())
        WHEN 'muniment_service' THEN d.organization_id = app_service_organization_id()
        ELSE false END
"""

_RELEASE = """
            UPDATE deletions
               SET next_attempt_at = CASE v_status WHEN 'in_progress' THEN now() + interval '1 minute' ELSE now() END
             WHERE document_id = p_document_id AND reason = 'never_kept' AND done_at IS NULL AND v_job IS NOT NULL;
"""


def upgrade() -> None:
    op.execute("""
        CREATE INDEX ix_deletions_reserved ON deletions (organization_id)
            WHERE reason = 'never_kept' AND done_at IS NULL;
        CREATE POLICY owner_update ON deletions FOR UPDATE TO muniment_owner USING (true) WITH CHECK (true)
    """)
    _replace_revoke_run(_RELEASE)


def downgrade() -> None:
    _replace_revoke_run("")
    op.execute("DROP POLICY owner_update ON deletions; DROP INDEX ix_deletions_reserved")


def _replace_revoke_run(release: str) -> None:
    op.execute("DROP FUNCTION revoke_run(uuid, integer, text)")
    definer_function(
        _SIGNATURE,
        "boolean",
        f"""
        DECLARE
            v_job bigint;
            v_status text;
        BEGIN
            SELECT r.job_id, r.status INTO v_job, v_status
              FROM document_processing_runs r JOIN documents d ON d.id = r.document_id
             WHERE r.document_id = p_document_id AND r.epoch = p_epoch AND {_MAY_TOUCH};
            UPDATE document_processing_runs
               SET status = 'failed', ended_at = clock_timestamp(), artifact_text_id = NULL,
                   error = CASE p_reason
                       WHEN 'cancelled' THEN jsonb_build_object('code', 'cancelled',
                                                                'message', 'Processing cancelled by user')
                       ELSE jsonb_build_object('code', 'superseded',
                                               'message', 'Another run has taken over this document') END
             WHERE document_id = p_document_id AND epoch = p_epoch AND v_job IS NOT NULL
               AND status IN ('queued', 'in_progress');
            {release}
            -- A waiting job is deleted now; a running one is told to stop, and has lost the fence with the epoch.
            RETURN v_job IS NOT NULL AND procrastinate_cancel_job_v1(v_job, true, true) IS NOT NULL;
        END
        """,
        language="plpgsql",
        volatility="VOLATILE",
    )
    grant_execute("revoke_run(uuid, integer, text)", "muniment_app", "muniment_service")
