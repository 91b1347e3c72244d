"""Add the audit log, written with the change and never altered."""

from alembic import op

from muniment.migrations.policies import OF_SERVICE, allow, protect

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    op.execute("""
        CREATE TABLE audit_events (
            id uuid CONSTRAINT pk_audit_events PRIMARY KEY,
            at timestamptz NOT NULL DEFAULT now(),
            action text NOT NULL,
            actor text NOT NULL,
            organization_id uuid,
            knowledge_base_id uuid,
            document_id uuid,
            address text,
            payload jsonb NOT NULL
        );
        CREATE INDEX ix_audit_events_organization_id_at ON audit_events (organization_id, at);
        CREATE INDEX ix_audit_events_document_id ON audit_events (document_id);
        CREATE INDEX ix_audit_events_knowledge_base_id_at ON audit_events (knowledge_base_id, at);

        CREATE FUNCTION refuse_audit_change() RETURNS trigger LANGUAGE plpgsql AS $$
            BEGIN RAISE 'audit events are append-only' USING ERRCODE = 'insufficient_privilege'; END $$;
        CREATE TRIGGER audit_events_append_only BEFORE UPDATE OR DELETE ON audit_events
            FOR EACH ROW EXECUTE FUNCTION refuse_audit_change();
        CREATE TRIGGER audit_events_no_truncate BEFORE TRUNCATE ON audit_events
            FOR EACH STATEMENT EXECUTE FUNCTION refuse_audit_change();
    """)
    protect("audit_events")
    # Nobody can write an event in another user's name or into another organization's log. Events without an
    # organization belong to the installation and come from operators.
    allow(
        "muniment_app",
        "audit_events",
        "INSERT",
        check="(actor = app_user_id()::text OR (actor = 'system' AND action = 'document_auto_cleared'))"
        " AND CASE WHEN organization_id IS NULL"
        " THEN app_is_operator() ELSE organization_id = app_organization_id() OR app_is_operator() END",
    )
    allow(
        "muniment_app",
        "audit_events",
        "SELECT",
        # The organization is checked besides the knowledge base, because that column is set by the writer.
        using="organization_id = app_organization_id()"
        " AND (app_is_admin() OR knowledge_base_id IN (SELECT app_managed_kb_ids()))",
    )
    # `muniment migrate` creates the first account and records it.
    op.execute("CREATE POLICY owner_insert ON audit_events FOR INSERT TO muniment_owner WITH CHECK (true)")
    allow("muniment_service", "audit_events", "SELECT", using=OF_SERVICE)
    allow("muniment_service", "audit_events", "INSERT", check=OF_SERVICE)


def downgrade() -> None:
    op.execute("""
        DROP TABLE audit_events;
        DROP FUNCTION refuse_audit_change;
    """)
