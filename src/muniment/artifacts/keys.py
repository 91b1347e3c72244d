"""What identifies an artifact: the content key (an HMAC of the original bytes) and the variant, which
identifies how they were processed.

A plain SHA-256 would let anyone who has a file test whether it is stored here. The HMAC secret never leaves the server.
"""

import hashlib
import hmac
import json
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any
from uuid import UUID


class SharingScope(StrEnum):
    """Who shares artifacts of the same bytes."""

    ORGANIZATION = "organization"
    SHARED = "shared"
    DOCUMENT = "document"


class ContentHasher:
    """Computes the content key while the bytes are streamed."""

    def __init__(self, key_id: str, key: bytes) -> None:
        self._key_id = key_id
        self._hmac = hmac.new(key, digestmod=hashlib.sha256)
        self._sha256 = hashlib.sha256()

    def update(self, chunk: bytes) -> None:
        self._hmac.update(chunk)
        self._sha256.update(chunk)

    @property
    def content_key(self) -> str:
        return f"{self._key_id}:{self._hmac.hexdigest()}"

    @property
    def sha256(self) -> str:
        return self._sha256.hexdigest()


class ContentKeyFactory:
    """Derives one key per scope from the secret, so that equal bytes have unrelated content keys in two scopes."""

    def __init__(self, secret: str, scope: SharingScope) -> None:
        self._secret = secret.encode()
        self._scope = scope
        # Identifies the secret without revealing it, so that a second secret can be added later.
        self.key_id = self._derive("key id").hex()[:8]

    def new_hasher(self, *, organization_id: UUID, document_id: UUID) -> ContentHasher:
        within = {
            SharingScope.ORGANIZATION: f"organization {organization_id}",
            SharingScope.SHARED: "shared",
            SharingScope.DOCUMENT: f"document {document_id}",
        }[self._scope]
        return ContentHasher(self.key_id, self._derive(f"content key: {within}"))

    def _derive(self, purpose: str) -> bytes:
        return hmac.digest(self._secret, purpose.encode(), hashlib.sha256)


READING_VERSION = 1
"""Raised when our own code reads differently; everything else that changes a result goes into the fingerprint."""


@dataclass(frozen=True)
class ReadingVariant:
    algorithm_version: int
    params_fingerprint: str


def fingerprint(parameters: Mapping[str, Any]) -> str:
    """Hash parameters; equal ones give the same fingerprint in any order and on any machine."""
    canonical = json.dumps(parameters, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)
    return hashlib.sha256(canonical.encode()).hexdigest()


def reading_variant(parameters: Mapping[str, Any]) -> ReadingVariant:
    """Return the variant of a reading with these parameters: versions of the readers and their options."""
    return ReadingVariant(READING_VERSION, fingerprint({"reading": parameters}))
