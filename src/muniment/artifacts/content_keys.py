"""The identity of bytes: HMAC-SHA256 under a server secret, with the key's id in front (DESIGN §2, §8).

A plain SHA-256 would let anybody who holds a file ask whether we hold it too. The key never leaves the server.
"""

import hashlib
import hmac
from enum import StrEnum
from uuid import UUID


class Scope(StrEnum):
    """Who shares what was derived from the same bytes."""

    ORGANIZATION = "organization"
    SHARED = "shared"
    DOCUMENT = "document"


class ContentHash:
    """Computed while the bytes pass by."""

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


class ContentKeys:
    """Derives one key per scope from the one secret, so that equal bytes of two scopes have nothing in common."""

    def __init__(self, secret: str, scope: Scope) -> None:
        self._secret = secret.encode()
        self._scope = scope
        # Names the secret without telling it, so that a second secret can come beside the first one day.
        self.key_id = self._derive("key id").hex()[:8]

    def new_hash(self, *, organization_id: UUID, document_id: UUID) -> ContentHash:
        within = {
            Scope.ORGANIZATION: f"organization {organization_id}",
            Scope.SHARED: "shared",
            Scope.DOCUMENT: f"document {document_id}",
        }[self._scope]
        return ContentHash(self.key_id, self._derive(f"content key: {within}"))

    def _derive(self, purpose: str) -> bytes:
        return hmac.digest(self._secret, purpose.encode(), hashlib.sha256)
