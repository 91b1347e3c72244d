"""Connection to an S3 store: address, client, timeouts, error translation and multipart uploads."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING

from obstore import open_writer_async
from obstore.exceptions import BaseError
from obstore.store import S3Store

from muniment.errors import Unavailable
from muniment.storage.objects.async_io import BufferedWriter, run_to_completion
from muniment.storage.objects.port import ObjectNotFound, ObjectWriter

if TYPE_CHECKING:  # obstore has these names for type checkers only
    from obstore import AsyncWritableFile, Attributes
    from obstore.store import RetryConfig, S3Config

NO_SUCH_BUCKET = "NoSuchBucket"
_PART_BYTES = 5 * 1024 * 1024  # the smallest part that S3 allows
_RETRY_CONFIG: "RetryConfig" = {
    "max_retries": 3,
    "retry_timeout": timedelta(seconds=5),
    "backoff": {"init_backoff": timedelta(milliseconds=100), "max_backoff": timedelta(seconds=1), "base": 2},
}


@dataclass(frozen=True)
class S3Address:
    """Address and keys of a bucket. Without an endpoint it is on Amazon; without keys the machine's role is used."""

    bucket: str
    endpoint: str | None
    region: str
    access_key_id: str | None
    secret_access_key: str | None = field(repr=False)
    server_side_encryption: str | None = None


def build_s3_client(address: S3Address) -> S3Store:
    """Return a client of the bucket that retries briefly and gives up on an unresponsive server."""
    config: S3Config = {
        "region": address.region,
        "virtual_hosted_style_request": False,
        "disable_bulk_delete": True,  # not every store supports it, and we delete one by one
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
        retry_config=_RETRY_CONFIG,
        client_options={
            "allow_http": endpoint is not None and endpoint.startswith("http://"),
            "connect_timeout": timedelta(seconds=3),
            # Sending a part counts as waiting for its response: a slow connection must have time for 5 MiB.
            "read_timeout": timedelta(seconds=30),
            # Counts until the last byte of a download, which a slow reader may take hours for.
            "timeout": timedelta(days=1),
        },
    )


@asynccontextmanager
async def translate_s3_errors(*, timeout_seconds: float | None = 10) -> AsyncIterator[None]:
    """Translate the errors of obstore. Calls that transfer content need no timeout here: the client has its own."""
    try:
        async with asyncio.timeout(timeout_seconds):
            yield
    except (BaseError, OSError) as error:
        # A HEAD has no body that could name the bucket: there a missing bucket looks like a missing object.
        if isinstance(error, FileNotFoundError) and NO_SUCH_BUCKET not in str(error):
            raise ObjectNotFound from None
        raise Unavailable("The document store is not responding. Try again shortly") from error


def content_type_attributes(content_type: str | None) -> "Attributes | None":
    """Return the attributes of an object with this content type."""
    return None if content_type is None else {"Content-Type": content_type}


@asynccontextmanager
async def open_upload(store: S3Store, key: str, *, content_type: str | None = None) -> AsyncIterator[ObjectWriter]:
    """Upload an object in parts. It becomes visible when the block ends; an error in the block aborts the upload."""
    attributes = content_type_attributes(content_type)
    # One part at a time, so that `_abort` can wait for it.
    file = open_writer_async(store, key, attributes=attributes, buffer_size=_PART_BYTES, max_concurrency=1)

    async def send(chunk: bytearray) -> None:
        async with translate_s3_errors(timeout_seconds=None):
            try:
                # If a cancellation dropped the request that starts the upload, its id would be lost with it.
                await run_to_completion(file.write(chunk))
            except BaseException as error:
                await run_to_completion(_abort(file, error))  # so that a block that ignores the error still fails
                raise

    writer = BufferedWriter(send)
    try:
        yield writer
        await writer.flush()
    except BaseException as error:
        await run_to_completion(_abort(file, error))
        raise
    async with translate_s3_errors(timeout_seconds=None):
        await run_to_completion(file.close())


async def _abort(file: "AsyncWritableFile", error: BaseException) -> None:
    # If the store does not respond, a rule of the bucket deletes the parts later. The original error matters more.
    with suppress(BaseError, OSError):
        # Any write, even an empty one, first waits for the part in flight: one that arrives after the abort would stay.
        await file.write(b"")
    with suppress(BaseError, OSError):
        # obstore aborts an upload only when its block ends with an error.
        await file.__aexit__(type(error), error, error.__traceback__)
