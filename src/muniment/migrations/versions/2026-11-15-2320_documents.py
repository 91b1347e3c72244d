"""Add documents, their revisions, unfinished uploads, and the deletion ledger."""

from alembic import op

from muniment.migrations.policies import allow, allow_owner, allow_service, definer_function, grant_execute, protect

revision = "0003"
down_revision = "0002"

VISIBLE = "knowledge_base_id IN (SELECT app_kb_ids())"
WRITABLE = "knowledge_base_id IN (SELECT app_writable_kb_ids())"
OF_VISIBLE_DOCUMENT = "EXISTS (SELECT FROM documents d WHERE d.id = document_id)"
OF_WRITABLE_DOCUMENT = (
    "EXISTS (SELECT FROM documents d WHERE d.id = document_id"
    " AND d.knowledge_base_id IN (SELECT app_writable_kb_ids()){also})"
)
# A row references only objects of its own document, so that nobody can read, replace or delete others through it.
OWN_OBJECT = "{column} LIKE {kb} || '/' || {document} || '/%'"


def upgrade() -> None:
    op.execute("""
        CREATE TABLE documents (
            id uuid CONSTRAINT pk_documents PRIMARY KEY,
            organization_id uuid NOT NULL,
            knowledge_base_id uuid NOT NULL,
            name text NOT NULL,
            name_key text NOT NULL,
            document_type text NOT NULL CONSTRAINT ck_documents_document_type_known CHECK (document_type IN
                ('invoice', 'contract', 'care_plan', 'incident_report', 'onboarding', 'other')),
            status text NOT NULL CONSTRAINT ck_documents_status_known
                CHECK (status IN ('pending', 'processing', 'completed', 'failed', 'archived')),
            epoch integer NOT NULL,
            revision integer NOT NULL,
            media_type text NOT NULL,
            original_uri text NOT NULL,
            file_size bigint NOT NULL,
            sha256 text NOT NULL,
            content_hmac text NOT NULL,
            uploaded_by uuid NOT NULL,
            last_error text,
            processing_status text CONSTRAINT ck_documents_processing_status_known
                CHECK (processing_status IN ('processing', 'basic_complete', 'analysis_complete', 'failed')),
            processing_errors jsonb,
            processing_started_at timestamptz,
            processing_completed_at timestamptz,
            created_at timestamptz NOT NULL DEFAULT now(),
            updated_at timestamptz NOT NULL DEFAULT now(),
            completed_at timestamptz,
            archived_at timestamptz,
            CONSTRAINT uq_documents_id_organization_id UNIQUE (id, organization_id),
            -- No cascade: removing a knowledge base never removes a document.
            CONSTRAINT fk_documents_knowledge_base_id_organization_id
                FOREIGN KEY (knowledge_base_id, organization_id) REFERENCES knowledge_bases (id, organization_id),
            CONSTRAINT fk_documents_uploaded_by_organization_id
                FOREIGN KEY (uploaded_by, organization_id) REFERENCES users (id, organization_id)
        );
        CREATE UNIQUE INDEX uq_documents_active_name ON documents (knowledge_base_id, name_key)
            WHERE status IN ('pending', 'processing', 'completed');
        CREATE INDEX idx_documents_kb_name_key ON documents (knowledge_base_id, name_key);
        CREATE INDEX idx_documents_kb_created ON documents (knowledge_base_id, created_at, id);
        CREATE INDEX idx_documents_archived_at ON documents (archived_at) WHERE archived_at IS NOT NULL;

        CREATE TABLE document_revisions (
            document_id uuid NOT NULL,
            revision integer NOT NULL,
            organization_id uuid NOT NULL,
            name text NOT NULL,
            media_type text NOT NULL,
            original_uri text NOT NULL,
            file_size bigint NOT NULL,
            sha256 text NOT NULL,
            content_hmac text NOT NULL,
            uploaded_by uuid NOT NULL,
            created_at timestamptz NOT NULL DEFAULT now(),
            CONSTRAINT pk_document_revisions PRIMARY KEY (document_id, revision),
            CONSTRAINT fk_document_revisions_document_id_organization_id
                FOREIGN KEY (document_id, organization_id) REFERENCES documents (id, organization_id) ON DELETE CASCADE
        );

        CREATE TABLE uploads (
            id uuid CONSTRAINT pk_uploads PRIMARY KEY,
            organization_id uuid NOT NULL,
            knowledge_base_id uuid NOT NULL,
            document_id uuid NOT NULL,
            blob_key text NOT NULL CONSTRAINT uq_uploads_blob_key UNIQUE,
            uploaded_by uuid NOT NULL,
            created_at timestamptz NOT NULL DEFAULT now(),
            expires_at timestamptz NOT NULL
        );
        CREATE INDEX ix_uploads_expires_at ON uploads (expires_at);

        CREATE TABLE deletions (
            id uuid CONSTRAINT pk_deletions PRIMARY KEY,
            organization_id uuid NOT NULL,
            knowledge_base_id uuid NOT NULL,
            document_id uuid NOT NULL,
            store text NOT NULL CONSTRAINT ck_deletions_store_known CHECK (store IN ('blobs')),
            target text NOT NULL,
            reason text NOT NULL,
            created_at timestamptz NOT NULL DEFAULT now(),
            attempts integer NOT NULL DEFAULT 0,
            last_error text,
            next_attempt_at timestamptz NOT NULL DEFAULT now(),
            done_at timestamptz
        );
        CREATE INDEX ix_deletions_due ON deletions (organization_id, next_attempt_at) WHERE done_at IS NULL;
        CREATE INDEX ix_deletions_document_id ON deletions (document_id);
    """)
    _policies()
    definer_function(
        "known_content_key_id()",
        "text",
        "SELECT split_part(content_hmac, ':', 1) FROM documents ORDER BY id DESC LIMIT 1",
    )
    grant_execute("known_content_key_id()", "muniment_app")


def _policies() -> None:
    for table in ("documents", "document_revisions", "uploads", "deletions"):
        protect(table)
        allow_service(table)
    allow_owner("documents")  # read by enqueue_run and revoke_run

    in_writable = f"{WRITABLE} AND organization_id = app_organization_id()"
    own_original = OWN_OBJECT.format(column="original_uri", kb="knowledge_base_id", document="id")
    allow("muniment_app", "documents", "SELECT", using=VISIBLE)
    allow("muniment_app", "documents", "INSERT", check=f"{in_writable} AND {own_original}")
    allow("muniment_app", "documents", "UPDATE", using=WRITABLE, check=f"{in_writable} AND {own_original}")
    allow("muniment_app", "documents", "DELETE", using=WRITABLE)

    own_original = OWN_OBJECT.format(column="original_uri", kb="d.knowledge_base_id", document="d.id")
    allow("muniment_app", "document_revisions", "SELECT", using=OF_VISIBLE_DOCUMENT)
    allow(
        "muniment_app",
        "document_revisions",
        "INSERT",
        check=OF_WRITABLE_DOCUMENT.format(also=f" AND {own_original}"),
    )
    allow("muniment_app", "document_revisions", "DELETE", using=OF_WRITABLE_DOCUMENT.format(also=""))

    own_object = OWN_OBJECT.format(column="blob_key", kb="knowledge_base_id", document="document_id")
    my_upload = f"uploaded_by = app_user_id() AND {in_writable} AND {own_object}"
    allow("muniment_app", "uploads", "INSERT", check=my_upload)
    # Not limited to writable knowledge bases: a user who lost access during an upload must still be able to clean up.
    mine = "uploaded_by = app_user_id() AND organization_id = app_organization_id()"
    allow("muniment_app", "uploads", "SELECT", using=mine)
    allow("muniment_app", "uploads", "DELETE", using=mine)

    # Requests write entries and never read them; the service login processes them. They concern a knowledge base that
    # the user may write to, or no document any more.
    definer_function(
        "app_document_is_gone(p_document_id uuid)",
        "boolean",
        "SELECT NOT EXISTS (SELECT FROM documents WHERE id = p_document_id)",
    )
    grant_execute("app_document_is_gone(uuid)", "muniment_app")
    own_object = OWN_OBJECT.format(column="target", kb="knowledge_base_id", document="document_id")
    allow(
        "muniment_app",
        "deletions",
        "INSERT",
        check=f"organization_id = app_organization_id() AND {own_object}"
        f" AND ({WRITABLE} OR app_document_is_gone(document_id))",
    )


def downgrade() -> None:
    op.execute("""
        DROP TABLE deletions, uploads, document_revisions, documents CASCADE;
        DROP FUNCTION app_document_is_gone, known_content_key_id;
    """)
