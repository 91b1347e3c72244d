"""Add processing runs, and functions that enqueue one without access to the queue's tables."""

from alembic import op

from muniment.migrations.policies import allow, allow_owner, allow_service, definer_function, grant_execute, protect

revision = "0004"
down_revision = "0003"

# The login decides, not a setting that the caller can change: requests need a knowledge base that the user may write
# to, workers the organization of their job.
MAY_TOUCH = """
    CASE session_user
        WHEN 'muniment_app' THEN d.knowledge_base_id IN (SELECT app_writable_kb_ids())
        WHEN 'muniment_service' THEN d.organization_id = app_service_organization_id()
        ELSE false END
"""


def upgrade() -> None:
    op.execute("""
        CREATE TABLE document_processing_runs (
            run_id uuid CONSTRAINT pk_document_processing_runs PRIMARY KEY DEFAULT gen_random_uuid(),
            document_id uuid NOT NULL,
            organization_id uuid NOT NULL,
            user_id uuid NOT NULL,
            epoch integer NOT NULL,
            revision integer NOT NULL,
            purpose text NOT NULL DEFAULT 'first' CONSTRAINT ck_document_processing_runs_purpose_known
                CHECK (purpose IN ('first', 'reread')),
            status text NOT NULL DEFAULT 'queued' CONSTRAINT ck_document_processing_runs_status_known
                CHECK (status IN ('queued','in_progress','completed','failed')),
            attempt integer NOT NULL DEFAULT 0,
            job_id bigint,
            last_step text,
            error jsonb,
            created_at timestamptz NOT NULL DEFAULT now(),
            updated_at timestamptz NOT NULL DEFAULT now(),
            CONSTRAINT uq_document_processing_runs_document_id_epoch UNIQUE (document_id, epoch),
            CONSTRAINT fk_document_processing_runs_document_id_organization_id
                FOREIGN KEY (document_id, organization_id) REFERENCES documents (id, organization_id) ON DELETE CASCADE,
            CONSTRAINT fk_document_processing_runs_user_id_organization_id
                FOREIGN KEY (user_id, organization_id) REFERENCES users (id, organization_id)
        );
        CREATE INDEX ix_document_processing_runs_status ON document_processing_runs (status);
    """)
    protect("document_processing_runs")
    allow_owner("document_processing_runs")
    allow_service("document_processing_runs")
    allow(
        "muniment_app",
        "document_processing_runs",
        "SELECT",
        using="EXISTS (SELECT FROM documents d WHERE d.id = document_id)",
    )
    _enqueue()
    _revoke()


def _enqueue() -> None:
    definer_function(
        "enqueue_run(p_document_id uuid, p_epoch integer, p_purpose text DEFAULT 'first')",
        "uuid",
        f"""
        DECLARE
            v_document documents;
            v_run uuid;
            v_job bigint;
        BEGIN
            SELECT * INTO v_document FROM documents d
             WHERE d.id = p_document_id AND d.epoch = p_epoch AND {MAY_TOUCH} FOR NO KEY UPDATE;
            IF NOT FOUND THEN
                RAISE 'no document % at epoch % that you may have processed', p_document_id, p_epoch
                    USING ERRCODE = 'insufficient_privilege';
            END IF;
            INSERT INTO document_processing_runs (document_id, organization_id, user_id, epoch, revision, purpose)
            VALUES (v_document.id, v_document.organization_id, coalesce(app_user_id(), v_document.uploaded_by),
                    p_epoch, v_document.revision, p_purpose)
            RETURNING run_id INTO v_run;
            -- Every run enters the fast queue; its slot finishes known content and moves unknown content on.
            v_job := (procrastinate_defer_jobs_v1(ARRAY[ROW(
                'fast', 'processing.run', 0, NULL, v_run::text,
                jsonb_build_object('run_id', v_run, 'organization_id', v_document.organization_id), NULL
            )]::procrastinate_job_to_defer_v1[]))[1];
            UPDATE document_processing_runs SET job_id = v_job WHERE run_id = v_run;
            RETURN v_run;
        END
        """,
        language="plpgsql",
        volatility="VOLATILE",
    )
    grant_execute("enqueue_run(uuid, integer, text)", "muniment_app", "muniment_service")


def _revoke() -> None:
    definer_function(
        "revoke_run(p_document_id uuid, p_epoch integer)",
        "boolean",
        f"""
        DECLARE
            v_job bigint;
        BEGIN
            SELECT r.job_id INTO v_job
              FROM document_processing_runs r JOIN documents d ON d.id = r.document_id
             WHERE r.document_id = p_document_id AND r.epoch = p_epoch AND {MAY_TOUCH};
            -- A waiting job is gone at once; a running one is asked to stop and loses the fence with the epoch anyway.
            RETURN v_job IS NOT NULL AND procrastinate_cancel_job_v1(v_job, true, true) IS NOT NULL;
        END
        """,
        language="plpgsql",
        volatility="VOLATILE",
    )
    grant_execute("revoke_run(uuid, integer)", "muniment_app", "muniment_service")


def downgrade() -> None:
    op.execute("""
        DROP FUNCTION revoke_run, enqueue_run;
        DROP TABLE document_processing_runs CASCADE;
    """)
