"""Add chunks of artifacts with their vectors, and the view of passages through which users find them."""

from alembic import op

from muniment.migrations.policies import allow, allow_owner, protect

revision = "0008"
down_revision = "0007"

OF_SCOPE = "organization_id IS NULL OR organization_id = app_service_organization_id()"
LOCAL_MODEL, LOCAL_DIMENSIONS = "all-MiniLM-L6-v2-int8", 384


def upgrade() -> None:
    op.execute("""
        CREATE TABLE indexing_variants (
            fingerprint text CONSTRAINT pk_indexing_variants PRIMARY KEY,
            model text NOT NULL,
            dimensions integer NOT NULL,
            is_active boolean NOT NULL DEFAULT false,
            created_at timestamptz NOT NULL DEFAULT now()
        );
        CREATE UNIQUE INDEX uq_indexing_variants_active ON indexing_variants (is_active) WHERE is_active;

        CREATE TABLE artifact_indexes (
            artifact_text_id uuid NOT NULL CONSTRAINT fk_artifact_indexes_artifact_text_id
                REFERENCES artifacts_full_text (id) ON DELETE CASCADE,
            fingerprint text NOT NULL CONSTRAINT fk_artifact_indexes_fingerprint
                REFERENCES indexing_variants (fingerprint),
            organization_id uuid,
            language text NOT NULL,
            total_chunks integer NOT NULL,
            created_at timestamptz NOT NULL DEFAULT now(),
            CONSTRAINT pk_artifact_indexes PRIMARY KEY (artifact_text_id, fingerprint)
        );

        CREATE TABLE artifact_chunks (
            id uuid CONSTRAINT pk_artifact_chunks PRIMARY KEY DEFAULT gen_random_uuid(),
            organization_id uuid,
            artifact_text_id uuid NOT NULL,
            fingerprint text NOT NULL,
            model text NOT NULL,
            page_number integer NOT NULL,
            chunk_index integer NOT NULL,
            start_char integer NOT NULL,
            end_char integer NOT NULL,
            text text NOT NULL,
            language regconfig NOT NULL,
            tsv tsvector NOT NULL,
            embedding halfvec NOT NULL,
            created_at timestamptz NOT NULL DEFAULT now(),
            CONSTRAINT uq_artifact_chunks_key UNIQUE (artifact_text_id, fingerprint, chunk_index),
            CONSTRAINT fk_artifact_chunks_of_index FOREIGN KEY (artifact_text_id, fingerprint)
                REFERENCES artifact_indexes (artifact_text_id, fingerprint) ON DELETE CASCADE
        );
        CREATE INDEX ix_artifact_chunks_tsv ON artifact_chunks USING gin (tsv);
        ALTER TABLE documents ADD COLUMN index_epoch integer;
    """)
    # One per model, because a query can use only the vectors of its own model.
    op.execute(f"""
        CREATE INDEX ix_artifact_chunks_hnsw_local ON artifact_chunks
            USING hnsw ((embedding::halfvec({LOCAL_DIMENSIONS})) halfvec_cosine_ops) WHERE model = '{LOCAL_MODEL}'
    """)
    _policies()
    # The view runs as its owner, so that the request login needs no privileges on chunks. It filters by the same
    # function as documents do, and by status.
    op.execute("""
        CREATE VIEW passages AS
            SELECT d.id AS document_id, d.knowledge_base_id, d.name AS document_name, d.document_type, d.media_type,
                   d.revision, d.epoch, c.id AS chunk_id, c.fingerprint, c.model, c.page_number, c.chunk_index,
                   c.start_char, c.end_char, c.text, c.language, c.tsv, c.embedding
              FROM documents d JOIN artifact_chunks c ON c.artifact_text_id = d.artifact_text_id
             WHERE d.status = 'completed' AND d.knowledge_base_id = ANY (ARRAY(SELECT app_kb_ids()));
        CREATE VIEW indexed_documents AS
            SELECT d.id AS document_id, d.knowledge_base_id, i.fingerprint, i.language, i.total_chunks
              FROM documents d JOIN artifact_indexes i ON i.artifact_text_id = d.artifact_text_id
             WHERE d.status = 'completed' AND d.knowledge_base_id = ANY (ARRAY(SELECT app_kb_ids()));
        GRANT SELECT ON passages, indexed_documents TO muniment_app;
    """)


def _policies() -> None:
    for table in ("artifact_indexes", "artifact_chunks"):
        protect(table)
        allow_owner(table)  # read by the views
        allow("muniment_service", table, "SELECT", using=OF_SCOPE)
        allow("muniment_service", table, "INSERT", check=OF_SCOPE)
        allow("muniment_service", table, "DELETE", using=OF_SCOPE)
    # The installed models and the active one are the same for all users and not secret.
    protect("indexing_variants")
    allow("muniment_app", "indexing_variants", "SELECT", using="true")
    allow("muniment_service", "indexing_variants", "SELECT", using="true")
    allow("muniment_service", "indexing_variants", "INSERT", check="true")
    allow("muniment_service", "indexing_variants", "UPDATE", using="true", check="true", columns="(is_active)")
    # The only event of the installation that is not written by a signed-in operator: `muniment index switch` writes it.
    op.execute("""
        CREATE POLICY muniment_service_switched ON audit_events FOR INSERT TO muniment_service
            WITH CHECK (organization_id IS NULL AND app_service_organization_id() IS NULL
                        AND actor = 'system' AND action = 'index_switched')
    """)


def downgrade() -> None:
    op.execute("""
        DROP POLICY muniment_service_switched ON audit_events;
        DROP VIEW indexed_documents, passages;
        ALTER TABLE documents DROP COLUMN index_epoch;
        DROP TABLE artifact_chunks, artifact_indexes, indexing_variants;
    """)
