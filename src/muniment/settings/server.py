"""Settings of the server, the database, the object store and telemetry."""

from datetime import timedelta
from enum import StrEnum
from pathlib import Path
from urllib.parse import urlsplit

from pydantic import SecretStr, field_validator

from muniment.settings.fields import Duration, SettingsSection, setting
from muniment.telemetry.collectors import DEFAULT_PREFIX, PREFIX_PATTERN


class LogFormat(StrEnum):
    AUTO = "auto"
    JSON = "json"
    PRETTY = "pretty"


class ServerSettings(SettingsSection):
    """Server"""

    data_dir: Path = setting(Path("data"), "Directory for all data on this machine", "MUNIMENT_DATA_DIR")
    host: str = setting("127.0.0.1", "Address to listen on", "MUNIMENT_HOST")
    port: int = setting(8400, "Port to listen on", "MUNIMENT_PORT")
    public_url: str | None = setting(
        None,
        "Address people use. Determines secure cookies, allowed hosts and origins",
        "MUNIMENT_PUBLIC_URL",
    )
    trusted_proxies: str | None = setting(
        None,
        "Trusted proxies (addresses or networks, comma-separated). Their X-Forwarded-For and -Proto are used",
        "MUNIMENT_TRUSTED_PROXIES",
    )
    admin_email: str | None = setting(None, "Email of the first account", "MUNIMENT_ADMIN_EMAIL")
    admin_password: SecretStr | None = setting(
        None, "Password of the first account. Without it, a one-time link is printed", "MUNIMENT_ADMIN_PASSWORD"
    )
    session_lifetime: Duration = setting(timedelta(days=14), "How long a sign-in lasts", "MUNIMENT_SESSION_LIFETIME")

    @field_validator("port")
    @classmethod
    def _is_a_port(cls, value: int) -> int:
        if not 0 <= value <= 65535:
            raise ValueError("must be a port number between 0 and 65535")
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


class DatabaseSettings(SettingsSection):
    """PostgreSQL, embedded or external"""

    url: SecretStr | None = setting(
        None,
        "External PostgreSQL (postgresql://user:password@host/database). Its login is used only by `muniment migrate`",
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
        None, "Superuser password of the embedded PostgreSQL", "MUNIMENT_POSTGRES_PASSWORD", generated=True
    )
    pool_size: int = setting(10, "Connections per process and login", "MUNIMENT_DATABASE_POOL_SIZE")
    postgres_user: str | None = setting(
        None,
        "System user for the embedded PostgreSQL when Muniment runs as root",
        "MUNIMENT_POSTGRES_USER",
    )

    @property
    def is_embedded(self) -> bool:
        return self.url is None


class S3Settings(SettingsSection):
    """Object storage. Without a bucket, original files are stored in the data directory"""

    bucket: str | None = setting(
        None, "Bucket for original files. Setting it enables S3", "MUNIMENT_S3_BUCKET", "S3_BUCKET", "AWS_S3_BUCKET"
    )
    endpoint: str | None = setting(
        None,
        "Address of the object storage, if it is not Amazon S3",
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
        None, "Server-side encryption to request, for example `AES256`", "MUNIMENT_S3_SERVER_SIDE_ENCRYPTION"
    )


class TelemetrySettings(SettingsSection):
    """Logs, metrics and traces"""

    log_format: LogFormat = setting(
        LogFormat.AUTO, "`json`, `pretty`, or `auto` (pretty on a terminal)", "MUNIMENT_LOG_FORMAT"
    )
    log_level: str = setting("INFO", "Minimum log level", "MUNIMENT_LOG_LEVEL")
    metrics_token: SecretStr | None = setting(
        None, "Bearer token required for /metrics from other machines", "MUNIMENT_METRICS_TOKEN"
    )
    metrics_prefix: str = setting(
        DEFAULT_PREFIX, "Prefix of all metric names, for example `lumikb`", "MUNIMENT_METRICS_PREFIX"
    )
    metrics_tenant_labels: bool = setting(
        True,
        "Add the knowledge base and the user as labels to lifecycle metrics",
        "MUNIMENT_METRICS_TENANT_LABELS",
    )
    otlp_endpoint: str | None = setting(
        None, "OpenTelemetry endpoint for traces", "MUNIMENT_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT"
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
            raise ValueError(
                "must consist of letters, digits and underscores and not end with an underscore, for example `lumikb`"
            )
        return value
