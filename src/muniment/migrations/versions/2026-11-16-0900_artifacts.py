"""Add artifacts, shared within their scope and open to the service login only (docs/contracts.md#artifact-tables)."""

from alembic import op

from muniment.migrations.policies import allow, allow_owner, definer_function, grant_execute, protect

revision = "0006"
down_revision = "0005"

TABLES = ("artifacts_full_text", "artifact_pages", "artifact_paragraphs", "artifact_diagrams")
# No organization: shared by all (MUNIMENT_ARTIFACT_SCOPE=shared).
OF_SCOPE = "organization_id IS NULL OR organization_id = app_service_organization_id()"
KEY = "content_hmac, algorithm_version, params_fingerprint"
KEY_COLUMNS = """
    id uuid CONSTRAINT pk_{table} PRIMARY KEY DEFAULT gen_random_uuid(),
    organization_id uuid,
    content_hmac text NOT NULL,
    algorithm_version integer NOT NULL,
    params_fingerprint text NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now()
"""
# Part of an artifact, created and deleted with its text. The index of the unique key serves the cascade.
OF_TEXT = (
    f"CONSTRAINT fk_{{table}}_of_text FOREIGN KEY ({KEY}) REFERENCES artifacts_full_text ({KEY}) ON DELETE CASCADE"
)


def upgrade() -> None:
    _create(
        "artifacts_full_text",
        f"""
        full_text_uri text NOT NULL,
        full_text_sha256 text NOT NULL,
        total_pages integer NOT NULL,
        total_words integer NOT NULL,
        methods jsonb NOT NULL,
        timings jsonb,
        problems jsonb NOT NULL DEFAULT '[]',
        unreferenced_at timestamptz,
        CONSTRAINT uq_artifacts_full_text_key UNIQUE ({KEY})
        """,
    )
    _create_part(
        "artifact_pages",
        """
        page_number integer NOT NULL,
        page_text_uri text NOT NULL,
        page_text_sha256 text NOT NULL,
        layout jsonb,
        metrics jsonb
        """,
        "page_number",
    )
    _create_part(
        "artifact_paragraphs",
        """
        page_number integer NOT NULL,
        paragraph_index integer NOT NULL,
        paragraph_text_uri text NOT NULL,
        paragraph_text_sha256 text NOT NULL,
        features jsonb
        """,
        "page_number, paragraph_index",
    )
    _create_part(
        "artifact_diagrams",
        """
        page_number integer NOT NULL,
        diagram_key text NOT NULL,
        diagram_meta jsonb NOT NULL
        """,
        "page_number, diagram_key",
    )
    op.execute("""
        CREATE INDEX ix_artifacts_full_text_unreferenced_at ON artifacts_full_text (unreferenced_at)
            WHERE unreferenced_at IS NOT NULL
    """)
    _policies()
    _references()
    _ledger()


def _create(table: str, columns: str) -> None:
    op.execute(f"CREATE TABLE {table} ({KEY_COLUMNS.format(table=table)}, {columns})")


def _create_part(table: str, columns: str, place: str) -> None:
    unique = f"CONSTRAINT uq_{table}_key UNIQUE ({KEY}, {place})"
    _create(table, f"{columns}, {unique}, {OF_TEXT.format(table=table)}")


def _policies() -> None:
    for table in TABLES:
        protect(table)
        # No UPDATE, because an artifact is never overwritten.
        allow("muniment_service", table, "SELECT", using=OF_SCOPE)
        allow("muniment_service", table, "INSERT", check=OF_SCOPE)
        allow("muniment_service", table, "DELETE", using=OF_SCOPE)
    # Except for the mark of the garbage collection.
    mark = {"using": OF_SCOPE, "check": OF_SCOPE, "columns": "(unreferenced_at)"}
    allow("muniment_service", "artifacts_full_text", "UPDATE", **mark)


def _references() -> None:
    """Add foreign keys: they count as references, and protect artifacts that an upload reuses during collection."""
    for table in ("documents", "document_revisions", "document_processing_runs"):
        op.execute(f"""
            ALTER TABLE {table} ADD COLUMN artifact_text_id uuid
                CONSTRAINT fk_{table}_artifact_text_id REFERENCES artifacts_full_text (id);
            CREATE INDEX ix_{table}_artifact_text_id ON {table} (artifact_text_id) WHERE artifact_text_id IS NOT NULL;
        """)
    allow_owner("document_revisions")
    # As the owner, because documents of other organizations count too where artifacts are shared.
    definer_function(
        "app_artifact_is_used(p_id uuid)",
        "boolean",
        """
        SELECT EXISTS (SELECT FROM documents WHERE artifact_text_id = p_id)
            OR EXISTS (SELECT FROM document_revisions WHERE artifact_text_id = p_id)
            OR EXISTS (SELECT FROM document_processing_runs WHERE artifact_text_id = p_id)
        """,
    )
    grant_execute("app_artifact_is_used(uuid)", "muniment_service")


def _ledger() -> None:
    """Allow ledger entries without a document: artifacts that nothing references."""
    op.execute("""
        ALTER TABLE deletions
            ALTER COLUMN knowledge_base_id DROP NOT NULL,
            ALTER COLUMN document_id DROP NOT NULL,
            DROP CONSTRAINT ck_deletions_store_known,
            ADD CONSTRAINT ck_deletions_store_known CHECK (store IN ('blobs', 'artifacts')),
            ADD COLUMN outcome text CONSTRAINT ck_deletions_outcome_known CHECK (outcome IN ('erased', 'kept'))
    """)


def downgrade() -> None:
    op.execute("""
        DELETE FROM deletions WHERE store = 'artifacts' OR knowledge_base_id IS NULL OR document_id IS NULL;
        ALTER TABLE deletions
            ALTER COLUMN knowledge_base_id SET NOT NULL,
            ALTER COLUMN document_id SET NOT NULL,
            DROP CONSTRAINT ck_deletions_store_known,
            ADD CONSTRAINT ck_deletions_store_known CHECK (store IN ('blobs')),
            DROP COLUMN outcome;
        DROP FUNCTION app_artifact_is_used;
        DROP POLICY owner_all ON document_revisions;
        ALTER TABLE documents DROP COLUMN artifact_text_id;
        ALTER TABLE document_revisions DROP COLUMN artifact_text_id;
        ALTER TABLE document_processing_runs DROP COLUMN artifact_text_id;
        DROP TABLE artifact_diagrams, artifact_paragraphs, artifact_pages, artifacts_full_text;
    """)
