"""The settings, as a command of ours begins with them."""

from muniment.setting_sources import SettingsError
from muniment.settings import Settings


def load() -> Settings:
    """With the log as they want it."""
    from muniment.telemetry.logs import configure_logs

    loaded = Settings.load()
    configure_logs(loaded.telemetry.log_format, loaded.telemetry.log_level)
    return loaded


def load_existing() -> Settings:
    """For a look: it makes nothing, not even secrets."""
    loaded = load()
    if loaded.database.is_embedded and not loaded.secrets_dir.exists():
        raise SettingsError(
            f"There is no Muniment in {loaded.server.data_dir} yet: start it with `muniment serve`, "
            "or set MUNIMENT_DATA_DIR as the server has it"
        )
    return loaded.with_secrets()
