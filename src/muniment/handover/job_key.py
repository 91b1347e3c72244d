"""Key of a hand-over job and of its two objects, the PDF and the sidecar (docs/contracts.md#job-keys)."""

import re
from dataclasses import dataclass
from uuid import UUID

PREFIX = "org/"
"""Prefix of all jobs. Other objects of a store, such as the lease, have other prefixes."""
PDF_SUFFIX = ".pdf"
SIDECAR_SUFFIX = ".meta.json"

_UUID = "[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"
_TYPE = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
_SHA256 = re.compile(r"[0-9a-f]{64}")
_KEY = re.compile(rf"org/({_UUID})/({_TYPE.pattern})/({_SHA256.pattern})(?:\.pdf|\.meta\.json)?")
_MAX_TYPE_LENGTH = 50


def is_sha256(text: str) -> bool:
    """Return whether the text is a SHA-256 in lower case, as in keys."""
    return _SHA256.fullmatch(text) is not None


def is_document_type(text: str) -> bool:
    """Return whether the text is a document type as in keys, sidecars and tags: in lower case, with hyphens."""
    return len(text) <= _MAX_TYPE_LENGTH and _TYPE.fullmatch(text) is not None


def to_hyphens(document_type: str) -> str:
    """Convert `care_plan`, as in the API and the database, to `care-plan`, as in keys, sidecars and tags."""
    return document_type.replace("_", "-")


def to_underscores(document_type: str) -> str:
    """Convert `care-plan`, as in keys, to `care_plan`, as in the API and the database."""
    return document_type.replace("-", "_")


@dataclass(frozen=True, order=True)
class JobKey:
    """Key of one job: a PDF and its sidecar. The same content of the same type in one organization is the same job."""

    organization_id: UUID
    document_type: str
    """With hyphens."""
    sha256: str

    def __post_init__(self) -> None:
        if not is_document_type(self.document_type):
            raise ValueError(f"not a document type: {self.document_type!r}")
        if not is_sha256(self.sha256):
            raise ValueError(f"not a SHA-256: {self.sha256!r}")

    @property
    def pdf(self) -> str:
        """Key of the PDF, which is also the id of the job."""
        return self._base + PDF_SUFFIX

    @property
    def sidecar(self) -> str:
        return self._base + SIDECAR_SUFFIX

    @property
    def content(self) -> tuple[UUID, str]:
        """Organization and SHA-256: jobs of several types that share them are one document in Paperless."""
        return self.organization_id, self.sha256

    @property
    def _base(self) -> str:
        return f"{PREFIX}{self.organization_id}/{self.document_type}/{self.sha256}"

    @classmethod
    def parse(cls, key: str) -> "JobKey | None":
        """Parse the key of a PDF or a sidecar, or one without a suffix. Return `None` for any other key."""
        found = _KEY.fullmatch(key)
        if found is None or not is_document_type(found[2]):
            return None
        return cls(UUID(found[1]), found[2], found[3])
