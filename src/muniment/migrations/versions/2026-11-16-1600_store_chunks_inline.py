"""Store chunks inline instead of in TOAST.

Every search reads the words of the chunks in its scope, and fetching them took longer than ranking.
"""

from alembic import op

revision = "0021"
down_revision = "0020"


def upgrade() -> None:
    op.execute("ALTER TABLE artifact_chunks SET (toast_tuple_target = 8160)")


def downgrade() -> None:
    op.execute("ALTER TABLE artifact_chunks RESET (toast_tuple_target)")
