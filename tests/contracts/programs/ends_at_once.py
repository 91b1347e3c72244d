"""Call an unavailable S3 store and exit immediately afterwards."""

import asyncio
import sys

from muniment.errors import Unavailable
from muniment.storage.objects.s3.connection import S3Address
from muniment.storage.objects.s3.store import S3ObjectStore


async def main() -> None:
    objects = S3ObjectStore(S3Address("documents", sys.argv[1], "us-east-1", "key", "secret"))
    try:
        await objects.size_bytes("a/x")
    except Unavailable:
        await objects.close()


asyncio.run(main())
