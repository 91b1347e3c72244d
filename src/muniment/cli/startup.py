"""Prepare a command: load the settings, configure logging and exit cleanly on SIGTERM."""

import gc
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from muniment.settings import Settings
from muniment.settings.sources import SettingsError


def load() -> Settings:
    """Load the settings and configure logging as they say."""
    from muniment.telemetry.logs import configure_logs

    loaded = Settings.load()
    configure_logs(loaded.telemetry.log_format, loaded.telemetry.log_level)
    return loaded


def load_existing() -> Settings:
    """Load the settings of an existing installation without creating anything, not even secrets."""
    loaded = load()
    if loaded.database.is_embedded and not loaded.secrets_dir.exists():
        raise SettingsError(
            f"{loaded.server.data_dir} has no Muniment data yet. Start it with `muniment serve`, "
            "or set MUNIMENT_DATA_DIR to the directory of the server"
        )
    return loaded.with_secrets()


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
