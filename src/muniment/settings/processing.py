"""Settings of documents, reading, workers, search and the audit trail."""

from datetime import timedelta

from pydantic import SecretStr, field_validator

from muniment.artifacts.keys import Scope
from muniment.settings.fields import Duration, Section, setting


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
