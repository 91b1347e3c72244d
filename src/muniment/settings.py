"""Every setting, with its names, default and meaning. Read by `bootstrap.py`, the commands and the supervisor alone.

A value comes from, in this order: the environment, `<NAME>_FILE` for secrets, `.env` in the working directory, a file
that was generated once into the data directory (secrets on one machine), the default.
"""

from datetime import timedelta
from enum import StrEnum
from pathlib import Path
from typing import Self
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field, SecretStr, ValidationError, field_validator

from muniment.archive_settings import ArchiverSettings, ArchiveSettings
from muniment.artifacts.content_keys import Scope
from muniment.setting_section import Duration, Section, names_of, setting
from muniment.setting_sources import SettingsError, generate_once, is_generated
from muniment.telemetry.registry import PREFIX, PREFIX_PATTERN

# The embedded PostgreSQL's, and the archiver's, which may well be nowhere: without a key nobody is let in.
_NOT_NEEDED_ELSEWHERE = frozenset({"superuser_password", "internal_api_key"})


class LogFormat(StrEnum):
    AUTO = "auto"
    JSON = "json"
    PRETTY = "pretty"


class ServerSettings(Section):
    """Where Muniment listens and keeps its data"""

    data_dir: Path = setting(Path("data"), "Folder for everything Muniment keeps on this machine", "MUNIMENT_DATA_DIR")
    host: str = setting("127.0.0.1", "Address to listen on", "MUNIMENT_HOST")
    port: int = setting(8400, "Port to listen on", "MUNIMENT_PORT")
    public_url: str | None = setting(
        None,
        "Address that people type; decides Secure cookies, allowed hosts and origins",
        "MUNIMENT_PUBLIC_URL",
    )
    trusted_proxies: str | None = setting(
        None,
        "Addresses or networks of proxies in front, with commas; their X-Forwarded-For and -Proto are believed",
        "MUNIMENT_TRUSTED_PROXIES",
    )
    admin_email: str | None = setting(None, "Email of the first account", "MUNIMENT_ADMIN_EMAIL")
    admin_password: SecretStr | None = setting(
        None, "Password of the first account; without it a one-time link is printed", "MUNIMENT_ADMIN_PASSWORD"
    )
    session_lifetime: Duration = setting(timedelta(days=14), "How long a sign-in lasts", "MUNIMENT_SESSION_LIFETIME")

    @field_validator("port")
    @classmethod
    def _is_a_port(cls, value: int) -> int:
        if not 0 <= value <= 65535:
            raise ValueError("must be a port, at most 65535")
        return value

    @field_validator("data_dir")
    @classmethod
    def _absolute(cls, value: Path) -> Path:
        return value.expanduser().absolute()

    @field_validator("public_url")
    @classmethod
    def _has_host(cls, value: str | None) -> str | None:
        if value is None:
            return None
        parts = urlsplit(value)
        if parts.scheme not in ("http", "https") or not parts.hostname or parts.path not in ("", "/"):
            raise ValueError("must look like https://documents.example.org, without a path")
        return value.rstrip("/")


class DatabaseSettings(Section):
    """PostgreSQL: the one that Muniment starts itself, or any other"""

    url: SecretStr | None = setting(
        None,
        "Outside PostgreSQL (postgresql://user:password@host/database); it logs in only in `muniment migrate`",
        "MUNIMENT_DATABASE_URL",
        "DATABASE_URL",
    )
    app_password: SecretStr | None = setting(
        None, "Password of the login muniment_app", "MUNIMENT_DATABASE_APP_PASSWORD", generated=True
    )
    service_password: SecretStr | None = setting(
        None, "Password of the login muniment_service", "MUNIMENT_DATABASE_SERVICE_PASSWORD", generated=True
    )
    superuser_password: SecretStr | None = setting(
        None, "Password of the embedded PostgreSQL's own account", "MUNIMENT_POSTGRES_PASSWORD", generated=True
    )
    pool_size: int = setting(10, "Connections per process and login", "MUNIMENT_DATABASE_POOL_SIZE")
    postgres_user: str | None = setting(
        None,
        "System user that the embedded PostgreSQL runs as when Muniment is started by root",
        "MUNIMENT_POSTGRES_USER",
    )

    @property
    def is_embedded(self) -> bool:
        return self.url is None


class S3Settings(Section):
    """Object store; without a bucket, originals are kept in a folder of the data directory"""

    bucket: str | None = setting(
        None, "Bucket for originals; setting it selects S3", "MUNIMENT_S3_BUCKET", "S3_BUCKET", "AWS_S3_BUCKET"
    )
    endpoint: str | None = setting(
        None,
        "Address of the store, if it is not Amazon's",
        "MUNIMENT_S3_ENDPOINT",
        "S3_ENDPOINT",
        "S3_ENDPOINT_URL",
        "AWS_S3_ENDPOINT",
        "AWS_ENDPOINT_URL_S3",
        "AWS_ENDPOINT_URL",
    )
    region: str = setting(
        "us-east-1", "Region of the bucket", "MUNIMENT_S3_REGION", "S3_REGION", "AWS_REGION", "AWS_DEFAULT_REGION"
    )
    access_key_id: str | None = setting(
        None, "Access key", "MUNIMENT_S3_ACCESS_KEY_ID", "S3_ACCESS_KEY_ID", "S3_ACCESS_KEY", "AWS_ACCESS_KEY_ID"
    )
    secret_access_key: SecretStr | None = setting(
        None,
        "Secret key",
        "MUNIMENT_S3_SECRET_ACCESS_KEY",
        "S3_SECRET_ACCESS_KEY",
        "S3_SECRET_KEY",
        "AWS_SECRET_ACCESS_KEY",
    )
    server_side_encryption: str | None = setting(
        None, "Encryption to ask the store for, `AES256` say", "MUNIMENT_S3_SERVER_SIDE_ENCRYPTION"
    )


class DocumentSettings(Section):
    """What may come in"""

    max_upload_bytes: int = setting(100 * 1024 * 1024, "Largest file that is accepted", "MUNIMENT_MAX_UPLOAD_BYTES")
    upload_lifetime: Duration = setting(
        timedelta(hours=24), "After this an unfinished upload is swept away", "MUNIMENT_UPLOAD_LIFETIME"
    )
    disk_floor_bytes: int | None = setting(
        None,
        "Uploads are refused below this much free disk; default the smaller of 1 GiB and 5 %",
        "MUNIMENT_DISK_FLOOR_BYTES",
    )
    hmac_secret: SecretStr | None = setting(
        None,
        "Secret under which the identity of a file's bytes is computed; never change it",
        "MUNIMENT_DOCUMENT_HMAC_SECRET",
        "DOCUMENT_HMAC_SECRET",
        generated=True,
    )
    artifact_scope: Scope = setting(
        Scope.ORGANIZATION,
        "Who shares the results of reading the same bytes: `organization`, `shared` by all, or each `document` alone",
        "MUNIMENT_ARTIFACT_SCOPE",
    )
    enable_artifacts: bool = setting(
        True, "`false` is the scope `document`: nothing is shared", "MUNIMENT_ENABLE_ARTIFACTS", "ENABLE_ARTIFACTS"
    )
    artifact_grace_days: float = setting(
        14.0,
        "Days after which results that no document shows any more are removed (a purge removes them at once)",
        "MUNIMENT_ARTIFACT_GRACE_DAYS",
    )

    @property
    def scope(self) -> Scope:
        return self.artifact_scope if self.enable_artifacts else Scope.DOCUMENT


class ReaderSettings(Section):
    """How documents are read, and what one may cost"""

    ocr_languages: str = setting(
        # In this order English stays as good, and umlauts come out right.
        "deu+eng",
        "Languages of scanned pages, as Tesseract names them, the one that weighs most first",
        "MUNIMENT_OCR_LANGUAGES",
    )
    ocr_dpi: int = setting(200, "Resolution at which pages are given to OCR, 70 to 600", "MUNIMENT_OCR_DPI")
    max_pages: int = setting(3000, "Longest document that is read", "MUNIMENT_READER_MAX_PAGES")
    memory_bytes: int = setting(2 << 30, "Memory that reading one document may take", "MUNIMENT_READER_MEMORY_BYTES")

    @field_validator("ocr_dpi")
    @classmethod
    def _sensible_resolution(cls, value: int) -> int:
        if not 70 <= value <= 600:
            raise ValueError("must be from 70 to 600")
        return value

    @field_validator("max_pages", "memory_bytes")
    @classmethod
    def _at_least_one(cls, value: int) -> int:
        if value < 1:
            raise ValueError("must be at least 1")
        return value

    stall_timeout: Duration = setting(
        timedelta(minutes=2), "A reader that yields no page for so long is ended", "MUNIMENT_READER_STALL_TIMEOUT"
    )
    timeout: Duration = setting(
        timedelta(hours=4), "Longest time that reading one document may take", "MUNIMENT_READER_TIMEOUT"
    )


class WorkerSettings(Section):
    """Background work"""

    concurrency: int = setting(
        2,
        "Documents that one worker reads at the same time",
        "MUNIMENT_WORKER_CONCURRENCY",
    )
    heartbeat: Duration = setting(
        timedelta(seconds=5), "How often a worker says that it lives", "MUNIMENT_WORKER_HEARTBEAT"
    )
    stalled_after: Duration = setting(
        timedelta(seconds=30), "Silence after which a worker's runs are taken over", "MUNIMENT_WORKER_STALLED_AFTER"
    )
    metrics_port: int | None = setting(
        None, "Port on the loopback where the worker shows its metrics", "MUNIMENT_WORKER_METRICS_PORT"
    )


class SearchSettings(Section):
    """Search"""

    embeddings_url: str | None = setting(
        None,
        "Base address of an OpenAI-compatible service that embeds; without one the model that comes along does",
        "MUNIMENT_EMBEDDINGS_URL",
    )
    embeddings_model: str | None = setting(None, "Name of that service's model", "MUNIMENT_EMBEDDINGS_MODEL")
    embeddings_dimensions: int = setting(1536, "Length of that model's vectors", "MUNIMENT_EMBEDDINGS_DIMENSIONS")
    embeddings_api_key: SecretStr | None = setting(None, "Key of that service", "MUNIMENT_EMBEDDINGS_API_KEY")
    embeddings_batch: int = setting(32, "Passages that are sent to it at a time", "MUNIMENT_EMBEDDINGS_BATCH")
    embeddings_timeout: Duration = setting(
        timedelta(seconds=30), "How long one of its answers may take", "MUNIMENT_EMBEDDINGS_TIMEOUT"
    )
    audit_queries: bool = setting(False, "Write what people search for into the audit trail", "MUNIMENT_AUDIT_QUERIES")
    qdrant_url: str | None = setting(
        None,
        "Address of a Qdrant server; without one passages are found inside PostgreSQL",
        "MUNIMENT_QDRANT_URL",
        "QDRANT_URL",
    )
    qdrant_api_key: SecretStr | None = setting(
        None,
        "Key of the Qdrant server",
        "MUNIMENT_QDRANT_API_KEY",
        "QDRANT_API_KEY",
    )


class AuditSettings(Section):
    """The audit trail"""

    signing_key: SecretStr | None = setting(
        None,
        "Ed25519 key that signs audit trail and receipts: 32 bytes in base64, or PEM; see `muniment audit replace-key`",
        "MUNIMENT_SIGNING_KEY",
        generated=True,
    )


class TelemetrySettings(Section):
    """What Muniment says of itself"""

    log_format: LogFormat = setting(
        LogFormat.AUTO, "`json`, `pretty`, or `auto`: pretty on a terminal", "MUNIMENT_LOG_FORMAT"
    )
    log_level: str = setting("INFO", "Least severity that is logged", "MUNIMENT_LOG_LEVEL")
    metrics_token: SecretStr | None = setting(
        None, "Bearer token for /metrics from other machines", "MUNIMENT_METRICS_TOKEN"
    )
    metrics_prefix: str = setting(
        PREFIX, "What the names of all metrics of Muniment begin with, `lumikb` say", "MUNIMENT_METRICS_PREFIX"
    )
    metrics_tenant_labels: bool = setting(
        True,
        "Whether the lifecycle's counters name the knowledge base and the person",
        "MUNIMENT_METRICS_TENANT_LABELS",
    )
    otlp_endpoint: str | None = setting(
        None, "Where OpenTelemetry spans are sent", "MUNIMENT_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT"
    )

    @field_validator("log_level")
    @classmethod
    def _known_level(cls, value: str) -> str:
        if value.upper() not in ("DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL"):
            raise ValueError("must be DEBUG, INFO, WARNING, ERROR or CRITICAL")
        return value.upper()

    @field_validator("metrics_prefix")
    @classmethod
    def _begins_a_name(cls, value: str) -> str:
        if not PREFIX_PATTERN.fullmatch(value) or value.endswith("_"):
            raise ValueError("must be letters, digits and underscores, as in `lumikb`, without one at the end")
        return value


class Settings(BaseModel):
    """All sections together."""

    model_config = ConfigDict(frozen=True)

    server: ServerSettings = Field(default_factory=ServerSettings)
    database: DatabaseSettings = Field(default_factory=DatabaseSettings)
    s3: S3Settings = Field(default_factory=S3Settings)
    documents: DocumentSettings = Field(default_factory=DocumentSettings)
    reader: ReaderSettings = Field(default_factory=ReaderSettings)
    worker: WorkerSettings = Field(default_factory=WorkerSettings)
    search: SearchSettings = Field(default_factory=SearchSettings)
    audit: AuditSettings = Field(default_factory=AuditSettings)
    archive: ArchiveSettings = Field(default_factory=ArchiveSettings)
    archiver: ArchiverSettings = Field(default_factory=ArchiverSettings)
    telemetry: TelemetrySettings = Field(default_factory=TelemetrySettings)

    @classmethod
    def load(cls) -> Self:
        """The settings as the environment gives them, or `SettingsError` with one line for each that is wrong."""
        try:
            return cls()
        except ValidationError as error:
            lines = (f"{_name_of(item['loc'])}: {item['msg']}" for item in error.errors())
            raise SettingsError("\n".join(lines)) from None

    def sections(self) -> dict[str, Section]:
        return {name: getattr(self, name) for name in type(self).model_fields}

    def with_secrets(self, *, generate: bool = True) -> Self:
        """Complete with the secrets that are generated once into the data directory.

        With an outside database several machines must agree, so nothing is generated: what is missing is refused.
        """
        missing = [
            (section, name, field)
            for section, values in self.sections().items()
            for name, field in type(values).model_fields.items()
            if is_generated(field) and getattr(values, name) is None
        ]
        if not self.database.is_embedded:
            needed = [names_of(field)[0] for _, name, field in missing if name not in _NOT_NEEDED_ELSEWHERE]
            if needed:
                raise SettingsError(
                    f"With an outside database every machine must have the same secrets; missing: {', '.join(needed)}. "
                    "Set them in the environment, in .env, or name a file with <NAME>_FILE."
                )
            return self
        completed: dict[str, Section] = {}
        for section, name, _ in missing:
            path = self.secrets_dir / f"{section}_{name}"
            if path.exists() or (generate and (name != "internal_api_key" or self.archiver.paperless_url)):
                values = completed.get(section) or getattr(self, section)
                completed[section] = values.model_copy(update={name: SecretStr(generate_once(path))})
        return self.model_copy(update=completed)

    @property
    def secrets_dir(self) -> Path:
        return self.server.data_dir / "secrets"

    @property
    def listening_url(self) -> str:
        """Where this machine reaches us."""
        host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(self.server.host, self.server.host)  # noqa: S104
        return f"http://[{host}]:{self.server.port}" if ":" in host else f"http://{host}:{self.server.port}"

    @property
    def base_url(self) -> str:
        """What people type."""
        return self.server.public_url or self.listening_url


def _name_of(location: tuple[int | str, ...]) -> str:
    return ".".join(str(part) for part in location) or "settings"
