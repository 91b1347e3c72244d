"""Migrate the database and make sure that somebody can sign in. Loads Alembic, which no other process needs."""

from sqlalchemy import Connection

from muniment.accounts.first_account import FirstAccount, ensure_first_account, reset_password
from muniment.bootstrap.database import database_address, login_passwords
from muniment.bootstrap.tasks import build_task_engine
from muniment.settings import Settings
from muniment.storage.db.base import now
from muniment.storage.db.migrate import migrate


def migrate_with_first_account(settings: Settings) -> FirstAccount | None:
    """Bring the database up to this version, and see that the first person gets in."""
    password = settings.server.admin_password
    made: list[FirstAccount | None] = []

    def then(connection: Connection) -> None:
        made.append(
            ensure_first_account(
                connection,
                email=settings.server.admin_email,
                password=password.get_secret_value() if password else None,
                now=now(),
            )
        )

    migrate(database_address(settings), login_passwords(settings), build_task_engine(), then)
    return made[0]


def reset_password_link(settings: Settings, email: str) -> FirstAccount:
    """Take the password of an account away and give it a one-time link instead."""
    made: list[FirstAccount] = []
    migrate(
        database_address(settings),
        login_passwords(settings),
        build_task_engine(),
        lambda connection: made.append(reset_password(connection, email, now=now())),
    )
    return made[0]
