"""Asks an S3 store that is not there and ends right after."""

import asyncio
import sys

from muniment.errors import Unavailable
from muniment.storage.blobs.s3 import S3Blobs
from muniment.storage.blobs.s3_address import S3Address


async def main() -> None:
    blobs = S3Blobs(S3Address("documents", sys.argv[1], "us-east-1", "key", "secret"))
    try:
        await blobs.size_bytes("a/x")
    except Unavailable:
        await blobs.close()


asyncio.run(main())
