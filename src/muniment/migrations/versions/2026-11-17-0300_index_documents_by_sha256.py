"""Index documents by hash, with the organization as an included column.

As a key column, it would let the planner use this index for foreign keys before the first statistics, and read all
documents of an organization for each page.
"""

from alembic import op

revision = "0025"
down_revision = "0024"


def upgrade() -> None:
    _index("(sha256) INCLUDE (organization_id)")
    # Replacement for queries that go through the documents of each organization.
    op.execute("CREATE INDEX ix_documents_completed ON documents (organization_id, id) WHERE status = 'completed'")


def downgrade() -> None:
    op.execute("DROP INDEX ix_documents_completed")
    _index("(organization_id, sha256)")


def _index(columns: str) -> None:
    op.execute(f"DROP INDEX ix_documents_sha256; CREATE INDEX ix_documents_sha256 ON documents {columns}")
