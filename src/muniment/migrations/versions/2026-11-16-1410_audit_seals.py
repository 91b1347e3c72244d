"""Seal the audit log: one hash chain per organization, and one for the installation."""

from alembic import op

from muniment.migrations.policies import allow, allow_owner, definer_function, grant_execute, protect

revision = "0011"
down_revision = "0010"

INSTALLATION = "'00000000-0000-0000-0000-000000000000'::uuid"
OF_SERVICE_CHAIN = f"chain = coalesce(app_service_organization_id(), {INSTALLATION})"
OF_INSTALLATION = "organization_id IS NULL AND app_service_organization_id() IS NULL"


def upgrade() -> None:
    _tables()
    _triggers()
    _who_may_read()
    _policies()
    _installation_trail()
    op.execute(f"""
        -- The owner may write lines and not read them; for this once.
        ALTER TABLE audit_events NO FORCE ROW LEVEL SECURITY;
        INSERT INTO audit_unsealed (event_id, chain, at)
            SELECT id, coalesce(organization_id, {INSTALLATION}), at FROM audit_events;
        ALTER TABLE audit_events FORCE ROW LEVEL SECURITY;
    """)


def _tables() -> None:
    op.execute("""
        -- What waits for its seal. A transaction that commits late puts its events here late, so that none is skipped.
        CREATE TABLE audit_unsealed (
            event_id uuid CONSTRAINT pk_audit_unsealed PRIMARY KEY,
            chain uuid NOT NULL,
            at timestamptz NOT NULL
        );
        CREATE INDEX ix_audit_unsealed_chain_at_event_id ON audit_unsealed (chain, at, event_id);

        CREATE TABLE audit_seals (
            chain uuid NOT NULL,
            seq bigint NOT NULL CONSTRAINT ck_audit_seals_seq_from_one CHECK (seq > 0),
            event_id uuid NOT NULL CONSTRAINT uq_audit_seals_event_id UNIQUE,
            salt bytea NOT NULL,
            payload_hash bytea NOT NULL,
            event_hash bytea NOT NULL,
            hash bytea NOT NULL,
            sealed_at timestamptz NOT NULL,
            CONSTRAINT pk_audit_seals PRIMARY KEY (chain, seq)
        );

        CREATE TABLE audit_heads (
            chain uuid NOT NULL,
            seq bigint NOT NULL,
            hash bytea NOT NULL,
            at timestamptz NOT NULL,
            previous_seq bigint NOT NULL,
            key_id text NOT NULL,
            signature bytea NOT NULL,
            CONSTRAINT pk_audit_heads PRIMARY KEY (chain, seq)
        );

        CREATE TABLE audit_keys (
            key_id text CONSTRAINT pk_audit_keys PRIMARY KEY,
            public_key bytea NOT NULL,
            previous_key_id text CONSTRAINT uq_audit_keys_previous_key_id UNIQUE NULLS NOT DISTINCT
                CONSTRAINT fk_audit_keys_previous_key_id REFERENCES audit_keys (key_id),
            at timestamptz NOT NULL,
            signature bytea NOT NULL
        );
    """)


def _triggers() -> None:
    definer_function(
        "note_unsealed()",
        "trigger",
        f"""
        BEGIN
            INSERT INTO audit_unsealed (event_id, chain, at)
                SELECT id, coalesce(organization_id, {INSTALLATION}), at FROM written;
            RETURN NULL;
        END
        """,
        language="plpgsql",
        volatility="VOLATILE",
    )
    definer_function(
        "forget_unsealed()",
        "trigger",
        """
        BEGIN
            DELETE FROM audit_unsealed USING sealed WHERE audit_unsealed.event_id = sealed.event_id;
            RETURN NULL;
        END
        """,
        language="plpgsql",
        volatility="VOLATILE",
    )
    op.execute("""
        CREATE TRIGGER audit_events_unsealed AFTER INSERT ON audit_events
            REFERENCING NEW TABLE AS written FOR EACH STATEMENT EXECUTE FUNCTION note_unsealed();
        CREATE TRIGGER audit_seals_unsealed AFTER INSERT ON audit_seals
            REFERENCING NEW TABLE AS sealed FOR EACH STATEMENT EXECUTE FUNCTION forget_unsealed();
    """)
    for table in ("audit_seals", "audit_heads", "audit_keys"):
        op.execute(f"""
            CREATE TRIGGER {table}_append_only BEFORE UPDATE OR DELETE ON {table}
                FOR EACH ROW EXECUTE FUNCTION refuse_audit_change();
            CREATE TRIGGER {table}_no_truncate BEFORE TRUNCATE ON {table}
                FOR EACH STATEMENT EXECUTE FUNCTION refuse_audit_change();
        """)


def _who_may_read() -> None:
    definer_function(
        "app_may_read_chain(p_chain uuid)",
        "boolean",
        f"""
        SELECT coalesce(CASE WHEN p_chain = {INSTALLATION} THEN app_is_operator()
            ELSE p_chain = app_organization_id()
                 AND (app_is_admin() OR EXISTS (SELECT FROM app_managed_kb_ids())) END, false)
        """,
    )
    # Only the links, also of events that the caller may not see: salted hashes that reveal nothing, but prove that the
    # visible events belong to the chain.
    definer_function(
        "audit_links(p_chain uuid, p_after bigint, p_limit integer)",
        "TABLE (seq bigint, event_hash bytea, hash bytea)",
        """
        SELECT s.seq, s.event_hash, s.hash FROM audit_seals s
         WHERE app_may_read_chain(p_chain) AND s.chain = p_chain AND s.seq > p_after ORDER BY s.seq LIMIT p_limit
        """,
    )
    for function in ("app_may_read_chain(uuid)", "audit_links(uuid, bigint, integer)"):
        grant_execute(function, "muniment_app")


def _policies() -> None:
    for table in ("audit_unsealed", "audit_seals", "audit_heads", "audit_keys"):
        protect(table)
    allow_owner("audit_unsealed")  # written and emptied only by the triggers
    allow("muniment_service", "audit_unsealed", "SELECT", using=OF_SERVICE_CHAIN)
    op.execute("CREATE POLICY owner_select ON audit_seals FOR SELECT TO muniment_owner USING (true)")
    for table in ("audit_seals", "audit_heads"):
        allow("muniment_service", table, "SELECT", using=OF_SERVICE_CHAIN)
        allow("muniment_service", table, "INSERT", check=OF_SERVICE_CHAIN)
    # Complete seals, with the salt, only of events that the caller may read: with the salt a payload could be guessed.
    allow(
        "muniment_app",
        "audit_seals",
        "SELECT",
        using="(chain = (SELECT app_organization_id()) AND (SELECT app_is_admin()))"
        " OR EXISTS (SELECT FROM audit_events e WHERE e.id = event_id)",
    )
    allow("muniment_app", "audit_heads", "SELECT", using="app_may_read_chain(chain)")
    # Public keys are visible to everyone.
    allow("muniment_app", "audit_keys", "SELECT", using="true")
    allow("muniment_service", "audit_keys", "SELECT", using="true")
    allow("muniment_service", "audit_keys", "INSERT", check="true")


def _installation_trail() -> None:
    """Allow operators and commands to write events of the installation, and operators to read them."""
    op.execute(f"""
        CREATE POLICY muniment_app_installation ON audit_events FOR SELECT TO muniment_app
            USING (organization_id IS NULL AND app_is_operator());
        CREATE POLICY muniment_service_installation ON audit_events FOR SELECT TO muniment_service
            USING ({OF_INSTALLATION});
        DROP POLICY muniment_service_switched ON audit_events;
        CREATE POLICY muniment_service_command ON audit_events FOR INSERT TO muniment_service
            WITH CHECK ({OF_INSTALLATION} AND actor = 'system');
    """)


def downgrade() -> None:
    op.execute(f"""
        DROP POLICY muniment_service_command ON audit_events;
        CREATE POLICY muniment_service_switched ON audit_events FOR INSERT TO muniment_service
            WITH CHECK ({OF_INSTALLATION} AND actor = 'system' AND action = 'index_switched');
        DROP POLICY muniment_service_installation ON audit_events;
        DROP POLICY muniment_app_installation ON audit_events;
        DROP TRIGGER audit_events_unsealed ON audit_events;
        DROP FUNCTION audit_links;
        DROP TABLE audit_keys, audit_heads, audit_seals, audit_unsealed;
        DROP FUNCTION app_may_read_chain, forget_unsealed, note_unsealed;
    """)
