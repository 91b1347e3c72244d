"""Address of the database and the login to use."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Self

from psycopg.conninfo import conninfo_to_dict, make_conninfo

if TYPE_CHECKING:
    from sqlalchemy import URL

APP_LOGIN = "muniment_app"
SERVICE_LOGIN = "muniment_service"
OWNER_ROLE = "muniment_owner"


@dataclass(frozen=True)
class LoginPasswords:
    """Passwords of the two logins of Muniment."""

    app: str = field(repr=False)
    service: str = field(repr=False)


@dataclass(frozen=True)
class DatabaseAddress:
    """One login to one database. `host` may be a folder that contains a Unix socket."""

    host: str
    port: int
    database: str
    user: str
    password: str = field(repr=False)
    options: Mapping[str, str] = field(default_factory=dict)
    """Further libpq settings, such as `sslmode`."""

    @classmethod
    def parse(cls, url: str) -> Self:
        """Parse `postgresql://…`, `postgres://…`, `postgresql+driver://…` or a libpq connection string."""
        scheme, found, rest = url.partition("://")
        parts = conninfo_to_dict(f"postgresql://{rest}" if found and scheme.startswith("postgres") else url)
        named = {name: str(value) for name, value in parts.items() if value is not None}
        return cls(
            host=named.pop("host", "localhost"),
            port=int(named.pop("port", "5432")),
            database=named.pop("dbname", "muniment"),
            user=named.pop("user", "postgres"),
            password=named.pop("password", ""),
            options=named,
        )

    def as_login(self, user: str, password: str) -> Self:
        """Return the same database with another login."""
        return replace(self, user=user, password=password)

    def at_database(self, database: str) -> Self:
        """Return the same server and login with another database."""
        return replace(self, database=database)

    @property
    def conninfo(self) -> str:
        """Connection string for psycopg. It contains the password: never log it."""
        return make_conninfo(
            host=self.host,
            port=self.port,
            dbname=self.database,
            user=self.user,
            password=self.password or None,
            **self.options,
        )

    @property
    def sqlalchemy_url(self) -> "URL":
        """URL for SQLAlchemy. It contains the password: never log it."""
        from sqlalchemy import (
            URL,  # not at module level: the supervisor does without it and starts half a second sooner
        )

        return URL.create(
            "postgresql+psycopg",
            username=self.user,
            password=self.password or None,
            database=self.database,
            query={"host": self.host, "port": str(self.port), **self.options},
        )
