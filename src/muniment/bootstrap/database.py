"""Database address and logins from the settings. Imports little, because the supervisor loads it."""

import psycopg

from muniment.embedded.postgres_location import find_database_address
from muniment.settings import Settings
from muniment.settings.sources import SettingsError
from muniment.storage.db.address import APP_LOGIN, SERVICE_LOGIN, DatabaseAddress, LoginPasswords


def database_address(settings: Settings) -> DatabaseAddress:
    """Return the database address from the settings. Only `migrate` uses the login it contains."""
    if settings.database.url:
        try:
            return DatabaseAddress.parse(settings.database.url.get_secret_value())
        except (psycopg.Error, ValueError):  # their messages would repeat the password
            raise SettingsError(
                "DATABASE_URL is not a PostgreSQL address. Use postgresql://user:password@host/database"
            ) from None
    address = find_database_address(settings.server.data_dir)
    if address is None:
        raise SettingsError(
            f"{settings.server.data_dir} has no database yet. Start Muniment with `muniment serve`, "
            "or set MUNIMENT_DATA_DIR or DATABASE_URL"
        )
    assert settings.database.superuser_password is not None
    return address.as_login(address.user, settings.database.superuser_password.get_secret_value())


def login_passwords(settings: Settings) -> LoginPasswords:
    assert settings.database.app_password is not None
    assert settings.database.service_password is not None
    return LoginPasswords(
        app=settings.database.app_password.get_secret_value(),
        service=settings.database.service_password.get_secret_value(),
    )


def app_address(settings: Settings) -> DatabaseAddress:
    return database_address(settings).as_login(APP_LOGIN, login_passwords(settings).app)


def service_address(settings: Settings) -> DatabaseAddress:
    return database_address(settings).as_login(SERVICE_LOGIN, login_passwords(settings).service)
