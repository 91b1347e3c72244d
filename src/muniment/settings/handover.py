"""Settings of the hand-over: the queue, used by API and worker, and the archiver."""

from datetime import timedelta
from enum import StrEnum
from pathlib import Path
from typing import Self

from pydantic import NonNegativeInt, SecretStr, field_validator

from muniment.handover.description import (
    DEFAULT_TITLE,
    TITLE_PLACEHOLDERS,
    validate_field_names,
    validate_title,
)
from muniment.settings.fields import Duration, SettingsSection, environment_names, setting

MIN_KEY_CHARACTERS = 32


class HandoverSettings(SettingsSection):
    """The Paperless queue"""

    queue_bucket: str = setting(
        "bilko-archive-queue",
        "Bucket of the Paperless queue. Without S3, the folder `archive-queue` in the data directory is used",
        "MUNIMENT_ARCHIVE_BUCKET",
        "AWS_S3_ARCHIVE_BUCKET",
    )
    dead_letter_bucket: str = setting(
        "bilko-archive-dlq",
        "Bucket of the dead letters. Without S3, the folder `archive-dlq` in the data directory is used",
        "MUNIMENT_ARCHIVE_DLQ_BUCKET",
        "AWS_S3_ARCHIVE_DLQ_BUCKET",
    )
    internal_api_key: SecretStr | None = setting(
        None,
        "Key of the archiver for /internal/v1, at least 32 characters, closed without one. Generated on a single "
        "machine that uses Paperless",
        "MUNIMENT_INTERNAL_API_KEY",
        "INTERNAL_API_KEY",
        generated=True,
    )
    internal_api_key_old: SecretStr | None = setting(
        None,
        "Previous key, valid until every archiver uses the new one",
        "MUNIMENT_INTERNAL_API_KEY_OLD",
        "INTERNAL_API_KEY_OLD",
    )

    @field_validator("internal_api_key", "internal_api_key_old")
    @classmethod
    def _long_enough(cls, value: SecretStr | None) -> SecretStr | None:
        if value is not None and 0 < len(value.get_secret_value()) < MIN_KEY_CHARACTERS:
            raise ValueError(
                f"must have at least {MIN_KEY_CHARACTERS} characters. Generate a key with `openssl rand -hex 32`"
            )
        return value

    @property
    def internal_api_keys(self) -> tuple[str, ...]:
        keys = (self.internal_api_key, self.internal_api_key_old)
        return tuple(key.get_secret_value() for key in keys if key and key.get_secret_value())


class TrashedCopyAction(StrEnum):
    """What to do with a copy that is in the Paperless trash."""

    RESTORE = "restore"
    UPLOAD = "upload"


_ARCHIVER_SECRETS = ("paperless_api_token", "cf_access_client_secret", "s3_secret_access_key", "alert_urls")


class ArchiverSettings(SettingsSection):
    """The archiver, which sends queued PDFs to Paperless-ngx"""

    interval: Duration = setting(timedelta(minutes=5), "Interval between passes", "MUNIMENT_ARCHIVER_INTERVAL")
    concurrency: int = setting(4, "Jobs processed at the same time", "MUNIMENT_ARCHIVER_CONCURRENCY")
    uploads_ahead: NonNegativeInt = setting(
        12, "Uploads that may wait for Paperless while other jobs are processed", "MUNIMENT_ARCHIVER_UPLOADS_AHEAD"
    )
    batch: int = setting(1000, "Maximum number of jobs per pass, oldest first", "MUNIMENT_ARCHIVER_BATCH")
    label: str = setting("bilko", "Prefix of tags and custom fields in Paperless", "MUNIMENT_ARCHIVER_LABEL")
    internal_api_url: str | None = setting(
        None, "Address of the API for the archiver (default: this machine)", "MUNIMENT_INTERNAL_API_URL"
    )
    paperless_url: str | None = setting(None, "Address of Paperless-ngx", "MUNIMENT_PAPERLESS_URL", "PAPERLESS_URL")
    paperless_api_token: SecretStr | None = setting(
        None, "API token of the archiver's user in Paperless", "MUNIMENT_PAPERLESS_API_TOKEN", "PAPERLESS_API_TOKEN"
    )
    cf_access_client_id: str | None = setting(
        None, "Cloudflare Access in front of Paperless: ID of the service token", "CF_ACCESS_CLIENT_ID"
    )
    cf_access_client_secret: SecretStr | None = setting(
        None, "Cloudflare Access in front of Paperless: secret of the service token", "CF_ACCESS_CLIENT_SECRET"
    )
    paperless_tag_ids: dict[str, int] = setting(
        {},
        'IDs of existing tags as JSON: {"invoice": 12, "bilko-source": 20}',
        "MUNIMENT_PAPERLESS_TAG_IDS_MAP",
        "PAPERLESS_TAG_IDS_MAP",
    )
    paperless_title: str = setting(
        DEFAULT_TITLE,
        f"Title of documents in Paperless. Placeholders: {', '.join(f'{{{name}}}' for name in TITLE_PLACEHOLDERS)}",
        "MUNIMENT_PAPERLESS_TITLE",
    )
    paperless_custom_fields: dict[str, str] = setting(
        {},
        'Custom fields in Paperless as JSON: {"file_name": "File", "number": "Invoice number", "document_id": "ID"}. '
        "An empty name leaves a field out (default: names with the prefix)",
        "MUNIMENT_PAPERLESS_CUSTOM_FIELDS",
    )
    task_deadline: Duration = setting(
        timedelta(hours=24),
        "Time for which later Paperless tasks must have been finished before an upload is repeated",
        "MUNIMENT_PAPERLESS_TASK_DEADLINE",
    )
    trashed_copies: TrashedCopyAction = setting(
        TrashedCopyAction.RESTORE,
        "What to do with a copy in the Paperless trash: `restore` it, or `upload` it again (Paperless 3.x)",
        "MUNIMENT_PAPERLESS_TRASHED_COPIES",
    )
    s3_endpoint: str | None = setting(
        None, "Address of the object storage (default: same as for original files)", "MUNIMENT_ARCHIVER_S3_ENDPOINT"
    )
    s3_region: str | None = setting(None, "Region (default: same as for original files)", "MUNIMENT_ARCHIVER_S3_REGION")
    s3_access_key_id: str | None = setting(
        None,
        "Access key of the archiver, for the queue and the dead letters only",
        "MUNIMENT_ARCHIVER_S3_ACCESS_KEY_ID",
    )
    s3_secret_access_key: SecretStr | None = setting(
        None, "Secret key of the archiver", "MUNIMENT_ARCHIVER_S3_SECRET_ACCESS_KEY"
    )
    alert_urls: str | None = setting(
        None, "Apprise URLs for alerts, separated by spaces or commas", "MUNIMENT_ALERT_URLS"
    )
    metrics_port: int | None = setting(
        None, "Port on localhost for the metrics of `archiver watch`", "MUNIMENT_ARCHIVER_METRICS_PORT"
    )
    metrics_file: Path | None = setting(
        None, "File for the metrics of `archiver run`", "MUNIMENT_ARCHIVER_METRICS_FILE"
    )

    def without_secrets(self) -> Self:
        """Return a copy without credentials, for API and worker (docs/contracts.md#paperless-isolation)."""
        return self.model_copy(update=dict.fromkeys(_ARCHIVER_SECRETS))

    @classmethod
    def secret_environment_names(cls) -> frozenset[str]:
        """Return the variables that hold these credentials or name their files."""
        names = [name for field in _ARCHIVER_SECRETS for name in environment_names(cls.model_fields[field])]
        return frozenset(names).union(f"{name}_FILE" for name in names)

    @field_validator("paperless_title")
    @classmethod
    def _valid_title(cls, value: str) -> str:
        validate_title(value)
        return value

    @field_validator("paperless_custom_fields")
    @classmethod
    def _valid_fields(cls, value: dict[str, str]) -> dict[str, str]:
        validate_field_names(value)
        return value

    @field_validator("concurrency", "batch")
    @classmethod
    def _at_least_one(cls, value: int) -> int:
        if value < 1:
            raise ValueError("must be at least 1")
        return value
