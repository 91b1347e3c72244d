"""Random strings that prove something, and their hashes. The strings are shown once and never stored."""

import hashlib
import secrets

TOKEN_PREFIX = "mun_"  # noqa: S105  # not a secret: it lets people and scanners recognise one


def new_secret() -> str:
    """256 bits, so that a plain hash is enough: there is nothing to guess."""
    return secrets.token_urlsafe(32)


def new_api_token() -> str:
    return TOKEN_PREFIX + new_secret()


def digest(secret: str) -> bytes:
    return hashlib.sha256(secret.encode()).digest()
