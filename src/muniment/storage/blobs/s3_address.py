"""Where a bucket is, and with which keys."""

from dataclasses import dataclass, field


@dataclass(frozen=True)
class S3Address:
    """Without an endpoint it is Amazon's; without keys, those of the machine's role are used."""

    bucket: str
    endpoint: str | None
    region: str
    access_key_id: str | None
    secret_access_key: str | None = field(repr=False)
    server_side_encryption: str | None = None
