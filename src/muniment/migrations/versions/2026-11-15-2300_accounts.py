"""Add organizations, users and their credentials."""

from alembic import op

from muniment.migrations.policies import allow, allow_owner, allow_service, definer_function, grant_execute, protect

revision = "0001"
down_revision = None

USER_COLUMNS = "(id, organization_id, email, email_key, is_admin, is_operator, is_active, created_at)"
# An admin manages the users of the organization, but neither creates nor changes an operator.
MAY_MANAGE_USERS = (
    "app_is_operator() OR (app_is_admin() AND organization_id = app_organization_id() AND NOT is_operator)"
)


def upgrade() -> None:
    op.execute("GRANT SELECT ON alembic_version TO muniment_app, muniment_service")
    _tables()
    _who_asks()
    _policies()
    _look_ups()
    _sign_in_throttle()


def _tables() -> None:
    op.execute("""
        CREATE TABLE organizations (
            id uuid CONSTRAINT pk_organizations PRIMARY KEY,
            name text NOT NULL,
            created_at timestamptz NOT NULL DEFAULT now()
        );
        CREATE TABLE users (
            id uuid CONSTRAINT pk_users PRIMARY KEY,
            organization_id uuid NOT NULL CONSTRAINT fk_users_organization_id REFERENCES organizations (id),
            email text NOT NULL,
            email_key text NOT NULL CONSTRAINT uq_users_email_key UNIQUE,
            password_hash text,
            is_admin boolean NOT NULL DEFAULT false,
            is_operator boolean NOT NULL DEFAULT false,
            is_active boolean NOT NULL DEFAULT true,
            created_at timestamptz NOT NULL DEFAULT now(),
            CONSTRAINT uq_users_id_organization_id UNIQUE (id, organization_id)
        );
        CREATE INDEX ix_users_organization_id ON users (organization_id);
        CREATE TABLE sessions (
            id uuid CONSTRAINT pk_sessions PRIMARY KEY,
            user_id uuid NOT NULL,
            organization_id uuid NOT NULL,
            token_hash bytea NOT NULL CONSTRAINT uq_sessions_token_hash UNIQUE,
            address text,
            created_at timestamptz NOT NULL DEFAULT now(),
            expires_at timestamptz NOT NULL,
            CONSTRAINT fk_sessions_user_id_organization_id
                FOREIGN KEY (user_id, organization_id) REFERENCES users (id, organization_id)
        );
        CREATE INDEX ix_sessions_user_id ON sessions (user_id);
        CREATE TABLE api_tokens (
            id uuid CONSTRAINT pk_api_tokens PRIMARY KEY,
            user_id uuid NOT NULL,
            organization_id uuid NOT NULL,
            name text NOT NULL,
            token_hash bytea NOT NULL CONSTRAINT uq_api_tokens_token_hash UNIQUE,
            created_at timestamptz NOT NULL DEFAULT now(),
            expires_at timestamptz NOT NULL,
            last_used_at timestamptz,
            revoked_at timestamptz,
            CONSTRAINT fk_api_tokens_user_id_organization_id
                FOREIGN KEY (user_id, organization_id) REFERENCES users (id, organization_id)
        );
        CREATE INDEX ix_api_tokens_user_id ON api_tokens (user_id);
        CREATE TABLE sign_in_links (
            token_hash bytea CONSTRAINT pk_sign_in_links PRIMARY KEY,
            user_id uuid NOT NULL,
            organization_id uuid NOT NULL,
            created_at timestamptz NOT NULL DEFAULT now(),
            expires_at timestamptz NOT NULL,
            CONSTRAINT fk_sign_in_links_user_id_organization_id
                FOREIGN KEY (user_id, organization_id) REFERENCES users (id, organization_id)
        );
        CREATE TABLE sign_in_failures (
            key text CONSTRAINT pk_sign_in_failures PRIMARY KEY,
            failures integer NOT NULL CONSTRAINT ck_sign_in_failures_failures_positive CHECK (failures > 0),
            last_failed_at timestamptz NOT NULL DEFAULT now(),
            blocked_until timestamptz
        );
    """)


def _who_asks() -> None:
    # After one SET LOCAL an unset setting is '' and not NULL, and casting that fails: hence nullif.
    op.execute("""
        CREATE FUNCTION app_user_id() RETURNS uuid LANGUAGE sql STABLE
            AS $$ SELECT nullif(current_setting('app.user_id', true), '')::uuid $$;
        CREATE FUNCTION app_service_organization_id() RETURNS uuid LANGUAGE sql STABLE
            AS $$ SELECT nullif(current_setting('app.organization_id', true), '')::uuid $$;
    """)
    definer_function(
        "app_organization_id()", "uuid", "SELECT organization_id FROM users WHERE id = app_user_id() AND is_active"
    )
    definer_function("app_is_admin()", "boolean", "SELECT is_admin FROM users WHERE id = app_user_id() AND is_active")
    definer_function(
        "app_is_operator()", "boolean", "SELECT is_operator FROM users WHERE id = app_user_id() AND is_active"
    )
    for function in ("app_user_id()", "app_organization_id()", "app_is_admin()", "app_is_operator()"):
        grant_execute(function, "muniment_app")
    grant_execute("app_service_organization_id()", "muniment_service")


def _policies() -> None:
    for table in ("organizations", "users", "sessions", "api_tokens", "sign_in_links", "sign_in_failures"):
        protect(table)
        allow_owner(table)

    allow("muniment_app", "organizations", "SELECT", using="id = app_organization_id() OR app_is_operator()")
    allow("muniment_app", "organizations", "INSERT", check="app_is_operator()")
    allow(
        "muniment_app",
        "organizations",
        "UPDATE",
        using="app_is_operator()",
        check="app_is_operator()",
        columns="(name)",
    )
    # Sweeps list the organizations and then work in one at a time.
    allow("muniment_service", "organizations", "SELECT", using="true")

    allow(
        "muniment_app",
        "users",
        "SELECT",
        using="organization_id = app_organization_id() OR app_is_operator()",
        columns=USER_COLUMNS,
    )
    allow("muniment_app", "users", "INSERT", check=MAY_MANAGE_USERS)
    allow(
        "muniment_app",
        "users",
        "UPDATE",
        using=MAY_MANAGE_USERS,
        check=MAY_MANAGE_USERS,
        columns="(email, email_key, password_hash, is_admin, is_operator, is_active)",
    )
    op.execute(f"GRANT SELECT {USER_COLUMNS} ON users TO muniment_service")
    op.execute(
        "CREATE POLICY muniment_service_select ON users FOR SELECT TO muniment_service "
        "USING (organization_id = app_service_organization_id())"
    )

    mine = "user_id = app_user_id() AND organization_id = app_organization_id()"
    for table in ("sessions", "api_tokens"):
        allow("muniment_app", table, "SELECT", using=mine)
        allow("muniment_app", table, "INSERT", check=mine)
        allow_service(table, ("SELECT", "DELETE"))
    allow("muniment_app", "sessions", "DELETE", using=mine)
    allow("muniment_app", "api_tokens", "UPDATE", using=mine, check=mine, columns="(revoked_at)")
    allow_service("sign_in_links", ("SELECT", "DELETE"))


def _look_ups() -> None:
    """Add look-ups that are needed before a principal exists: the user of a session, token, email or link."""
    principal = "TABLE (user_id uuid, organization_id uuid, is_admin boolean, is_operator boolean)"
    definer_function(
        "find_session(p_token_hash bytea)",
        principal,
        """
        SELECT u.id, u.organization_id, u.is_admin, u.is_operator
          FROM sessions s JOIN users u ON u.id = s.user_id AND u.is_active
         WHERE s.token_hash = p_token_hash AND s.expires_at > now()
        """,
    )
    definer_function(
        "find_token(p_token_hash bytea)",
        principal,
        """
        -- Noted once a minute, so that a busy token does not turn every request into a write.
        UPDATE api_tokens SET last_used_at = now()
         WHERE token_hash = p_token_hash AND revoked_at IS NULL AND expires_at > now()
           AND (last_used_at IS NULL OR last_used_at < now() - interval '1 minute');
        SELECT u.id, u.organization_id, u.is_admin, u.is_operator
          FROM api_tokens t JOIN users u ON u.id = t.user_id AND u.is_active
         WHERE t.token_hash = p_token_hash AND t.revoked_at IS NULL AND t.expires_at > now();
        """,
        volatility="VOLATILE",
    )
    definer_function(
        "find_login(p_email_key text)",
        "TABLE (user_id uuid, organization_id uuid, is_admin boolean, is_operator boolean, password_hash text)",
        """
        SELECT u.id, u.organization_id, u.is_admin, u.is_operator, u.password_hash
          FROM users u WHERE u.email_key = p_email_key AND u.is_active
        """,
    )
    definer_function(
        "redeem_sign_in_link(p_token_hash bytea)",
        principal,
        """
        WITH redeemed AS (
            DELETE FROM sign_in_links WHERE token_hash = p_token_hash RETURNING user_id, expires_at
        )
        SELECT u.id, u.organization_id, u.is_admin, u.is_operator
          FROM redeemed r JOIN users u ON u.id = r.user_id AND u.is_active AND u.password_hash IS NULL
         WHERE r.expires_at > now()
        """,
        volatility="VOLATILE",
    )
    definer_function(
        "set_own_password(p_hash text)",
        "void",
        "UPDATE users SET password_hash = p_hash WHERE id = app_user_id() AND is_active",
        volatility="VOLATILE",
    )
    grant_execute("set_own_password(text)", "muniment_app")
    definer_function(
        "end_sessions(p_user_id uuid, p_except bytea DEFAULT NULL)",
        "void",
        """
        DELETE FROM sessions WHERE user_id = p_user_id AND token_hash IS DISTINCT FROM p_except
           AND (p_user_id = app_user_id() OR app_is_operator()
                OR (app_is_admin() AND organization_id = app_organization_id()))
        """,
        volatility="VOLATILE",
    )
    grant_execute("end_sessions(uuid, bytea)", "muniment_app")
    definer_function(
        "revoke_tokens(p_user_id uuid)",
        "void",
        """
        UPDATE api_tokens SET revoked_at = now() WHERE user_id = p_user_id AND revoked_at IS NULL
           AND (app_is_operator() OR (app_is_admin() AND organization_id = app_organization_id()))
        """,
        volatility="VOLATILE",
    )
    grant_execute("revoke_tokens(uuid)", "muniment_app")
    for function in ("find_session(bytea)", "find_token(bytea)", "find_login(text)", "redeem_sign_in_link(bytea)"):
        grant_execute(function, "muniment_app")


def _sign_in_throttle() -> None:
    definer_function(
        "sign_in_wait_seconds(p_keys text[])",
        "integer",
        """
        SELECT coalesce(ceil(extract(epoch FROM max(blocked_until) - now())), 0)::integer
          FROM sign_in_failures WHERE key = ANY (p_keys) AND blocked_until > now()
        """,
    )
    definer_function(
        "forgiven_sign_ins(p_since timestamptz, p_forgiven_after interval)",
        "integer",
        "SELECT floor(extract(epoch FROM now() - p_since) / extract(epoch FROM p_forgiven_after))::integer",
    )
    definer_function(
        "note_sign_in_failure(p_key text, p_free integer, p_forgiven_after interval)",
        "void",
        """
        -- p_free failures cost nothing; then 2, 4, 8 … seconds, at most a quarter of an hour. One failure is forgiven
        -- after each p_forgiven_after without another, so that a busy office does not collect them for ever.
        INSERT INTO sign_in_failures AS f (key, failures) VALUES (p_key, 1)
        ON CONFLICT (key) DO UPDATE SET
            failures = 1 + greatest(0, f.failures - forgiven_sign_ins(f.last_failed_at, p_forgiven_after)),
            last_failed_at = now(),
            blocked_until = (
                SELECT now() + least(900, power(2, least(20, counted + 1 - p_free))) * interval '1 second'
                  FROM (SELECT 1 + greatest(0, f.failures - forgiven_sign_ins(f.last_failed_at, p_forgiven_after))
                        AS counted) new WHERE counted >= p_free)
        """,
        volatility="VOLATILE",
    )
    definer_function(
        "forget_sign_in_failures(p_key text)",
        "void",
        "DELETE FROM sign_in_failures WHERE key = p_key",
        volatility="VOLATILE",
    )
    definer_function(
        "forget_old_sign_in_failures()",
        "void",
        "DELETE FROM sign_in_failures WHERE last_failed_at < now() - interval '1 day'",
        volatility="VOLATILE",
    )
    grant_execute("sign_in_wait_seconds(text[])", "muniment_app")
    grant_execute("note_sign_in_failure(text, integer, interval)", "muniment_app")
    grant_execute("forget_sign_in_failures(text)", "muniment_app")
    grant_execute("forget_old_sign_in_failures()", "muniment_service")


def downgrade() -> None:
    op.execute("""
        DROP FUNCTION revoke_tokens, end_sessions, set_own_password, forget_old_sign_in_failures,
            forget_sign_in_failures, note_sign_in_failure, forgiven_sign_ins, sign_in_wait_seconds,
            redeem_sign_in_link, find_login, find_token, find_session;
        DROP TABLE sign_in_failures, sign_in_links, api_tokens, sessions, users, organizations CASCADE;
        DROP FUNCTION app_is_operator, app_is_admin, app_organization_id, app_service_organization_id, app_user_id;
        REVOKE SELECT ON alembic_version FROM muniment_app, muniment_service;
    """)
