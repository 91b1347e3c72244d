"""Count the internal errors of a run, so that it is retried a limited number of times.

A process of the previous version leaves the column as it is: it fails a run at its first internal error.
"""

from alembic import op

revision = "0036"
down_revision = "0035"


def upgrade() -> None:
    op.execute("ALTER TABLE document_processing_runs ADD COLUMN internal_errors integer NOT NULL DEFAULT 0")


def downgrade() -> None:
    op.execute("ALTER TABLE document_processing_runs DROP COLUMN internal_errors")
