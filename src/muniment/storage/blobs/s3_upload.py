"""One object on its way into a bucket: a single request if it is small, a multipart upload if it is not."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING

from obstore import open_writer_async
from obstore.exceptions import BaseError
from obstore.store import S3Store

from muniment.storage.blobs.gathering import GatheringWriter
from muniment.storage.blobs.port import BlobWriter
from muniment.storage.blobs.s3_connection import answered
from muniment.storage.blobs.uninterrupted import to_the_end

if TYPE_CHECKING:  # obstore has these names for type checkers only
    from obstore import AsyncWritableFile, Attributes

_PART_BYTES = 5 * 1024 * 1024  # the least that S3 allows


@asynccontextmanager
async def uploading(store: S3Store, key: str, *, content_type: str | None = None) -> AsyncIterator[BlobWriter]:
    """The object appears when the block ends; when it raises, the upload is aborted."""
    # One part at a time, so that `_abort` can wait for it.
    attributes: Attributes | None = None if content_type is None else {"Content-Type": content_type}
    file = open_writer_async(store, key, attributes=attributes, buffer_size=_PART_BYTES, max_concurrency=1)

    async def send(piece: bytearray) -> None:
        async with answered(within_seconds=None):
            try:
                # If a cancellation dropped the request that opens the upload, nobody would know what to abort.
                await to_the_end(file.write(piece))
            except BaseException as error:
                await to_the_end(_abort(file, error))  # so that a block which goes on cannot end well
                raise

    writer = GatheringWriter(send)
    try:
        yield writer
        await writer.flush()
    except BaseException as error:
        await to_the_end(_abort(file, error))
        raise
    async with answered(within_seconds=None):
        await to_the_end(file.close())


async def _abort(file: "AsyncWritableFile", error: BaseException) -> None:
    # If the store cannot even be told, it forgets the parts by the rule of its bucket, and the error that brought us
    # here matters more.
    with suppress(BaseError, OSError):
        # Any write, even of nothing, first waits for the part in flight: one that arrived after the abort would stay.
        await file.write(b"")
    with suppress(BaseError, OSError):
        # To leave its block with an error is the one way in which obstore aborts.
        await file.__aexit__(type(error), error, error.__traceback__)
