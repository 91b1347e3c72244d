"""How long we wait for an S3 store, how often we ask again, and what its errors mean to us."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import TYPE_CHECKING

from obstore.exceptions import BaseError
from obstore.store import S3Store

from muniment.errors import Unavailable
from muniment.storage.blobs.port import BlobNotFound
from muniment.storage.blobs.s3_address import S3Address

if TYPE_CHECKING:  # obstore has these names for type checkers only
    from obstore.store import RetryConfig, S3Config

NO_SUCH_BUCKET = "NoSuchBucket"

_RETRY: "RetryConfig" = {
    "max_retries": 3,
    "retry_timeout": timedelta(seconds=5),
    "backoff": {"init_backoff": timedelta(milliseconds=100), "max_backoff": timedelta(seconds=1), "base": 2},
}


def connect(address: S3Address) -> S3Store:
    config: S3Config = {
        "region": address.region,
        "virtual_hosted_style_request": False,
        "disable_bulk_delete": True,  # not every store has it, and we delete one by one
    }
    if (endpoint := address.endpoint) is not None:
        # obstore reads the environment too, where the second name would win over the first.
        config |= {"endpoint": endpoint, "aws_endpoint_url_s3": endpoint}
    if address.access_key_id is not None and address.secret_access_key is not None:
        config |= {"access_key_id": address.access_key_id, "secret_access_key": address.secret_access_key}
    if address.server_side_encryption is not None:
        config["server_side_encryption"] = address.server_side_encryption
    return S3Store(
        address.bucket,
        config=config,
        retry_config=_RETRY,
        client_options={
            "allow_http": endpoint is not None and endpoint.startswith("http://"),
            "connect_timeout": timedelta(seconds=3),
            # Sending a part counts as waiting for the answer to it: a slow line must have the time for 5 MiB.
            "read_timeout": timedelta(seconds=30),
            # Counts until the last byte of a download, which a slow reader may take hours for.
            "timeout": timedelta(days=1),
        },
    )


@asynccontextmanager
async def answered(*, within_seconds: float | None = 10) -> AsyncIterator[None]:
    """Turn what obstore raises into our errors. `None` is for calls that carry bytes: the connection limits those."""
    try:
        async with asyncio.timeout(within_seconds):
            yield
    except (BaseError, OSError) as error:
        # A HEAD has no body that could name the bucket: there a missing bucket looks like a missing object.
        if isinstance(error, FileNotFoundError) and NO_SUCH_BUCKET not in str(error):
            raise BlobNotFound from None
        raise Unavailable("The document store does not answer; try again shortly") from error
