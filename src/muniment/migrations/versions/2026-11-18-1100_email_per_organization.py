"""Let organizations have users with the same email address, so that none learns about the users of another.

A process of the previous version expects at most one account of an address. `find_login` returns the oldest one to it,
or the caller's own: a newer account signs in once all processes are of this version. The next version drops the
function.
"""

from alembic import op

from muniment.migrations.policies import definer_function, grant_execute

revision = "0038"
down_revision = "0037"

_LOGIN = "TABLE (user_id uuid, organization_id uuid, is_admin boolean, is_operator boolean, password_hash text)"
_ACCOUNTS = """
    SELECT u.id, u.organization_id, u.is_admin, u.is_operator, u.password_hash
      FROM users u WHERE u.email_key = p_email_key AND u.is_active
"""
# A caller who is signed in asks about their own account.
_ONE_ACCOUNT = f"{_ACCOUNTS} ORDER BY (u.id = app_user_id()) IS TRUE DESC, u.created_at, u.id LIMIT 1"


def upgrade() -> None:
    op.execute("""
        ALTER TABLE users
            ADD CONSTRAINT uq_users_organization_id_email_key UNIQUE (organization_id, email_key),
            DROP CONSTRAINT uq_users_email_key;
        CREATE INDEX ix_users_email_key ON users (email_key);
    """)
    _replace_find_login(_ONE_ACCOUNT)
    definer_function(
        "find_logins(p_email_key text)",
        "TABLE (user_id uuid, organization_id uuid, organization_name text, is_admin boolean, is_operator boolean,"
        " password_hash text)",
        """
        SELECT u.id, u.organization_id, o.name, u.is_admin, u.is_operator, u.password_hash
          FROM users u JOIN organizations o ON o.id = u.organization_id
         WHERE u.email_key = p_email_key AND u.is_active ORDER BY o.name, u.id
        """,
    )
    grant_execute("find_logins(text)", "muniment_app")
    definer_function(
        "app_has_password()",
        "boolean",
        # True also if the account is gone or deactivated: without a password, it would have nothing to confirm.
        "SELECT NOT EXISTS (SELECT FROM users WHERE id = app_user_id() AND is_active AND password_hash IS NULL)",
    )
    grant_execute("app_has_password()", "muniment_app")


def downgrade() -> None:
    """Undo the upgrade. This fails while two organizations have a user with the same address: change one of them."""
    op.execute("""
        ALTER TABLE users
            ADD CONSTRAINT uq_users_email_key UNIQUE (email_key),
            DROP CONSTRAINT uq_users_organization_id_email_key;
        DROP INDEX ix_users_email_key;
        DROP FUNCTION app_has_password(), find_logins(text);
    """)
    _replace_find_login(_ACCOUNTS)


def _replace_find_login(query: str) -> None:
    op.execute("DROP FUNCTION find_login(text)")
    definer_function("find_login(p_email_key text)", _LOGIN, query)
    grant_execute("find_login(text)", "muniment_app")
