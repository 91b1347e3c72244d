"""All settings with their names, defaults and meanings. Read by the commands, the entry points and `bootstrap` only.

A value comes from, in this order: the environment, `<NAME>_FILE` for secrets, `.env` in the working directory, a file
generated once in the data directory (secrets on a single machine), the default.
"""

from pathlib import Path
from typing import Self

from pydantic import BaseModel, ConfigDict, Field, SecretStr, ValidationError

from muniment.settings.fields import SettingsSection, environment_names
from muniment.settings.handover import ArchiverSettings, HandoverSettings
from muniment.settings.processing import (
    AuditSettings,
    DocumentSettings,
    QuotaSettings,
    ReaderSettings,
    SearchSettings,
    WorkerSettings,
)
from muniment.settings.server import DatabaseSettings, S3Settings, ServerSettings, TelemetrySettings
from muniment.settings.sources import SettingsError, is_generated, read_or_generate_secret

# Only the embedded PostgreSQL and the archiver use them. Without a key, /internal/v1 does not exist.
_OPTIONAL_SECRETS = frozenset({"superuser_password", "internal_api_key"})


class Settings(BaseModel):
    """All settings, grouped in sections."""

    model_config = ConfigDict(frozen=True)

    server: ServerSettings = Field(default_factory=ServerSettings)
    database: DatabaseSettings = Field(default_factory=DatabaseSettings)
    s3: S3Settings = Field(default_factory=S3Settings)
    documents: DocumentSettings = Field(default_factory=DocumentSettings)
    quotas: QuotaSettings = Field(default_factory=QuotaSettings)
    reader: ReaderSettings = Field(default_factory=ReaderSettings)
    worker: WorkerSettings = Field(default_factory=WorkerSettings)
    search: SearchSettings = Field(default_factory=SearchSettings)
    audit: AuditSettings = Field(default_factory=AuditSettings)
    archive: HandoverSettings = Field(default_factory=HandoverSettings)
    archiver: ArchiverSettings = Field(default_factory=ArchiverSettings)
    telemetry: TelemetrySettings = Field(default_factory=TelemetrySettings)

    @classmethod
    def load(cls) -> Self:
        """Read the settings from the environment, or raise `SettingsError` with one line per invalid setting."""
        try:
            return cls()
        except ValidationError as error:
            lines = (f"{_setting_name(item['loc'])}: {item['msg']}" for item in error.errors())
            raise SettingsError("\n".join(lines)) from None

    def sections(self) -> dict[str, SettingsSection]:
        return {name: getattr(self, name) for name in type(self).model_fields}

    def with_secrets(self, *, generate: bool = True) -> Self:
        """Return the settings with the secrets that are generated once in the data directory.

        With an external database nothing is generated, because all machines need the same secrets; a missing one raises
        `SettingsError`.
        """
        missing = [
            (section, name, field)
            for section, values in self.sections().items()
            for name, field in type(values).model_fields.items()
            if is_generated(field) and getattr(values, name) is None
        ]
        if not self.database.is_embedded:
            needed = [environment_names(field)[0] for _, name, field in missing if name not in _OPTIONAL_SECRETS]
            if needed:
                raise SettingsError(
                    f"With an external database, all machines need the same secrets. Missing: {', '.join(needed)}. "
                    "Set them in the environment or in .env, or use <NAME>_FILE."
                )
            return self
        completed: dict[str, SettingsSection] = {}
        for section, name, _ in missing:
            path = self.secrets_dir / f"{section}_{name}"
            if path.exists() or (generate and (name != "internal_api_key" or self.archiver.paperless_url)):
                values = completed.get(section) or getattr(self, section)
                completed[section] = values.model_copy(update={name: SecretStr(read_or_generate_secret(path))})
        return self.model_copy(update=completed)

    @property
    def secrets_dir(self) -> Path:
        return self.server.data_dir / "secrets"

    @property
    def listening_url(self) -> str:
        """URL of the server on this machine."""
        host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(self.server.host, self.server.host)  # noqa: S104
        return f"http://[{host}]:{self.server.port}" if ":" in host else f"http://{host}:{self.server.port}"

    @property
    def base_url(self) -> str:
        """Public URL of the server."""
        return self.server.public_url or self.listening_url


def _setting_name(location: tuple[int | str, ...]) -> str:
    return ".".join(str(part) for part in location) or "settings"
