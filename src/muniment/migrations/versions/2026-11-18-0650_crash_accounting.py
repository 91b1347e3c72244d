"""Record which worker holds a run and which processes died during it.

A process of the previous version leaves the new columns as they are: it neither registers itself nor records deaths, so
that a run it leaves behind counts as interrupted and not as a crash.
"""

from alembic import op

from muniment.migrations.policies import allow, protect

revision = "0032"
down_revision = "0031"


def upgrade() -> None:
    op.execute("""
        CREATE TABLE task_workers (
            worker_id uuid CONSTRAINT pk_task_workers PRIMARY KEY,
            started_at timestamptz NOT NULL DEFAULT now(),
            heartbeat_at timestamptz NOT NULL DEFAULT now(),
            stopping_at timestamptz,
            is_isolating boolean NOT NULL DEFAULT false
        );
        ALTER TABLE document_processing_runs
            ADD COLUMN worker_id uuid,
            ADD COLUMN is_isolated boolean NOT NULL DEFAULT false,
            ADD COLUMN deaths jsonb NOT NULL DEFAULT '[]';
    """)
    protect("task_workers")
    # Workers serve all organizations, and their rows name nothing of any of them.
    for command in ("SELECT", "INSERT", "UPDATE", "DELETE"):
        using = None if command == "INSERT" else "true"
        check = "true" if command in ("INSERT", "UPDATE") else None
        allow("muniment_service", "task_workers", command, using=using, check=check)


def downgrade() -> None:
    op.execute("""
        ALTER TABLE document_processing_runs DROP COLUMN worker_id, DROP COLUMN is_isolated, DROP COLUMN deaths;
        DROP TABLE task_workers;
    """)
