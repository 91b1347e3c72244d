"""Keep the saved searches of each user. Only the user can see them; they are deleted with the user."""

from alembic import op

from muniment.migrations.policies import allow, protect

revision = "0039"
down_revision = "0038"

MINE = "user_id = app_user_id() AND organization_id = app_organization_id()"


def upgrade() -> None:
    op.execute("""
        CREATE TABLE saved_views (
            id uuid CONSTRAINT pk_saved_views PRIMARY KEY,
            organization_id uuid NOT NULL,
            user_id uuid NOT NULL,
            kind text NOT NULL CONSTRAINT ck_saved_views_kind_known CHECK (kind IN ('search', 'documents')),
            name text NOT NULL CONSTRAINT ck_saved_views_name_length CHECK (length(name) BETWEEN 1 AND 100),
            parameters jsonb NOT NULL,
            created_at timestamptz NOT NULL DEFAULT now(),
            updated_at timestamptz NOT NULL DEFAULT now(),
            CONSTRAINT uq_saved_views_user_id_kind_name UNIQUE (user_id, kind, name),
            CONSTRAINT fk_saved_views_user_id_organization_id FOREIGN KEY (user_id, organization_id)
                REFERENCES users (id, organization_id) ON DELETE CASCADE
        )
    """)
    protect("saved_views")
    allow("muniment_app", "saved_views", "SELECT", using=MINE)
    allow("muniment_app", "saved_views", "INSERT", check=MINE)
    allow("muniment_app", "saved_views", "UPDATE", using=MINE, check=MINE, columns="(name, parameters, updated_at)")
    allow("muniment_app", "saved_views", "DELETE", using=MINE)


def downgrade() -> None:
    op.execute("DROP TABLE saved_views")
