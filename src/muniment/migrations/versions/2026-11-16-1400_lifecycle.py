"""Add columns for moves: the snapshot before a replace, the hand-over, and the deletion of a knowledge base."""

from alembic import op

revision = "0010"
down_revision = "0009"


def upgrade() -> None:
    op.execute("""
        ALTER TABLE documents
            ADD COLUMN archive_status text CONSTRAINT ck_documents_archive_status_known
                CHECK (archive_status IN ('pending', 'archived', 'failed')),
            ADD COLUMN archive_job_id text,
            ADD COLUMN paperless_doc_url text,
            ADD COLUMN handed_over_at timestamptz;
        -- The columns of the document as they were when a newer revision took its place, to bring them back.
        ALTER TABLE document_revisions ADD COLUMN shelved jsonb;
        -- Since when its owner or an admin wants it gone with all its documents.
        ALTER TABLE knowledge_bases ADD COLUMN leaving_since timestamptz;
    """)


def downgrade() -> None:
    op.execute("""
        ALTER TABLE knowledge_bases DROP COLUMN leaving_since;
        ALTER TABLE document_revisions DROP COLUMN shelved;
        ALTER TABLE documents
            DROP COLUMN archive_status, DROP COLUMN archive_job_id, DROP COLUMN paperless_doc_url,
            DROP COLUMN handed_over_at;
    """)
