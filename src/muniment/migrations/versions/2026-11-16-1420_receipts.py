"""Add receipts of purges, with what was there before and what a second check found, and rate limits."""

from alembic import op

from muniment.migrations.policies import allow, allow_owner, allow_service, definer_function, grant_execute, protect

revision = "0012"
down_revision = "0011"

# The function below reads these tables as its owner, to whom FORCE applies.
LOOKED_INTO = (
    "artifacts_full_text",
    "artifact_pages",
    "artifact_paragraphs",
    "artifact_diagrams",
    "document_pages",
    "document_paragraphs",
    "document_diagrams",
    "document_processing_steps",
)
# As in the migration of runs, the login decides and not a setting that the caller can change.
MAY_TOUCH = """
    CASE session_user
        WHEN 'muniment_app' THEN d.knowledge_base_id IN (SELECT app_writable_kb_ids())
        WHEN 'muniment_service' THEN d.organization_id = app_service_organization_id()
        ELSE false END
"""


def upgrade() -> None:
    op.execute("""
        CREATE TABLE receipts (
            id uuid CONSTRAINT pk_receipts PRIMARY KEY,
            organization_id uuid NOT NULL,
            knowledge_base_id uuid NOT NULL,
            owner_id uuid NOT NULL,
            document_id uuid NOT NULL CONSTRAINT uq_receipts_document_id UNIQUE,
            document_name text NOT NULL,
            move text NOT NULL CONSTRAINT ck_receipts_move_known CHECK (move IN ('purge', 'clear', 'auto_clear')),
            actor text NOT NULL,
            event_id uuid NOT NULL,
            found jsonb NOT NULL,
            created_at timestamptz NOT NULL DEFAULT now(),
            points integer,
            pending text[],
            attempts integer NOT NULL DEFAULT 0,
            next_attempt_at timestamptz NOT NULL,
            record jsonb,
            signature text,
            signed_at timestamptz,
            CONSTRAINT ck_receipts_signed_whole
                CHECK ((record IS NULL) = (signed_at IS NULL) AND (signature IS NULL) = (signed_at IS NULL))
        );
        CREATE INDEX ix_receipts_due ON receipts (organization_id, next_attempt_at) WHERE signed_at IS NULL;
        CREATE INDEX ix_receipts_knowledge_base_id_id ON receipts (knowledge_base_id, id);
        CREATE INDEX ix_receipts_organization_id_id ON receipts (organization_id, id);
        CREATE TABLE request_times (
            user_id uuid NOT NULL,
            operation text NOT NULL,
            times timestamptz[] NOT NULL,
            CONSTRAINT pk_request_times PRIMARY KEY (user_id, operation)
        );
    """)
    _policies()
    _ownership()
    _stock()
    _rate()


def _policies() -> None:
    protect("receipts")
    allow_owner("receipts")  # written by the trigger below
    allow_service("receipts", ("SELECT", "UPDATE"))
    # Also after the knowledge base is gone, whose last owner is stored in the row.
    mine = "organization_id = app_organization_id() AND (app_is_admin() OR owner_id = app_user_id())"
    allow("muniment_app", "receipts", "SELECT", using=mine)
    in_writable = "knowledge_base_id IN (SELECT app_writable_kb_ids())"
    in_managed = "knowledge_base_id IN (SELECT app_managed_kb_ids())"
    allow(
        "muniment_app",
        "receipts",
        "INSERT",
        # Only of a document that is gone, and never one that is signed already.
        check="organization_id = app_organization_id() AND signed_at IS NULL AND app_document_is_gone(document_id)"
        f" AND CASE move WHEN 'auto_clear' THEN {in_writable} ELSE {in_managed} END",
    )
    protect("request_times")
    allow_owner("request_times")
    for table in LOOKED_INTO:
        allow_owner(table)


def _ownership() -> None:
    definer_function(
        "hand_over_receipts()",
        "trigger",
        """
        BEGIN
            UPDATE receipts SET owner_id = NEW.owner_id WHERE knowledge_base_id = NEW.id;
            RETURN NULL;
        END
        """,
        language="plpgsql",
        volatility="VOLATILE",
    )
    op.execute("""
        CREATE TRIGGER hand_over_receipts AFTER UPDATE OF owner_id ON knowledge_bases
            FOR EACH ROW WHEN (OLD.owner_id <> NEW.owner_id) EXECUTE FUNCTION hand_over_receipts()
    """)


def _stock() -> None:
    """Add the inventory, taken in the transaction of the purge: counts, keys and hashes of the document, no text."""
    definer_function(
        "take_stock(p_document_id uuid)",
        "jsonb",
        f"""
        WITH mine AS (
            SELECT d.*, kb.owner_id FROM documents d JOIN knowledge_bases kb ON kb.id = d.knowledge_base_id
             WHERE d.id = p_document_id AND {MAY_TOUCH}
        ), contents AS (
            SELECT content_hmac FROM mine
            UNION SELECT r.content_hmac FROM document_revisions r JOIN mine ON r.document_id = mine.id
        ), texts AS (
            SELECT t.* FROM artifacts_full_text t JOIN contents USING (content_hmac)
        ), runs AS (
            SELECT r.* FROM document_processing_runs r JOIN mine ON r.document_id = mine.id
        )
        SELECT jsonb_build_object(
            'owner_id', mine.owner_id,
            'is_being_read', EXISTS (SELECT FROM runs WHERE status IN ('queued', 'in_progress')),
            'originals', (SELECT coalesce(jsonb_agg(jsonb_build_object('revision', revision, 'key', original_uri,
                    'bytes', file_size, 'sha256', sha256) ORDER BY revision), '[]')
                FROM document_revisions WHERE document_id = mine.id),
            'rows', jsonb_build_object(
                'documents', 1,
                'document_revisions', (SELECT count(*) FROM document_revisions WHERE document_id = mine.id),
                'document_pages', (SELECT count(*) FROM document_pages WHERE document_id = mine.id),
                'document_paragraphs', (SELECT count(*) FROM document_paragraphs WHERE document_id = mine.id),
                'document_diagrams', (SELECT count(*) FROM document_diagrams WHERE document_id = mine.id),
                'document_processing_runs', (SELECT count(*) FROM runs),
                'document_processing_steps',
                    (SELECT count(*) FROM document_processing_steps s JOIN runs USING (run_id))),
            'artifacts', (SELECT coalesce(jsonb_agg(jsonb_build_object('id', t.id, 'pack', t.full_text_uri,
                    'pages', (SELECT count(*) FROM artifact_pages p WHERE (p.content_hmac, p.algorithm_version,
                        p.params_fingerprint) = (t.content_hmac, t.algorithm_version, t.params_fingerprint)),
                    'paragraphs', (SELECT count(*) FROM artifact_paragraphs p WHERE (p.content_hmac,
                        p.algorithm_version, p.params_fingerprint)
                        = (t.content_hmac, t.algorithm_version, t.params_fingerprint)),
                    'diagrams', (SELECT count(*) FROM artifact_diagrams p WHERE (p.content_hmac, p.algorithm_version,
                        p.params_fingerprint) = (t.content_hmac, t.algorithm_version, t.params_fingerprint)),
                    'passages', (SELECT count(*) FROM artifact_chunks c WHERE c.artifact_text_id = t.id))
                ORDER BY t.id), '[]') FROM texts t),
            'jobs', (SELECT coalesce(jsonb_agg(job_id ORDER BY job_id), '[]') FROM runs WHERE job_id IS NOT NULL),
            'hand_over', CASE WHEN mine.archive_status IS NOT NULL THEN jsonb_build_object(
                'status', mine.archive_status, 'url', mine.paperless_doc_url) END
        ) FROM mine
        """,
    )
    grant_execute("take_stock(uuid)", "muniment_app", "muniment_service")


def _rate() -> None:
    """Add rate limits shared by all processes: record a request, or return the seconds to wait."""
    definer_function(
        "admit_request(p_operation text, p_most integer, p_within interval)",
        "integer",
        """
        DECLARE
            v_times timestamptz[];
        BEGIN
            INSERT INTO request_times VALUES (app_user_id(), p_operation, '{}') ON CONFLICT DO NOTHING;
            SELECT times INTO v_times FROM request_times
             WHERE user_id = app_user_id() AND operation = p_operation FOR UPDATE;
            v_times := ARRAY(SELECT t FROM unnest(v_times) t WHERE t > clock_timestamp() - p_within ORDER BY t);
            IF cardinality(v_times) >= p_most THEN
                RETURN greatest(1, ceil(extract(epoch FROM
                    v_times[cardinality(v_times) - p_most + 1] + p_within - clock_timestamp())));
            END IF;
            UPDATE request_times SET times = v_times || clock_timestamp()
             WHERE user_id = app_user_id() AND operation = p_operation;
            RETURN 0;
        END
        """,
        language="plpgsql",
        volatility="VOLATILE",
    )
    grant_execute("admit_request(text, integer, interval)", "muniment_app")


def downgrade() -> None:
    op.execute("""
        DROP FUNCTION admit_request, take_stock;
        DROP TRIGGER hand_over_receipts ON knowledge_bases;
        DROP FUNCTION hand_over_receipts;
        DROP TABLE request_times, receipts;
    """)
    for table in LOOKED_INTO:
        op.execute(f"DROP POLICY owner_all ON {table}")
