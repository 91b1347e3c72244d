"""Add intents: changes of an external index that are kept until they are confirmed."""

from alembic import op

from muniment.migrations.policies import allow, allow_service, protect

revision = "0009"
down_revision = "0008"

OF_MINE = "organization_id = app_organization_id() AND knowledge_base_id IN (SELECT app_writable_kb_ids())"
# An intent blocks every other move of its document, so nobody may create one for a document outside the given knowledge
# base.
OF_ITS_DOCUMENT = (
    "(EXISTS (SELECT FROM documents d"
    " WHERE d.id = document_id AND d.knowledge_base_id = index_intents.knowledge_base_id)"
    " OR app_document_is_gone(document_id))"
)


def upgrade() -> None:
    op.execute("""
        CREATE TABLE index_intents (
            document_id uuid CONSTRAINT pk_index_intents PRIMARY KEY,
            id uuid NOT NULL,
            organization_id uuid NOT NULL,
            knowledge_base_id uuid NOT NULL,
            wanted text NOT NULL CONSTRAINT ck_index_intents_wanted_known
                CHECK (wanted IN ('visible', 'hidden', 'gone')),
            epoch integer NOT NULL,
            created_at timestamptz NOT NULL DEFAULT now(),
            attempts integer NOT NULL DEFAULT 0,
            next_attempt_at timestamptz NOT NULL
        );
        CREATE INDEX ix_index_intents_due ON index_intents (organization_id, next_attempt_at);
    """)
    protect("index_intents")
    allow_service("index_intents")
    allow("muniment_app", "index_intents", "SELECT", using=OF_MINE)
    allow("muniment_app", "index_intents", "INSERT", check=f"{OF_MINE} AND {OF_ITS_DOCUMENT}")
    allow("muniment_app", "index_intents", "UPDATE", using=OF_MINE, check=f"{OF_MINE} AND {OF_ITS_DOCUMENT}")
    allow("muniment_app", "index_intents", "DELETE", using=OF_MINE)


def downgrade() -> None:
    op.execute("DROP TABLE index_intents")
