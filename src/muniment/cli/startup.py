"""Prepare a command: load the settings, configure logging and exit cleanly on SIGTERM."""

import gc
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from muniment.settings import Settings
from muniment.settings.sources import SettingsError


def load(*, log_to_stdout: bool = False) -> Settings:
    """Load the settings and configure logging as they say. Logs on stdout are JSON, unless the settings demand
    `pretty`."""
    from muniment.telemetry.logs import configure_logs

    loaded = Settings.load()
    log_format = str(loaded.telemetry.log_format)
    if log_to_stdout and log_format == "auto":
        log_format = "json"
    configure_logs(log_format, loaded.telemetry.log_level, to_stdout=log_to_stdout)
    return loaded


class DataDirectoryForbidden(SettingsError):
    """The data directory belongs to another user"""


def load_existing(*, generate_secrets: bool = True) -> Settings:
    """Load the settings of an existing installation. Only secrets that an older version did not have are generated,
    and without `generate_secrets` a missing one raises `SettingsError`."""
    loaded = load()
    try:
        return _add_secrets(loaded, generate=generate_secrets)
    except PermissionError as error:
        raise DataDirectoryForbidden(
            f"Cannot open {error.filename}: {error.strerror}. Run this command as the user that runs Muniment"
        ) from None


def _add_secrets(loaded: Settings, *, generate: bool) -> Settings:
    if loaded.database.is_embedded and not loaded.secrets_dir.exists():
        raise SettingsError(
            f"MUNIMENT_DATA_DIR {loaded.server.data_dir} has no Muniment data yet. Start it with `muniment serve`, "
            "or set MUNIMENT_DATA_DIR to the directory of the server"
        )
    completed = loaded.with_secrets(generate=generate)
    if completed.audit.signing_key is None or completed.documents.hmac_secret is None:
        raise SettingsError(f"{loaded.secrets_dir} is incomplete. Start Muniment with `muniment serve`")
    return completed


def exit_on_sigterm() -> None:
    """Exit with 0 on SIGTERM while modules are still being imported; later the event loop handles it."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))


@contextmanager
def garbage_collection_paused() -> Iterator[None]:
    """Import a process's modules without garbage collection, which would examine objects that all stay in use."""
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
