"""Add document results (docs/contracts.md#document-tables) and the steps of runs (docs/contracts.md#run-tables)."""

from alembic import op

from muniment.migrations.policies import allow, allow_service, definer_function, grant_execute, protect

revision = "0007"
down_revision = "0006"

TABLES = ("document_pages", "document_paragraphs", "document_diagrams")
OF_VISIBLE_DOCUMENT = "EXISTS (SELECT FROM documents d WHERE d.id = document_id)"
OF_WRITABLE_DOCUMENT = (
    "EXISTS (SELECT FROM documents d WHERE d.id = document_id"
    " AND d.organization_id = {table}.organization_id AND d.knowledge_base_id IN (SELECT app_writable_kb_ids()))"
)
OF_DOCUMENT = """
    document_id uuid NOT NULL,
    organization_id uuid NOT NULL,
    page_number integer NOT NULL,
    annotations jsonb,
    stale_at timestamptz,
    created_at timestamptz NOT NULL DEFAULT now(),
    updated_at timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT fk_{table}_document_id_organization_id
        FOREIGN KEY (document_id, organization_id) REFERENCES documents (id, organization_id) ON DELETE CASCADE
"""


def upgrade() -> None:
    op.execute("""
        ALTER TABLE documents
            ADD COLUMN total_pages integer,
            ADD COLUMN total_word_count integer,
            ADD COLUMN text_extraction_method text;
        ALTER TABLE document_processing_runs
            ADD COLUMN force boolean NOT NULL DEFAULT false,
            ADD COLUMN algorithm_version integer,
            ADD COLUMN failures integer NOT NULL DEFAULT 0,
            ADD COLUMN saved_seconds double precision,
            ADD COLUMN ended_at timestamptz;
        CREATE INDEX ix_document_processing_runs_ended_at ON document_processing_runs (ended_at)
    """)
    # A part that no longer exists has no artifact; annotations of it are kept and marked as stale.
    _create("document_pages", "artifact_page_id uuid, flags jsonb", "document_id, page_number", "artifact_page_id")
    _create(
        "document_paragraphs",
        "paragraph_index integer NOT NULL, artifact_paragraph_id uuid, paragraph_text_sha256 text NOT NULL",
        "document_id, page_number, paragraph_index",
        "artifact_paragraph_id",
    )
    _create(
        "document_diagrams",
        "diagram_key text NOT NULL, artifact_diagram_id uuid",
        "document_id, page_number, diagram_key",
        "artifact_diagram_id",
    )
    _steps()
    _policies()
    _enqueue()
    _revoke(
        # The run ends with its job, so that it neither pins an artifact nor counts as open.
        """
        UPDATE document_processing_runs
           SET status = 'failed', ended_at = clock_timestamp(), artifact_text_id = NULL,
               error = jsonb_build_object('code', 'superseded', 'message', 'Somebody else has this document now')
         WHERE document_id = p_document_id AND epoch = p_epoch AND v_job IS NOT NULL
           AND status IN ('queued', 'in_progress');
        """
    )
    _events()
    _counts()


def _create(table: str, columns: str, key: str, artifact: str) -> None:
    op.execute(f"""
        CREATE TABLE {table} (
            {OF_DOCUMENT.format(table=table)},
            {columns},
            CONSTRAINT pk_{table} PRIMARY KEY ({key}),
            CONSTRAINT ck_{table}_has_a_place CHECK ({artifact} IS NOT NULL OR stale_at IS NOT NULL)
        )
    """)


def _steps() -> None:
    op.execute("""
        CREATE TABLE document_processing_steps (
            run_id uuid NOT NULL CONSTRAINT fk_document_processing_steps_run_id
                REFERENCES document_processing_runs (run_id) ON DELETE CASCADE,
            organization_id uuid NOT NULL,
            step_name text NOT NULL,
            status text NOT NULL CONSTRAINT ck_document_processing_steps_status_known
                CHECK (status IN ('started','success','failed','skipped')),
            state_snapshot jsonb,
            error jsonb,
            started_at timestamptz NOT NULL DEFAULT now(),
            completed_at timestamptz,
            CONSTRAINT pk_document_processing_steps PRIMARY KEY (run_id, step_name)
        )
    """)


def _policies() -> None:
    for table in (*TABLES, "document_processing_steps"):
        protect(table)
        allow_service(table)
    for table in TABLES:
        allow("muniment_app", table, "SELECT", using=OF_VISIBLE_DOCUMENT)
    writable = {table: OF_WRITABLE_DOCUMENT.format(table=table) for table in TABLES}
    # Workers create pages and diagrams; users annotate them.
    for table, columns in {
        "document_pages": "(annotations, flags, updated_at)",
        "document_diagrams": "(annotations, updated_at)",
        "document_paragraphs": "(annotations, updated_at)",
    }.items():
        allow("muniment_app", table, "UPDATE", using=writable[table], check=writable[table], columns=columns)
    # A paragraph has a row only if it is annotated.
    allow("muniment_app", "document_paragraphs", "INSERT", check=writable["document_paragraphs"])
    allow("muniment_app", "document_paragraphs", "DELETE", using=writable["document_paragraphs"])
    allow(
        "muniment_app",
        "document_processing_steps",
        "SELECT",
        using="EXISTS (SELECT FROM document_processing_runs r WHERE r.run_id = document_processing_steps.run_id)",
    )


# As in the migration of runs, the login decides and not a setting that the caller can change.
MAY_TOUCH = """
    CASE session_user
        WHEN 'muniment_app' THEN d.knowledge_base_id IN (SELECT app_writable_kb_ids())
        WHEN 'muniment_service' THEN d.organization_id = app_service_organization_id()
        ELSE false END
"""

ENQUEUE = f"""
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
        INSERT INTO document_processing_runs
            (document_id, organization_id, user_id, epoch, revision, purpose{{columns}})
        VALUES (v_document.id, v_document.organization_id, coalesce(app_user_id(), v_document.uploaded_by),
                p_epoch, v_document.revision, p_purpose{{values}})
        RETURNING run_id INTO v_run;
        -- Every run enters the fast queue; its slot finishes known content and moves unknown content on.
        v_job := (procrastinate_defer_jobs_v1(ARRAY[ROW(
            'fast', 'processing.run', 0, NULL, v_run::text,
            jsonb_build_object('run_id', v_run, 'organization_id', v_document.organization_id), NULL
        )]::procrastinate_job_to_defer_v1[]))[1];
        UPDATE document_processing_runs SET job_id = v_job WHERE run_id = v_run;
        RETURN v_run;
    END
    """


def _enqueue() -> None:
    """Extend `enqueue_run`: a run may hydrate again (`force`) or use another version of the algorithm."""
    op.execute("DROP FUNCTION enqueue_run(uuid, integer, text)")
    definer_function(
        "enqueue_run(p_document_id uuid, p_epoch integer, p_purpose text DEFAULT 'first',"
        " p_force boolean DEFAULT false, p_algorithm_version integer DEFAULT NULL)",
        "uuid",
        ENQUEUE.format(columns=", force, algorithm_version", values=", p_force, p_algorithm_version"),
        language="plpgsql",
        volatility="VOLATILE",
    )
    grant_execute("enqueue_run(uuid, integer, text, boolean, integer)", "muniment_app", "muniment_service")


def _revoke(end_run: str) -> None:
    op.execute("DROP FUNCTION revoke_run(uuid, integer)")
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
            {end_run}
            -- A waiting job is gone at once; a running one is asked to stop and loses the fence with the epoch anyway.
            RETURN v_job IS NOT NULL AND procrastinate_cancel_job_v1(v_job, true, true) IS NOT NULL;
        END
        """,
        language="plpgsql",
        volatility="VOLATILE",
    )
    grant_execute("revoke_run(uuid, integer)", "muniment_app", "muniment_service")


def _events() -> None:
    """Notify that a document changed, and nothing else: listeners query what they may see."""
    op.execute("""
        CREATE FUNCTION tell_document_changed() RETURNS trigger LANGUAGE plpgsql
        SET search_path = pg_catalog, public, pg_temp AS $function$
        BEGIN
            PERFORM pg_notify('muniment_documents', coalesce(NEW.id, OLD.id)::text);
            RETURN NULL;
        END
        $function$;
        CREATE TRIGGER tell_added_or_gone AFTER INSERT OR DELETE ON documents
            FOR EACH ROW EXECUTE FUNCTION tell_document_changed();
        CREATE TRIGGER tell_changed AFTER UPDATE ON documents FOR EACH ROW WHEN (
            (OLD.status, OLD.name, OLD.revision, OLD.document_type, OLD.artifact_text_id)
            IS DISTINCT FROM (NEW.status, NEW.name, NEW.revision, NEW.document_type, NEW.artifact_text_id))
            EXECUTE FUNCTION tell_document_changed();

        -- A reread leaves its document as it is until it ends: its run tells.
        CREATE FUNCTION tell_reread() RETURNS trigger LANGUAGE plpgsql
        SET search_path = pg_catalog, public, pg_temp AS $function$
        BEGIN
            PERFORM pg_notify('muniment_documents', NEW.document_id::text);
            RETURN NULL;
        END
        $function$;
        CREATE TRIGGER tell_reread AFTER INSERT OR UPDATE OF status ON document_processing_runs
            FOR EACH ROW WHEN (NEW.purpose = 'reread') EXECUTE FUNCTION tell_reread();
        CREATE INDEX ix_documents_unfinished ON documents (created_at) WHERE status IN ('pending', 'processing');
    """)


def _counts() -> None:
    """Add counts for operators, who see no documents: totals of the installation per hour."""
    definer_function(
        "processing_counts(p_since timestamptz)",
        "TABLE (hour timestamptz, status text, runs bigint)",
        """
        SELECT NULL::timestamptz, r.status, count(*) FROM document_processing_runs r
         WHERE r.status IN ('queued', 'in_progress') AND app_is_operator() GROUP BY r.status
        UNION ALL
        SELECT date_trunc('hour', r.ended_at, 'UTC'), r.status, count(*) FROM document_processing_runs r
         WHERE r.ended_at >= p_since AND app_is_operator() GROUP BY 1, 2
        """,
    )
    grant_execute("processing_counts(timestamptz)", "muniment_app")


def downgrade() -> None:
    op.execute("""
        DROP FUNCTION processing_counts;
        DROP INDEX ix_documents_unfinished;
        DROP TRIGGER tell_reread ON document_processing_runs;
        DROP FUNCTION tell_reread;
        DROP TRIGGER tell_changed ON documents;
        DROP TRIGGER tell_added_or_gone ON documents;
        DROP FUNCTION tell_document_changed;
        DROP FUNCTION enqueue_run;
        DROP TABLE document_processing_steps, document_diagrams, document_paragraphs, document_pages;
        ALTER TABLE document_processing_runs
            DROP COLUMN force, DROP COLUMN algorithm_version, DROP COLUMN failures,
            DROP COLUMN saved_seconds, DROP COLUMN ended_at;
        ALTER TABLE documents
            DROP COLUMN total_pages, DROP COLUMN total_word_count, DROP COLUMN text_extraction_method;
    """)
    _revoke("")
    definer_function(
        "enqueue_run(p_document_id uuid, p_epoch integer, p_purpose text DEFAULT 'first')",
        "uuid",
        ENQUEUE.format(columns="", values=""),
        language="plpgsql",
        volatility="VOLATILE",
    )
    grant_execute("enqueue_run(uuid, integer, text)", "muniment_app", "muniment_service")
