"""The original, byte for byte."""

from dataclasses import dataclass

import httpx
import pytest
from structlog.testing import capture_logs

from muniment.telemetry.metrics import REGISTRY
from tests.documents.uploads import KB, a_pdf
from tests.support.live_api import RunningApi
from tests.support.seed import Seed

CONTENT = a_pdf()
SIZE = len(CONTENT)


@dataclass(frozen=True)
class Stored:
    path: str
    key: str
    client: httpx.AsyncClient

    async def get(self, **headers: str) -> httpx.Response:
        return await self.client.get(
            self.path, headers={name.replace("_", "-"): value for name, value in headers.items()}
        )


@pytest.fixture
async def stored(kb: KB) -> Stored:
    document_id = (await kb.upload(CONTENT)).json()["id"]
    return Stored(f"{kb.path}/{document_id}/download", f"{kb.id}/{document_id}/1/original", kb.client)


async def test_whole_file_is_an_attachment_of_its_type(stored: Stored) -> None:
    answer = await stored.get()

    assert (answer.status_code, answer.content) == (200, CONTENT)
    assert answer.headers["Content-Type"] == "application/pdf"
    assert answer.headers["Content-Length"] == str(SIZE)
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    assert answer.headers["Accept-Ranges"] == "bytes"
    assert answer.headers["Content-Disposition"].startswith('attachment; filename="report.pdf"')
    assert "Content-Range" not in answer.headers


@pytest.mark.parametrize(
    ("asked", "start", "end"),
    [
        ("bytes=0-0", 0, 1),
        ("bytes=10-19", 10, 20),
        ("bytes=100-", 100, SIZE),
        ("bytes=-7", SIZE - 7, SIZE),
        (f"bytes=5-{SIZE * 2}", 5, SIZE),
        (f"bytes=-{SIZE * 2}", 0, SIZE),
    ],
)
async def test_range_is_cut_out(stored: Stored, asked: str, start: int, end: int) -> None:
    answer = await stored.get(Range=asked)

    assert (answer.status_code, answer.content) == (206, CONTENT[start:end])
    assert answer.headers["Content-Range"] == f"bytes {start}-{end - 1}/{SIZE}"
    assert answer.headers["Content-Length"] == str(end - start)


@pytest.mark.parametrize("asked", [f"bytes={SIZE}-", "bytes=-0", f"bytes={'9' * 5000}-"])
async def test_range_beyond_the_file_is_416_with_its_size(stored: Stored, asked: str) -> None:
    answer = await stored.get(Range=asked)

    assert (answer.status_code, answer.headers["Content-Range"]) == (416, f"bytes */{SIZE}")
    assert str(SIZE) in answer.json()["detail"]


@pytest.mark.parametrize("asked", ["bytes=5-2", "bytes=x-y", "lines=1-2", "bytes=0-1,4-5", "bytes"])
async def test_range_that_is_not_understood_gives_the_whole_file(stored: Stored, asked: str) -> None:
    answer = await stored.get(Range=asked)

    assert (answer.status_code, answer.content) == (200, CONTENT)


async def test_range_holds_only_if_the_file_is_still_the_same(stored: Stored) -> None:
    tag = (await stored.get()).headers["ETag"]

    same = await stored.get(Range="bytes=0-3", If_Range=tag)
    other = await stored.get(Range="bytes=0-3", If_Range='"another"')
    weak = await stored.get(Range="bytes=0-3", If_Range=f"W/{tag}")

    assert [answer.status_code for answer in (same, other, weak)] == [206, 200, 200]
    assert same.content == CONTENT[:4]
    assert other.content == CONTENT


async def test_web_page_is_never_rendered(kb: KB) -> None:
    page = b"<!doctype html><script>alert(1)</script>"
    body = (await kb.upload(page, "page.html")).json()

    answer = await kb.client.get(f"{kb.path}/{body['id']}/download")

    assert answer.content == page
    assert answer.headers["Content-Disposition"].startswith("attachment; ")
    assert answer.headers["X-Content-Type-Options"] == "nosniff"


async def test_no_charset_is_claimed_that_nobody_knows(kb: KB) -> None:
    body = (await kb.upload("Größe".encode("latin-1"), "note.txt")).json()

    answer = await kb.client.get(f"{kb.path}/{body['id']}/download")

    assert answer.headers["Content-Type"] == "text/plain"
    assert answer.content == "Größe".encode("latin-1")


@pytest.mark.parametrize("asked", ["", "bytes=0-3"])
async def test_missing_object_is_a_clear_error(api: RunningApi, stored: Stored, asked: str) -> None:
    await api.stores.objects.delete(stored.key)

    answer = await stored.get(**({"Range": asked} if asked else {}))

    # Not a 404: a row without its bytes is a data loss, and alerts on 5xx must notice it.
    assert answer.status_code == 500
    assert answer.json()["detail"].startswith("The stored file is missing")


def flip(content: bytes, at: int) -> bytes:
    changed = bytearray(content)
    changed[at] ^= 1
    return bytes(changed)


DAMAGED = {
    "changed": flip(CONTENT, SIZE // 2),
    "cut off": CONTENT[:-1],
    "longer": CONTENT + b"x",
    "empty": b"",
}


def damaged_originals() -> float:
    return REGISTRY.get_sample_value("muniment_originals_damaged_total") or 0.0


@pytest.mark.parametrize("damaged", DAMAGED.values(), ids=DAMAGED)
@pytest.mark.parametrize("asked", ["", "bytes=0-"])
async def test_damaged_file_is_a_clear_error_and_an_alert(
    api: RunningApi, stored: Stored, damaged: bytes, asked: str
) -> None:
    await api.stores.objects.put(stored.key, damaged)
    counted = damaged_originals()
    with capture_logs() as lines:
        answer = await stored.get(**({"Range": asked} if asked else {}))

    assert answer.status_code == 500
    assert answer.json()["detail"].startswith("The stored file is damaged")
    assert damaged_originals() == counted + 1
    assert [line["key"] for line in lines if line["event"] == "documents.original_damaged"] == [stored.key]


LARGE = b"%PDF-1.7\n" + bytes(3 * 1024 * 1024)


@pytest.mark.parametrize(
    "damaged",
    [flip(LARGE, 100), flip(LARGE, -1), LARGE[:-1], LARGE + LARGE],
    ids=["early", "late", "cut off", "longer"],
)
async def test_transfer_of_a_large_damaged_file_is_aborted(api: RunningApi, kb: KB, damaged: bytes) -> None:
    body = (await kb.upload(LARGE)).json()
    path = f"{kb.path}/{body['id']}/download"
    assert (await kb.client.get(path)).content == LARGE
    await api.stores.objects.put(f"{kb.id}/{body['id']}/1/original", damaged)
    counted = damaged_originals()

    with pytest.raises(httpx.RemoteProtocolError):
        await kb.client.get(path)
    assert damaged_originals() == counted + 1


async def test_viewer_downloads_and_stranger_gets_404(api: RunningApi, kb: KB, seed: Seed, stored: Stored) -> None:
    viewer, stranger = seed.person(kb.owner.organization_id), seed.person(kb.owner.organization_id)
    seed.member(kb.id, viewer, "viewer")
    async with api.client(viewer) as client:
        assert (await client.get(stored.path)).content == CONTENT
    async with api.client(stranger) as client:
        assert (await client.get(stored.path)).status_code == 404
    assert (await api.anonymous.get(stored.path)).status_code == 401
