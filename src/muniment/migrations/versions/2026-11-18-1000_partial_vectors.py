"""Keep the vectors of an interrupted run until its index is complete.

A worker of the previous version ignores them and computes all vectors of a document in one go.
"""

from alembic import op

from muniment.migrations.policies import allow, protect

revision = "0037"
down_revision = "0036"

OF_SCOPE = "organization_id IS NULL OR organization_id = app_service_organization_id()"


def upgrade() -> None:
    op.execute("""
        CREATE TABLE partial_vectors (
            artifact_text_id uuid NOT NULL CONSTRAINT fk_partial_vectors_artifact_text_id
                REFERENCES artifacts_full_text (id) ON DELETE CASCADE,
            fingerprint text NOT NULL,
            first_chunk integer NOT NULL,
            organization_id uuid,
            vectors bytea NOT NULL,
            created_at timestamptz NOT NULL DEFAULT now(),
            CONSTRAINT pk_partial_vectors PRIMARY KEY (artifact_text_id, fingerprint, first_chunk)
        )
    """)
    protect("partial_vectors")
    allow("muniment_service", "partial_vectors", "SELECT", using=OF_SCOPE)
    allow("muniment_service", "partial_vectors", "INSERT", check=OF_SCOPE)
    allow("muniment_service", "partial_vectors", "DELETE", using=OF_SCOPE)


def downgrade() -> None:
    op.execute("DROP TABLE partial_vectors")
