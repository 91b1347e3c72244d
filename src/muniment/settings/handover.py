"""Settings of the hand-over: the queue, used by API and worker, and the archiver."""

from datetime import timedelta
from enum import StrEnum
from pathlib import Path
from typing import Self

from pydantic import SecretStr, field_validator

from muniment.settings.fields import Duration, Section, setting


class ArchiveSettings(Section):
    """The archive queue: where documents wait for the archiver"""

    queue_bucket: str = setting(
        "bilko-archive-queue",
        "Bucket of the queue; without S3 it is the folder `archive-queue` of the data directory",
        "MUNIMENT_ARCHIVE_BUCKET",
        "AWS_S3_ARCHIVE_BUCKET",
    )
    dead_letter_bucket: str = setting(
        "bilko-archive-dlq",
        "Bucket of the dead letters; without S3 it is the folder `archive-dlq` of the data directory",
        "MUNIMENT_ARCHIVE_DLQ_BUCKET",
        "AWS_S3_ARCHIVE_DLQ_BUCKET",
    )
    internal_api_key: SecretStr | None = setting(
        None,
        "Key of the archiver for /internal/v1, closed without one; on one machine made once Paperless is set up",
        "MUNIMENT_INTERNAL_API_KEY",
        "INTERNAL_API_KEY",
        generated=True,
    )
    internal_api_key_old: SecretStr | None = setting(
        None,
        "The key before that, valid too until every archiver has the new one",
        "MUNIMENT_INTERNAL_API_KEY_OLD",
        "INTERNAL_API_KEY_OLD",
    )

    @property
    def internal_api_keys(self) -> tuple[str, ...]:
        keys = (self.internal_api_key, self.internal_api_key_old)
        return tuple(key.get_secret_value() for key in keys if key and key.get_secret_value())


class Trashed(StrEnum):
    """What becomes of a copy that lies in Paperless's trash."""

    RESTORE = "restore"
    UPLOAD = "upload"


class ArchiverSettings(Section):
    """The archiver: how it empties the queue into Paperless-ngx"""

    interval: Duration = setting(timedelta(minutes=5), "Time between two passes", "MUNIMENT_ARCHIVER_INTERVAL")
    concurrency: int = setting(4, "Jobs that are worked on at the same time", "MUNIMENT_ARCHIVER_CONCURRENCY")
    batch: int = setting(1000, "Jobs that one pass takes at most, the oldest first", "MUNIMENT_ARCHIVER_BATCH")
    label: str = setting(
        "bilko", "What the names of our tags and fields in Paperless begin with", "MUNIMENT_ARCHIVER_LABEL"
    )
    internal_api_url: str | None = setting(
        None, "Address of the API for the archiver; by default the one of this machine", "MUNIMENT_INTERNAL_API_URL"
    )
    paperless_url: str | None = setting(None, "Address of Paperless-ngx", "MUNIMENT_PAPERLESS_URL", "PAPERLESS_URL")
    paperless_api_token: SecretStr | None = setting(
        None, "Token of the archiver's user in Paperless", "MUNIMENT_PAPERLESS_API_TOKEN", "PAPERLESS_API_TOKEN"
    )
    cf_access_client_id: str | None = setting(
        None, "Cloudflare Access in front of Paperless: id of the service token", "CF_ACCESS_CLIENT_ID"
    )
    cf_access_client_secret: SecretStr | None = setting(
        None, "Cloudflare Access in front of Paperless: its secret", "CF_ACCESS_CLIENT_SECRET"
    )
    paperless_tag_ids: dict[str, int] = setting(
        {},
        'Ids of tags that are there already, as JSON: {"invoice": 12, "bilko-source": 20}',
        "MUNIMENT_PAPERLESS_TAG_IDS_MAP",
        "PAPERLESS_TAG_IDS_MAP",
    )
    task_deadline: Duration = setting(
        timedelta(hours=24),
        "After this a task that Paperless has not ended is looked into",
        "MUNIMENT_PAPERLESS_TASK_DEADLINE",
    )
    trashed_copies: Trashed = setting(
        Trashed.RESTORE,
        "A copy in Paperless's trash is brought back (`restore`) or uploaded anew (`upload`, on 3.x)",
        "MUNIMENT_PAPERLESS_TRASHED_COPIES",
    )
    s3_endpoint: str | None = setting(
        None, "Address of the store; by default that of the originals", "MUNIMENT_ARCHIVER_S3_ENDPOINT"
    )
    s3_region: str | None = setting(None, "Region; by default that of the originals", "MUNIMENT_ARCHIVER_S3_REGION")
    s3_access_key_id: str | None = setting(
        None,
        "The archiver's own access key, for the queue and the dead letters alone",
        "MUNIMENT_ARCHIVER_S3_ACCESS_KEY_ID",
    )
    s3_secret_access_key: SecretStr | None = setting(
        None, "The archiver's own secret key", "MUNIMENT_ARCHIVER_S3_SECRET_ACCESS_KEY"
    )
    alert_urls: str | None = setting(
        None, "Where alerts are sent, as Apprise writes it, with spaces or commas between", "MUNIMENT_ALERT_URLS"
    )
    metrics_port: int | None = setting(
        None, "Port on the loopback where `archiver watch` shows its metrics", "MUNIMENT_ARCHIVER_METRICS_PORT"
    )
    metrics_file: Path | None = setting(
        None, "File that `archiver run` writes its metrics into", "MUNIMENT_ARCHIVER_METRICS_FILE"
    )

    def without_secrets(self) -> Self:
        """For everybody else: API and worker have no credentials of Paperless (specs/archive-queue.md §4.4)."""
        secrets = ("paperless_api_token", "cf_access_client_secret", "s3_secret_access_key", "alert_urls")
        return self.model_copy(update=dict.fromkeys(secrets))

    @field_validator("concurrency", "batch")
    @classmethod
    def _at_least_one(cls, value: int) -> int:
        if value < 1:
            raise ValueError("must be at least 1")
        return value
