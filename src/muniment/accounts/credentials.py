"""Email keys, password hashing, and random secrets with their digests. Secrets are shown once and never stored."""

import asyncio
import hashlib
import re
import secrets
import unicodedata

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

from muniment.errors import Invalid

# Deliberately permissive: `admin@localhost` is a valid address on one machine, and only an email proves an address.
EMAIL_PATTERN = re.compile(r"[^@\s\x00-\x1f\x7f]+@[^@\s\x00-\x1f\x7f]+")


class InvalidEmail(Invalid):
    """Invalid email address"""


def clean_email(raw: str) -> str:
    email = unicodedata.normalize("NFC", raw.strip())
    if len(email) > 254 or not EMAIL_PATTERN.fullmatch(email):
        raise InvalidEmail
    return email


def email_key(email: str) -> str:
    """Return the key by which an account is found, ignoring upper and lower case."""
    return unicodedata.normalize("NFC", email.strip()).casefold()


MIN_PASSWORD_LENGTH = 8


MAX_PASSWORD_LENGTH = 1024


class InvalidPassword(Invalid):
    """Use 8 to 1,024 characters for the password"""

    code = "UnfitPassword"


class Passwords:
    """Argon2 hashing, at most two at a time: each needs tens of MiB, and many sign-ins must not exhaust the memory."""

    def __init__(self, hasher: PasswordHasher | None = None) -> None:
        self._hasher = hasher or PasswordHasher()
        self._slots = asyncio.Semaphore(2)
        # Verified when there is no such account, so that response times do not reveal who has one.
        self._dummy_hash = self._hasher.hash("nobody has this password")

    async def hash(self, password: str) -> str:
        require_valid_password(password)
        async with self._slots:
            return await asyncio.to_thread(self._hasher.hash, password)

    async def verify(self, stored: str | None, password: str) -> bool:
        async with self._slots:
            matches = await asyncio.to_thread(self._matches, stored or self._dummy_hash, password[:MAX_PASSWORD_LENGTH])
        return matches and stored is not None

    def hash_sync(self, password: str) -> str:
        """Hash a password without an event loop, for the first account."""
        return self._hasher.hash(password)

    def _matches(self, stored: str, password: str) -> bool:
        try:
            return self._hasher.verify(stored, password)
        except (VerificationError, InvalidHashError):
            return False


def require_valid_password(password: str) -> None:
    if not MIN_PASSWORD_LENGTH <= len(password) <= MAX_PASSWORD_LENGTH:
        raise InvalidPassword


TOKEN_PREFIX = "mun_"  # noqa: S105  # not a secret: it lets people and scanners recognise one


def new_secret() -> str:
    """Return a random secret of 256 bits. It cannot be guessed, so a plain hash is enough to store it."""
    return secrets.token_urlsafe(32)


def new_api_token() -> str:
    return TOKEN_PREFIX + new_secret()


def digest(secret: str) -> bytes:
    return hashlib.sha256(secret.encode()).digest()
