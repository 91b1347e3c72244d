"""Add knowledge bases, their members and their access rules."""

from alembic import op

from muniment.migrations.policies import OF_SERVICE, allow, definer_function, grant_execute, protect

revision = "0002"
down_revision = "0001"

# The caller, and their access to knowledge bases of their organization. The operator role gives none.
VISIBLE = """
    SELECT kb.id FROM users me JOIN knowledge_bases kb ON kb.organization_id = me.organization_id
      LEFT JOIN knowledge_base_members m ON m.knowledge_base_id = kb.id AND m.user_id = me.id
     WHERE me.id = app_user_id() AND me.is_active AND (me.is_admin OR kb.owner_id = me.id OR {membership})
"""


def upgrade() -> None:
    op.execute("""
        CREATE TABLE knowledge_bases (
            id uuid CONSTRAINT pk_knowledge_bases PRIMARY KEY,
            organization_id uuid NOT NULL,
            owner_id uuid NOT NULL,
            name text NOT NULL,
            description text NOT NULL DEFAULT '',
            created_at timestamptz NOT NULL DEFAULT now(),
            updated_at timestamptz NOT NULL DEFAULT now(),
            CONSTRAINT uq_knowledge_bases_id_organization_id UNIQUE (id, organization_id),
            CONSTRAINT fk_knowledge_bases_owner_id_organization_id
                FOREIGN KEY (owner_id, organization_id) REFERENCES users (id, organization_id)
        );
        CREATE INDEX ix_knowledge_bases_organization_id ON knowledge_bases (organization_id);
        CREATE INDEX ix_knowledge_bases_owner_id ON knowledge_bases (owner_id);
        CREATE TABLE knowledge_base_members (
            knowledge_base_id uuid NOT NULL,
            user_id uuid NOT NULL,
            organization_id uuid NOT NULL,
            role text NOT NULL CONSTRAINT ck_knowledge_base_members_role_known CHECK (role IN ('viewer', 'editor')),
            created_at timestamptz NOT NULL DEFAULT now(),
            CONSTRAINT pk_knowledge_base_members PRIMARY KEY (knowledge_base_id, user_id),
            CONSTRAINT fk_knowledge_base_members_knowledge_base_id_organization_id
                FOREIGN KEY (knowledge_base_id, organization_id) REFERENCES knowledge_bases (id, organization_id)
                ON DELETE CASCADE,
            CONSTRAINT fk_knowledge_base_members_user_id_organization_id
                FOREIGN KEY (user_id, organization_id) REFERENCES users (id, organization_id)
        );
        CREATE INDEX ix_knowledge_base_members_user_id ON knowledge_base_members (user_id);
    """)
    definer_function("app_kb_ids()", "SETOF uuid", VISIBLE.format(membership="m.user_id IS NOT NULL"))
    definer_function("app_writable_kb_ids()", "SETOF uuid", VISIBLE.format(membership="m.role = 'editor'"))
    definer_function("app_managed_kb_ids()", "SETOF uuid", VISIBLE.format(membership="false"))
    for function in ("app_kb_ids()", "app_writable_kb_ids()", "app_managed_kb_ids()"):
        grant_execute(function, "muniment_app")
    _policies()


def _policies() -> None:
    # Without FORCE, because the functions above read these tables as their owner, and their policies would recurse.
    protect("knowledge_bases", force=False)
    protect("knowledge_base_members", force=False)

    mine = "owner_id = app_user_id() AND organization_id = app_organization_id()"
    # `owner_id = me` besides the function, which does not see the row that INSERT … RETURNING has just inserted.
    allow("muniment_app", "knowledge_bases", "SELECT", using=f"({mine}) OR id IN (SELECT app_kb_ids())")
    allow("muniment_app", "knowledge_bases", "INSERT", check=mine)
    managed = "id IN (SELECT app_managed_kb_ids())"
    in_mine = f"{managed} AND organization_id = app_organization_id()"
    allow("muniment_app", "knowledge_bases", "UPDATE", using=managed, check=in_mine)
    allow("muniment_app", "knowledge_bases", "DELETE", using=managed)

    allow(
        "muniment_app",
        "knowledge_base_members",
        "SELECT",
        using="knowledge_base_id IN (SELECT app_kb_ids())",
    )
    managed = "knowledge_base_id IN (SELECT app_managed_kb_ids())"
    in_mine = f"{managed} AND organization_id = app_organization_id()"
    allow("muniment_app", "knowledge_base_members", "INSERT", check=in_mine)
    allow("muniment_app", "knowledge_base_members", "UPDATE", using=managed, check=in_mine)
    allow("muniment_app", "knowledge_base_members", "DELETE", using=managed)

    for table in ("knowledge_bases", "knowledge_base_members"):
        allow("muniment_service", table, "SELECT", using=OF_SERVICE)


def downgrade() -> None:
    op.execute("""
        DROP TABLE knowledge_base_members, knowledge_bases CASCADE;
        DROP FUNCTION app_managed_kb_ids, app_writable_kb_ids, app_kb_ids;
    """)
