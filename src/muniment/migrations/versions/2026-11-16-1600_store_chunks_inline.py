"""Chunks lie whole in their rows: the words of each are looked at by every search in its scope, and fetching them from
aside took longer than looking."""

from alembic import op

revision = "0021"
down_revision = "0020"


def upgrade() -> None:
    op.execute("ALTER TABLE artifact_chunks SET (toast_tuple_target = 8160)")


def downgrade() -> None:
    op.execute("ALTER TABLE artifact_chunks RESET (toast_tuple_target)")
