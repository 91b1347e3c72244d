"""Add the columns that keep the content of a failed replacement as a revision until it expires.

Workers revert such a document, so they also need to know whether the active model finds it.
"""

from alembic import op

from muniment.migrations.policies import grant_execute

revision = "0033"
down_revision = "0032"


def upgrade() -> None:
    op.execute("""
        ALTER TABLE document_revisions ADD COLUMN failure jsonb, ADD COLUMN expires_at timestamptz;
        -- No row has a value yet, so there is nothing to check.
        ALTER TABLE document_revisions ADD CONSTRAINT ck_document_revisions_failed_ones_expire
            CHECK ((failure IS NULL) = (expires_at IS NULL)) NOT VALID;
        ALTER TABLE document_revisions VALIDATE CONSTRAINT ck_document_revisions_failed_ones_expire;
        CREATE INDEX ix_document_revisions_expires_at ON document_revisions (expires_at)
            WHERE expires_at IS NOT NULL;
        -- As `document_needs_reindex`, for the login that reads artifacts and not the view of users.
        CREATE FUNCTION service_document_needs_reindex(p_document_id uuid, p_has_copies boolean) RETURNS boolean
            LANGUAGE sql STABLE AS $function$
            SELECT NOT EXISTS (SELECT FROM artifact_indexes i
                                WHERE i.artifact_text_id = d.artifact_text_id AND i.fingerprint = v.fingerprint)
                   OR p_has_copies AND NOT EXISTS (SELECT FROM document_processing_runs r WHERE r.document_id = d.id
                                                      AND r.epoch = d.index_epoch AND r.ended_at >= v.created_at)
              FROM documents d, indexing_variants v WHERE d.id = p_document_id AND v.is_active
            $function$;
    """)
    grant_execute("service_document_needs_reindex(uuid, boolean)", "muniment_service")


def downgrade() -> None:
    op.execute("""
        DROP FUNCTION service_document_needs_reindex;
        DROP INDEX ix_document_revisions_expires_at;
        ALTER TABLE document_revisions DROP COLUMN expires_at, DROP COLUMN failure;
    """)
