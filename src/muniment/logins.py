"""Where the database is and how to log in, from the settings. Light: the supervisor loads it too."""

from muniment.embedded.pointer import find_address
from muniment.setting_sources import SettingsError
from muniment.settings import Settings
from muniment.storage.db.address import DatabaseAddress, LoginPasswords


def database_address(settings: Settings) -> DatabaseAddress:
    """The login that stands in it is for `migrate` alone."""
    if settings.database.url:
        return DatabaseAddress.parse(settings.database.url.get_secret_value())
    address = find_address(settings.server.data_dir)
    if address is None:
        raise SettingsError(
            f"There is no database in {settings.server.data_dir} yet: start Muniment with `muniment serve`, "
            "or name a PostgreSQL with DATABASE_URL"
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
