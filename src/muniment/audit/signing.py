"""Sign with the key of this installation. Anyone with the public key can verify the signatures."""

import base64
import binascii
import hashlib
from pathlib import Path

from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import load_pem_private_key

from muniment.errors import MunimentError

SEED_BYTES = 32


class InvalidSigningKey(MunimentError):
    """MUNIMENT_SIGNING_KEY is not an Ed25519 key. Use 32 bytes in base64, or PEM without a password"""

    code = "UnfitSigningKey"


class Signer:
    """Signs with Ed25519. The private key is not exposed."""

    key_id: str
    """Id of the public key: the same key has the same id everywhere."""
    public_key: bytes

    def __init__(self, key: Ed25519PrivateKey) -> None:
        self._key = key
        self.public_key = key.public_key().public_bytes_raw()
        self.key_id = key_id_of(self.public_key)

    @classmethod
    def from_text(cls, text: str) -> "Signer":
        """Parse a setting: the seed in base64 or base64url, or a PEM file with an Ed25519 private key."""
        return cls(_parse_key(text))

    def current(self) -> "Signer":
        """Return the signer to use for everything that has to carry the same key."""
        return self

    def sign(self, message: bytes) -> bytes:
        return self._key.sign(message)


class KeyFileSigner(Signer):
    """Signs with the key in a file. A key that replaces it there is used from then on, without a restart."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._version = _read_version(path)
        self._load()

    def current(self) -> Signer:
        if (version := _read_version(self._path)) not in (None, self._version):
            self._version = version
            self._load()
        return self._current

    def _load(self) -> None:
        key = _parse_key(self._path.read_text(encoding="utf-8"))
        self._current = Signer(key)
        super().__init__(key)


def _parse_key(text: str) -> Ed25519PrivateKey:
    return _from_pem(text) if "-----BEGIN" in text else _from_seed(text)


def _read_version(path: Path) -> tuple[int, int] | None:
    """Return what changes when the file is replaced, or `None` while it cannot be read."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_ino, found.st_mtime_ns


def key_id_of(public_key: bytes) -> str:
    return hashlib.sha256(public_key).hexdigest()[:32]


def verify(public_key: bytes, message: bytes, signature: bytes) -> bool:
    """Whether the owner of this key signed exactly this message. Malformed keys and signatures return False."""
    try:
        Ed25519PublicKey.from_public_bytes(public_key).verify(signature, message)
    except (InvalidSignature, ValueError):
        return False
    return True


def _from_seed(text: str) -> Ed25519PrivateKey:
    unpadded = "".join(text.split()).replace("-", "+").replace("_", "/").rstrip("=")
    try:
        seed = base64.b64decode(unpadded + "=" * (-len(unpadded) % 4), validate=True)
    except binascii.Error:
        raise InvalidSigningKey from None
    if len(seed) != SEED_BYTES:
        raise InvalidSigningKey
    return Ed25519PrivateKey.from_private_bytes(seed)


def _from_pem(text: str) -> Ed25519PrivateKey:
    try:
        # In environment files line breaks are written as `\n`.
        key = load_pem_private_key(text.replace("\\n", "\n").strip().encode(), password=None)
    except (ValueError, TypeError, UnsupportedAlgorithm):
        raise InvalidSigningKey from None
    if not isinstance(key, Ed25519PrivateKey):
        raise InvalidSigningKey
    return key
