"""Run everything on one machine under a supervisor, for `muniment serve`."""

import os
import socket
import sys
from collections.abc import Callable
from dataclasses import dataclass

from muniment.bootstrap.database import database_address, login_passwords
from muniment.bootstrap.tasks import build_task_engine
from muniment.embedded.child_process import ChildProcess, responds_ok
from muniment.embedded.data_directory import DataDirectoryLock
from muniment.embedded.postgres import EmbeddedPostgres
from muniment.embedded.supervisor import Supervisor
from muniment.processing.readers.ocr.engine import require_languages
from muniment.settings import Settings
from muniment.settings.handover import ArchiverSettings
from muniment.settings.sources import SettingsError
from muniment.storage.db.schema_version import find_ready_installation


@dataclass(frozen=True)
class SignInHint:
    """How the first user signs in: the email, and a one-time link while there is no password."""

    email: str | None
    link: str | None


def serve(settings: Settings, announce: Callable[[Settings, SignInHint], None]) -> int:
    """Run PostgreSQL, API, worker and, if Paperless is configured, the archiver until Ctrl-C.

    `announce` is called once, when the API is ready.
    """
    # As root, PostgreSQL runs as another user and must be able to traverse the folder; what is inside stays private.
    folder = settings.server.data_dir
    try:
        folder.mkdir(mode=0o711 if os.geteuid() == 0 else 0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise SettingsError(f"MUNIMENT_DATA_DIR {folder} cannot be created: {error.strerror}") from None
    with DataDirectoryLock(settings.server.data_dir):
        settings = settings.with_secrets()
        _require_free_port(settings)
        require_languages(settings.reader.languages)
        hint = SignInHint(None, None)

        def prepare_embedded() -> None:
            nonlocal hint
            if settings.database.is_embedded:
                hint = prepare_database(settings)

        return Supervisor(
            postgres=_build_postgres(settings),
            prepare=prepare_embedded,
            children=_build_children(settings),
            on_ready=lambda: announce(settings, hint),
        ).run()


def _build_children(settings: Settings) -> list[ChildProcess]:
    ready_url = f"{settings.listening_url}/health/ready"
    hidden = ArchiverSettings.secret_environment_names()  # docs/contracts.md#paperless-isolation
    children = [
        ChildProcess("api", _command("api"), is_ready=lambda: responds_ok(ready_url), hidden_variables=hidden),
        ChildProcess("worker", _command("worker"), hidden_variables=hidden),
    ]
    if settings.archiver.paperless_url:
        children.append(ChildProcess("archiver", _command("archiver", "watch")))
    return children


def prepare_database(settings: Settings) -> SignInHint:
    """Migrate and create the first account, unless a quick check finds that both are done."""
    if settled := find_ready_installation(database_address(settings), login_passwords(settings), build_task_engine()):
        return SignInHint(settled.email, link=None)
    from muniment.bootstrap.migration import migrate_with_first_account  # loads Alembic

    first = migrate_with_first_account(settings)
    return SignInHint(first.email, sign_in_link(settings, first.link_secret)) if first else SignInHint(None, None)


def sign_in_link(settings: Settings, secret: str | None) -> str | None:
    """Build a sign-in link. The token follows the #, which browsers do not send to a server."""
    return f"{settings.base_url}/sign-in#token={secret}" if secret else None


def _build_postgres(settings: Settings) -> EmbeddedPostgres | None:
    if not settings.database.is_embedded:
        return None
    assert settings.database.superuser_password is not None
    return EmbeddedPostgres(
        settings.server.data_dir,
        password=settings.database.superuser_password.get_secret_value(),
        user=settings.database.postgres_user,
    )


def _command(*words: str) -> list[str]:
    return [sys.executable, "-m", "muniment", *words]


def _require_free_port(settings: Settings) -> None:
    """Raise `SettingsError` if the port is taken, before any process is started."""
    server = settings.server
    family = socket.AF_INET6 if ":" in server.host else socket.AF_INET
    with socket.socket(family) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((server.host, server.port))
        except OSError as error:
            raise SettingsError(
                f"Cannot listen on {server.host} port {server.port}: {os.strerror(error.errno or 0)}. "
                "Set MUNIMENT_HOST or MUNIMENT_PORT to use another address"
            ) from None
