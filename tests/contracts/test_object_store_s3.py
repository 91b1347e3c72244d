"""Promises of the S3 store beyond the contract: it fails soon and clearly, and obeys its settings."""

import asyncio
import socket
import sys
import time
from collections.abc import Iterator
from datetime import timedelta
from email.message import Message
from pathlib import Path
from urllib.request import urlopen

import pytest
from obstore import sign_async

from muniment.errors import Unavailable
from muniment.storage.objects.port import ObjectStore
from muniment.storage.objects.s3.connection import S3Address
from muniment.storage.objects.s3.store import S3ObjectStore
from tests.contracts.conftest import connect
from tests.support.seaweedfs import SeaweedFS

MIB = 1024 * 1024


async def write(objects: ObjectStore) -> None:
    async with objects.writer("a/x") as writer:
        await writer.write(bytes(6 * MIB))


def headers_of(address: str) -> Message:
    with urlopen(address) as response:
        headers: Message = response.headers
        return headers


@pytest.fixture
def refusing_address() -> Iterator[str]:
    """An address that refuses connections: the port is bound, but not listening."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        yield f"http://127.0.0.1:{taken.getsockname()[1]}"


@pytest.fixture
def unresponsive_address() -> Iterator[str]:
    """An address that accepts connections and never responds."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        yield f"http://127.0.0.1:{silent.getsockname()[1]}"


async def test_server_that_is_down_is_unavailable_soon(refusing_address: str) -> None:
    objects = S3ObjectStore(S3Address("documents", refusing_address, "us-east-1", "key", "secret"))
    started = time.monotonic()

    answers = await asyncio.gather(
        write(objects),
        objects.put("a/x", b"bytes"),
        objects.put_if_absent("a/x", b"bytes"),
        objects.get("a/x"),
        objects.size_bytes("a/x"),
        anext(objects.read("a/x", start=3)),
        objects.delete("a/x"),
        anext(objects.list()),
        return_exceptions=True,
    )

    assert [type(answer) for answer in answers] == [Unavailable] * 8
    assert time.monotonic() - started < 10


@pytest.mark.slow
async def test_server_that_is_deaf_is_unavailable_after_ten_seconds(unresponsive_address: str) -> None:
    objects = S3ObjectStore(S3Address("documents", unresponsive_address, "us-east-1", "key", "secret"))
    started = time.monotonic()

    answers = await asyncio.gather(
        objects.size_bytes("a/x"),
        objects.get("a/x"),
        objects.delete("a/x"),
        anext(objects.list()),
        objects.check(),
        return_exceptions=True,
    )

    assert [type(answer) for answer in answers] == [Unavailable] * 5
    assert time.monotonic() - started < 12


async def test_block_that_continues_after_a_failed_write_ends_with_an_error(refusing_address: str) -> None:
    objects = S3ObjectStore(S3Address("documents", refusing_address, "us-east-1", "key", "secret"))

    async def go_on() -> None:
        async with objects.writer("a/x") as writer:
            for size in (6 * MIB, MIB):  # the second is too small for a part of its own
                with pytest.raises(Unavailable):
                    await writer.write(bytes(size))

    with pytest.raises(Unavailable):
        await go_on()


async def test_check_says_that_the_server_is_unavailable(refusing_address: str) -> None:
    with pytest.raises(Unavailable, match=f"{refusing_address} is not responding. Check its address"):
        await S3ObjectStore(S3Address("documents", refusing_address, "us-east-1", "key", "secret")).check()


async def test_check_says_that_the_keys_are_refused(s3_server: SeaweedFS) -> None:
    with pytest.raises(Unavailable, match="rejected the access keys"):
        await connect(s3_server, secret_access_key="wrong").check()


async def test_missing_bucket_is_unavailable_and_check_says_so(s3_server: SeaweedFS) -> None:
    objects = connect(s3_server, bucket="nowhere")

    with pytest.raises(Unavailable):
        await objects.get("a/x")
    with pytest.raises(Unavailable, match="no bucket `nowhere`"):
        await objects.check()


async def test_store_that_lists_out_of_order_is_an_error_and_not_a_wrong_list(empty_s3_server: SeaweedFS) -> None:
    # SeaweedFS 4.48 lists folder by folder: `a/x` before `a-b/x`. Amazon orders by the whole key.
    objects = connect(empty_s3_server)
    await objects.put("a/x", b"bytes")
    await objects.put("a-b/x", b"bytes")

    async def list_all() -> list[str]:
        return [info.key async for info in objects.list()]

    [answer] = await asyncio.gather(list_all(), return_exceptions=True)

    assert answer == ["a-b/x", "a/x"] or (isinstance(answer, Unavailable) and "out of order" in answer.message)


async def test_given_endpoint_wins_over_the_environment(
    empty_s3_server: SeaweedFS, refusing_address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("AWS_ENDPOINT", "AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_S3"):
        monkeypatch.setenv(name, refusing_address)
    monkeypatch.setenv("AWS_VIRTUAL_HOSTED_STYLE_REQUEST", "true")

    await connect(empty_s3_server).check()


async def test_store_is_asked_to_encrypt(empty_s3_server: SeaweedFS) -> None:
    objects = connect(empty_s3_server, server_side_encryption="AES256")
    await objects.put("a/small", b"bytes")
    async with objects.writer("a/large") as writer:
        await writer.write(bytes(6 * MIB))

    for key in ("a/small", "a/large"):
        address = await sign_async(objects._client, "GET", key, timedelta(minutes=1))
        assert (await asyncio.to_thread(headers_of, address))["x-amz-server-side-encryption"] == "AES256"
    assert await objects.get("a/small") == b"bytes"


@pytest.mark.slow
async def test_process_that_closes_its_store_ends_well(refusing_address: str) -> None:
    program = Path(__file__).parent / "programs" / "ends_at_once.py"
    children = [await asyncio.create_subprocess_exec(sys.executable, program, refusing_address) for _ in range(8)]

    assert [await child.wait() for child in children] == [0] * 8
