"""Add records of hand-overs to Paperless, and the hand-over policy of knowledge bases."""

from alembic import op

from muniment.migrations.policies import allow, allow_owner, allow_service, definer_function, grant_execute, protect

revision = "0020"
down_revision = "0014"

WRITABLE = "knowledge_base_id IN (SELECT app_writable_kb_ids())"


def upgrade() -> None:
    op.execute("""
        CREATE TABLE archive_audit_log (
            id uuid CONSTRAINT pk_archive_audit_log PRIMARY KEY DEFAULT gen_random_uuid(),
            organization_id uuid NOT NULL
                CONSTRAINT fk_archive_audit_log_organization_id REFERENCES organizations (id),
            bilko_document_id uuid NOT NULL,
            document_type varchar(50) NOT NULL,
            r2_object_key text NOT NULL,
            sha256 text NOT NULL,
            archive_status varchar(20) NOT NULL DEFAULT 'pending' CONSTRAINT ck_archive_audit_log_archive_status_known
                CHECK (archive_status IN ('pending', 'archived', 'failed')),
            paperless_doc_id integer,
            paperless_doc_url text,
            archived_at timestamptz,
            retry_count integer NOT NULL DEFAULT 0,
            last_error text,
            created_at timestamptz NOT NULL DEFAULT now(),
            updated_at timestamptz NOT NULL DEFAULT now(),
            metadata jsonb NOT NULL DEFAULT '{}',
            priority varchar(10) NOT NULL DEFAULT 'NORMAL' CONSTRAINT ck_archive_audit_log_priority_known
                CHECK (priority IN ('NORMAL', 'HIGH')),
            attempts integer NOT NULL DEFAULT 0,
            next_attempt_at timestamptz,
            CONSTRAINT uq_archive_audit_log_document_key UNIQUE (organization_id, bilko_document_id, r2_object_key)
        );
        CREATE INDEX idx_archive_audit_log_org ON archive_audit_log (organization_id);
        CREATE INDEX idx_archive_audit_log_doc ON archive_audit_log (bilko_document_id);
        CREATE INDEX idx_archive_audit_log_status ON archive_audit_log (archive_status)
            WHERE archive_status != 'archived';
        CREATE INDEX ix_archive_audit_log_key ON archive_audit_log (organization_id, r2_object_key);
        CREATE INDEX ix_archive_audit_log_sha256 ON archive_audit_log (organization_id, sha256);
        CREATE INDEX ix_archive_audit_log_due ON archive_audit_log (organization_id, next_attempt_at)
            WHERE next_attempt_at IS NOT NULL;

        CREATE TABLE org_paperless_cache (
            organization_id uuid CONSTRAINT pk_org_paperless_cache PRIMARY KEY
                CONSTRAINT fk_org_paperless_cache_organization_id REFERENCES organizations (id),
            paperless_correspondent_id integer NOT NULL,
            paperless_org_tag_id integer NOT NULL,
            created_at timestamptz NOT NULL DEFAULT now(),
            updated_at timestamptz NOT NULL DEFAULT now()
        );

        ALTER TABLE knowledge_bases ADD COLUMN hand_over_policy text NOT NULL DEFAULT 'never'
            CONSTRAINT ck_knowledge_bases_hand_over_policy_known
                CHECK (hand_over_policy IN ('never', 'on_completed', 'on_archived'));
        -- Those that are to be handed over and that nobody has taken in hand yet.
        CREATE INDEX ix_documents_to_hand_over ON documents (organization_id)
            WHERE archive_status = 'pending' AND archive_job_id IS NULL;
        CREATE INDEX ix_documents_archive_job_id ON documents (organization_id, archive_job_id)
            WHERE archive_job_id IS NOT NULL;
        CREATE INDEX ix_documents_sha256 ON documents (organization_id, sha256);

        ALTER TABLE deletions
            DROP CONSTRAINT ck_deletions_store_known,
            ADD CONSTRAINT ck_deletions_store_known
                CHECK (store IN ('blobs', 'artifacts', 'queue', 'dead_letters'));
    """)
    _policies()
    _stock()


def _policies() -> None:
    for table in ("archive_audit_log", "org_paperless_cache"):
        protect(table)
    allow_owner("archive_audit_log")  # read by take_stock
    allow_service("archive_audit_log")
    allow_service("org_paperless_cache", ("SELECT", "INSERT", "UPDATE"))
    # Of visible documents; submissions of other applications have no document here. Someone who knows a document's id
    # elsewhere could submit under it, but that belongs to another organization.
    of_visible = (
        "organization_id = app_organization_id() AND EXISTS (SELECT FROM documents d WHERE d.id = bilko_document_id)"
    )
    allow("muniment_app", "archive_audit_log", "SELECT", using=of_visible)
    # Purging a document also deletes its job, unless another document with the same bytes waits there; the service
    # login checks that when it processes the entry.
    op.execute(f"""
        CREATE POLICY muniment_app_insert_queue ON deletions FOR INSERT TO muniment_app WITH CHECK (
            organization_id = app_organization_id() AND store IN ('queue', 'dead_letters')
            AND target LIKE 'org/' || organization_id || '/%'
            AND ({WRITABLE} OR app_document_is_gone(document_id)))
    """)


def _stock() -> None:
    """Extend the inventory by all copies of the document that Paperless has or will have."""
    op.execute("ALTER FUNCTION take_stock(uuid) RENAME TO take_stock_inside")
    definer_function(
        "take_stock(p_document_id uuid)",
        "jsonb",
        """
        SELECT stock || jsonb_build_object('hand_over', nullif(
            coalesce(nullif(stock -> 'hand_over', 'null'), '{}') || coalesce((
                SELECT jsonb_build_object('copies', jsonb_agg(jsonb_build_object('key', a.r2_object_key,
                    'sha256', a.sha256, 'status', a.archive_status, 'paperless_doc_id', a.paperless_doc_id,
                    'url', a.paperless_doc_url) ORDER BY a.created_at, a.r2_object_key))
                  FROM archive_audit_log a JOIN documents d ON d.id = p_document_id
                 WHERE a.bilko_document_id = d.id AND a.organization_id = d.organization_id
                HAVING count(*) > 0), '{}'), '{}'))
          FROM take_stock_inside(p_document_id) stock
        """,
    )
    grant_execute("take_stock(uuid)", "muniment_app", "muniment_service")
    # It checks access; only the new function calls it.
    op.execute("REVOKE EXECUTE ON FUNCTION take_stock_inside(uuid) FROM muniment_app, muniment_service")


def downgrade() -> None:
    op.execute("""
        DROP FUNCTION take_stock(uuid);
        ALTER FUNCTION take_stock_inside(uuid) RENAME TO take_stock;
        GRANT EXECUTE ON FUNCTION take_stock(uuid) TO muniment_app, muniment_service;
        DROP POLICY muniment_app_insert_queue ON deletions;
        DELETE FROM deletions WHERE store IN ('queue', 'dead_letters');
        ALTER TABLE deletions
            DROP CONSTRAINT ck_deletions_store_known,
            ADD CONSTRAINT ck_deletions_store_known CHECK (store IN ('blobs', 'artifacts'));
        DROP INDEX ix_documents_sha256, ix_documents_archive_job_id, ix_documents_to_hand_over;
        ALTER TABLE knowledge_bases DROP COLUMN hand_over_policy;
        DROP TABLE org_paperless_cache, archive_audit_log;
    """)
