"""Add reports of reconciliations as counts."""

from alembic import op

from muniment.migrations.policies import allow, protect

revision = "0014"
down_revision = "0013"

# Not of any organization: it counts over all of them and names none.
OF_INSTALLATION = "app_service_organization_id() IS NULL"


def upgrade() -> None:
    op.execute("""
        CREATE TABLE reconcile_reports (
            id uuid CONSTRAINT pk_reconcile_reports PRIMARY KEY,
            began_at timestamptz NOT NULL,
            ended_at timestamptz NOT NULL DEFAULT now(),
            is_repair boolean NOT NULL,
            outcome smallint NOT NULL CONSTRAINT ck_reconcile_reports_outcome_known CHECK (outcome IN (0, 1, 2)),
            counts jsonb NOT NULL
        );
        CREATE INDEX ix_reconcile_reports_ended_at ON reconcile_reports (ended_at);
    """)
    protect("reconcile_reports")
    allow("muniment_service", "reconcile_reports", "INSERT", check=OF_INSTALLATION)
    allow("muniment_service", "reconcile_reports", "SELECT", using=OF_INSTALLATION)
    allow("muniment_app", "reconcile_reports", "SELECT", using="app_is_operator()")


def downgrade() -> None:
    op.execute("DROP TABLE reconcile_reports")
