"""Store with each indexing variant what similarities of its model mean. Older processes leave it null."""

from alembic import op

revision = "0042"
down_revision = "0041"


def upgrade() -> None:
    op.execute("ALTER TABLE indexing_variants ADD COLUMN calibration jsonb")
    op.execute("GRANT UPDATE (calibration) ON indexing_variants TO muniment_service")


def downgrade() -> None:
    op.execute("ALTER TABLE indexing_variants DROP COLUMN calibration")
