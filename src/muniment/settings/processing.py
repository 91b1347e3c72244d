"""Settings of documents, readers, workers, search and the audit log."""

from datetime import timedelta

from pydantic import PositiveInt, SecretStr, field_validator

from muniment.artifacts.keys import SharingScope
from muniment.settings.fields import Duration, SettingsSection, setting


class DocumentSettings(SettingsSection):
    """Uploads and documents"""

    max_upload_bytes: int = setting(100 * 1024 * 1024, "Maximum size of an upload", "MUNIMENT_MAX_UPLOAD_BYTES")
    max_request_files: PositiveInt = setting(
        100, "Maximum number of files that one request can upload", "MUNIMENT_MAX_REQUEST_FILES"
    )
    max_request_bytes: PositiveInt = setting(
        100 * 1024 * 1024, "Maximum size of a request that uploads several files", "MUNIMENT_MAX_REQUEST_BYTES"
    )
    upload_lifetime: Duration = setting(
        timedelta(hours=24), "Time after which an unfinished upload is deleted", "MUNIMENT_UPLOAD_LIFETIME"
    )
    disk_floor_bytes: int | None = setting(
        None,
        "Uploads are rejected below this much free disk space (default: the smaller of 1 GiB and 5%)",
        "MUNIMENT_DISK_FLOOR_BYTES",
    )
    hmac_secret: SecretStr | None = setting(
        None,
        "Secret for computing the identity of file contents. Never change it",
        "MUNIMENT_DOCUMENT_HMAC_SECRET",
        "DOCUMENT_HMAC_SECRET",
        generated=True,
    )
    artifact_scope: SharingScope = setting(
        SharingScope.ORGANIZATION,
        "Where identical files share results: in an `organization`, everywhere (`shared`) or not at all (`document`)",
        "MUNIMENT_ARTIFACT_SCOPE",
    )
    enable_artifacts: bool = setting(
        True, "`false` is the same as the scope `document`", "MUNIMENT_ENABLE_ARTIFACTS", "ENABLE_ARTIFACTS"
    )
    artifact_grace_days: float = setting(
        14.0,
        "Days after which unused results are deleted (a purge deletes them immediately)",
        "MUNIMENT_ARTIFACT_GRACE_DAYS",
    )

    @property
    def scope(self) -> SharingScope:
        return self.artifact_scope if self.enable_artifacts else SharingScope.DOCUMENT


class QuotaSettings(SettingsSection):
    """Quotas of each organization. 0 is unlimited"""

    max_bytes: int = setting(0, "Maximum size of all stored files of an organization", "MUNIMENT_QUOTA_BYTES")
    max_documents: int = setting(0, "Maximum number of documents of an organization", "MUNIMENT_QUOTA_DOCUMENTS")
    max_queued_runs: int = setting(
        0, "Maximum number of documents of an organization that wait to be processed", "MUNIMENT_QUOTA_QUEUED_RUNS"
    )

    @field_validator("max_bytes", "max_documents", "max_queued_runs")
    @classmethod
    def _not_negative(cls, value: int) -> int:
        if value < 0:
            raise ValueError("must be 0 (unlimited) or more")
        return value


class ReaderSettings(SettingsSection):
    """Text extraction and its limits"""

    ocr_languages: str = setting(
        # In this order English is recognized just as well, and umlauts are correct.
        "deu+eng",
        "OCR languages as Tesseract names them, most important first",
        "MUNIMENT_OCR_LANGUAGES",
    )
    ocr_dpi: int = setting(200, "Resolution of pages for OCR, 70 to 600", "MUNIMENT_OCR_DPI")
    max_pages: int = setting(3000, "Maximum number of pages of a document", "MUNIMENT_READER_MAX_PAGES")
    max_paragraphs: int = setting(
        250_000, "Maximum number of paragraphs of a document", "MUNIMENT_READER_MAX_PARAGRAPHS"
    )
    max_characters: int = setting(
        50_000_000, "Maximum number of characters of a document", "MUNIMENT_READER_MAX_CHARACTERS"
    )
    max_rows: int = setting(
        300_000,
        "Maximum number of pages, paragraphs and figures of a document together",
        "MUNIMENT_READER_MAX_ROWS",
    )
    max_expansion: int = setting(
        200,
        "How many times as large as the file its content may be. Contents of a few megabytes are always allowed",
        "MUNIMENT_READER_MAX_EXPANSION",
    )
    memory_bytes: int = setting(2 << 30, "Memory limit for processing one document", "MUNIMENT_READER_MEMORY_BYTES")

    @property
    def languages(self) -> tuple[str, ...]:
        """Names of the OCR languages, most important first."""
        return tuple(filter(None, self.ocr_languages.split("+")))

    @field_validator("ocr_dpi")
    @classmethod
    def _resolution_in_range(cls, value: int) -> int:
        if not 70 <= value <= 600:
            raise ValueError("must be between 70 and 600")
        return value

    @field_validator("max_pages", "max_paragraphs", "max_characters", "max_rows", "max_expansion", "memory_bytes")
    @classmethod
    def _at_least_one(cls, value: int) -> int:
        if value < 1:
            raise ValueError("must be at least 1")
        return value

    stall_timeout: Duration = setting(
        timedelta(minutes=2),
        "Processing is stopped if no page is completed within this time",
        "MUNIMENT_READER_STALL_TIMEOUT",
    )
    timeout: Duration = setting(
        timedelta(hours=4),
        "Time a worker spends on one document at a time. One that is not finished then continues later",
        "MUNIMENT_READER_TIMEOUT",
    )


class WorkerSettings(SettingsSection):
    """Background processing"""

    concurrency: int = setting(
        2,
        "Documents one worker processes at the same time",
        "MUNIMENT_WORKER_CONCURRENCY",
    )
    heartbeat: Duration = setting(
        timedelta(seconds=5), "Interval between worker heartbeats", "MUNIMENT_WORKER_HEARTBEAT"
    )
    stalled_after: Duration = setting(
        timedelta(seconds=30),
        "Time without a heartbeat after which a worker's runs are taken over",
        "MUNIMENT_WORKER_STALLED_AFTER",
    )
    metrics_port: int | None = setting(
        None, "Port on localhost for the worker's metrics", "MUNIMENT_WORKER_METRICS_PORT"
    )


class SearchSettings(SettingsSection):
    """Search"""

    embeddings_url: str | None = setting(
        None,
        "Base address of an OpenAI-compatible embedding service. Without it, the bundled model is used",
        "MUNIMENT_EMBEDDINGS_URL",
    )
    embeddings_model: str | None = setting(None, "Model of the embedding service", "MUNIMENT_EMBEDDINGS_MODEL")
    embeddings_dimensions: int = setting(1536, "Vector dimensions of that model", "MUNIMENT_EMBEDDINGS_DIMENSIONS")
    embeddings_api_key: SecretStr | None = setting(
        None, "API key of the embedding service", "MUNIMENT_EMBEDDINGS_API_KEY"
    )
    embeddings_batch: int = setting(32, "Passages per request to the embedding service", "MUNIMENT_EMBEDDINGS_BATCH")
    embeddings_timeout: Duration = setting(
        timedelta(seconds=30), "Timeout of a request to the embedding service", "MUNIMENT_EMBEDDINGS_TIMEOUT"
    )
    audit_queries: bool = setting(False, "Record search queries in the audit log", "MUNIMENT_AUDIT_QUERIES")
    qdrant_url: str | None = setting(
        None,
        "Address of a Qdrant server. Without it, PostgreSQL is used for search",
        "MUNIMENT_QDRANT_URL",
        "QDRANT_URL",
    )
    qdrant_api_key: SecretStr | None = setting(
        None,
        "API key of the Qdrant server",
        "MUNIMENT_QDRANT_API_KEY",
        "QDRANT_API_KEY",
    )


class AuditSettings(SettingsSection):
    """Audit log"""

    signing_key: SecretStr | None = setting(
        None,
        "Ed25519 key that signs audit log and receipts (32 bytes in base64, or PEM). See `muniment audit rotate-key`",
        "MUNIMENT_SIGNING_KEY",
        generated=True,
    )
