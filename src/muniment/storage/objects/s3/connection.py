"""Connection to an S3 store: address, client, timeouts, error translation and multipart uploads."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING

from obstore.exceptions import BaseError
from obstore.store import S3Store

from muniment.errors import Unavailable
from muniment.storage.objects.port import ObjectNotFound

if TYPE_CHECKING:  # obstore has these names for type checkers only
    from obstore.store import RetryConfig, S3Config
from contextlib import suppress

from obstore import open_writer_async

from muniment.storage.objects.async_io import BufferedWriter, run_to_completion
from muniment.storage.objects.port import ObjectWriter

if TYPE_CHECKING:  # obstore has these names for type checkers only
    from obstore import AsyncWritableFile, Attributes


@dataclass(frozen=True)
class S3Address:
    """Without an endpoint it is Amazon's; without keys, those of the machine's role are used."""

    bucket: str
    endpoint: str | None
    region: str
    access_key_id: str | None
    secret_access_key: str | None = field(repr=False)
    server_side_encryption: str | None = None


NO_SUCH_BUCKET = "NoSuchBucket"


_RETRY_CONFIG: "RetryConfig" = {
    "max_retries": 3,
    "retry_timeout": timedelta(seconds=5),
    "backoff": {"init_backoff": timedelta(milliseconds=100), "max_backoff": timedelta(seconds=1), "base": 2},
}


def build_s3_client(address: S3Address) -> S3Store:
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
        retry_config=_RETRY_CONFIG,
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
async def translate_s3_errors(*, timeout_seconds: float | None = 10) -> AsyncIterator[None]:
    """Turn what obstore raises into our errors. `None` is for calls that carry bytes: the connection limits those."""
    try:
        async with asyncio.timeout(timeout_seconds):
            yield
    except (BaseError, OSError) as error:
        # A HEAD has no body that could name the bucket: there a missing bucket looks like a missing object.
        if isinstance(error, FileNotFoundError) and NO_SUCH_BUCKET not in str(error):
            raise ObjectNotFound from None
        raise Unavailable("The document store is not responding. Try again shortly") from error


_PART_BYTES = 5 * 1024 * 1024  # the least that S3 allows


@asynccontextmanager
async def open_upload(store: S3Store, key: str, *, content_type: str | None = None) -> AsyncIterator[ObjectWriter]:
    """The object appears when the block ends; when it raises, the upload is aborted."""
    # One part at a time, so that `_abort` can wait for it.
    attributes: Attributes | None = None if content_type is None else {"Content-Type": content_type}
    file = open_writer_async(store, key, attributes=attributes, buffer_size=_PART_BYTES, max_concurrency=1)

    async def send(piece: bytearray) -> None:
        async with translate_s3_errors(timeout_seconds=None):
            try:
                # If a cancellation dropped the request that opens the upload, nobody would know what to abort.
                await run_to_completion(file.write(piece))
            except BaseException as error:
                await run_to_completion(_abort(file, error))  # so that a block which goes on cannot end well
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
    # If the store cannot even be told, it forgets the parts by the rule of its bucket, and the error that brought us
    # here matters more.
    with suppress(BaseError, OSError):
        # Any write, even of nothing, first waits for the part in flight: one that arrived after the abort would stay.
        await file.write(b"")
    with suppress(BaseError, OSError):
        # To leave its block with an error is the one way in which obstore aborts.
        await file.__aexit__(type(error), error, error.__traceback__)
