"""Migrate the database and ensure that someone can sign in. Loads Alembic, which no other process needs."""

from sqlalchemy import Connection

from muniment.accounts.first_account import FirstAccount, PasswordReset, ensure_first_account, reset_password
from muniment.bootstrap.database import database_address, login_passwords
from muniment.bootstrap.tasks import build_task_engine
from muniment.settings import Settings
from muniment.storage.db.base import now
from muniment.storage.db.migrate import migrate, run_as_owner


def migrate_with_first_account(settings: Settings) -> FirstAccount | None:
    """Upgrade the database to this version and create the first account if there is none."""
    password = settings.server.admin_password

    def create_first_account(connection: Connection) -> FirstAccount | None:
        return ensure_first_account(
            connection,
            email=settings.server.admin_email,
            password=password.get_secret_value() if password else None,
            now=now(),
        )

    return migrate(database_address(settings), login_passwords(settings), build_task_engine(), create_first_account)


def reset_password_link(
    settings: Settings, email: str, *, organization: str | None, revoke_tokens: bool
) -> PasswordReset:
    """Remove the password of an account and create a one-time sign-in link. The database is not migrated."""
    return run_as_owner(
        database_address(settings),
        lambda connection: reset_password(
            connection, email, organization=organization, revoke_tokens=revoke_tokens, now=now()
        ),
    )
