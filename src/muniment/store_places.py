"""Where the bytes of a store lie: a bucket, or a folder that must not come back empty."""

from pathlib import Path

from pydantic import SecretStr

from muniment.errors import Unavailable
from muniment.settings import S3Settings
from muniment.storage.blobs.s3_address import S3Address


def revealed(value: SecretStr | None) -> str | None:
    return value.get_secret_value() if value else None


def address_of(s3: S3Settings, bucket: str) -> S3Address:
    return S3Address(
        bucket,
        s3.endpoint,
        s3.region,
        s3.access_key_id,
        revealed(s3.secret_access_key),
        s3.server_side_encryption,
    )


class MadeFolder:
    """Below the data directory, made once. Two marks tell whether it was: a disk that is not mounted leaves an empty
    folder in its place, which lacks the inner one."""

    def __init__(self, data_dir: Path, name: str) -> None:
        self.root = data_dir / name
        self._outer, self._inner = data_dir / f"{name}.made", self.root / ".made"

    def require(self, gone: Unavailable) -> None:
        if self._outer.exists() and not self._inner.exists():
            raise gone

    def mark(self) -> None:
        for mark in (self._inner, self._outer):
            mark.touch(mode=0o600)
