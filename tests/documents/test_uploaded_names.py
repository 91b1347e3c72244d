"""Names as clients send them: stored safely or rejected with a message, and downloaded unchanged."""

from urllib.parse import unquote

import httpx
import pytest

from tests.documents.uploads import KB, a_form, is_nothing_left, stored_keys
from tests.support.live_api import RunningApi
from tests.support.seed import Seed

KEPT = [
    "تقرير.pdf",
    "cafe\u0301.pdf",
    "👩🏽\u200d💻 report 📄.pdf",
    "<img src=x onerror=alert(1)>.pdf",
    'a "quoted" 100%; name.pdf',
    "NUL",
    "x" * 255,
]


def offered_name(answer: httpx.Response) -> str:
    """Return the name under which a browser saves the download."""
    _, extended = answer.headers["Content-Disposition"].split("filename*=UTF-8''")
    return unquote(extended, errors="strict")


@pytest.mark.parametrize("name", KEPT)
async def test_name_comes_back_as_it_was_given(kb: KB, name: str) -> None:
    answer = await kb.upload(name=name)

    assert (answer.status_code, answer.json()["name"]) == (201, name)
    downloaded = await kb.client.get(f"{kb.path}/{answer.json()['id']}/download")
    assert downloaded.headers["Content-Disposition"].startswith("attachment; ")
    assert offered_name(downloaded) == ("_NUL" if name == "NUL" else name)


@pytest.mark.parametrize("name", ["../../etc/passwd", "C:\\fakepath\\passwd", "/etc/passwd"])
async def test_folders_are_stripped_and_no_key_shows_the_name(api: RunningApi, kb: KB, name: str) -> None:
    answer = await kb.client.post(kb.path, **a_form(f'form-data; name="file"; filename="{name}"'))

    assert (answer.status_code, answer.json()["name"]) == (201, "passwd")
    assert await stored_keys(api) == [f"{kb.id}/{answer.json()['id']}/1/original"]


async def test_extended_name_wins(kb: KB) -> None:
    disposition = 'form-data; name="file"; filename="fallback.pdf"; filename*=UTF-8\'\'na%C3%AFve.pdf'

    answer = await kb.client.post(kb.path, **a_form(disposition))

    assert (answer.status_code, answer.json()["name"]) == (201, "naïve.pdf")


@pytest.mark.parametrize(
    ("disposition", "sentence"),
    [
        ("filename*=UTF-8''nul%00.pdf", "control characters"),
        ('filename="nul\0.pdf"', "invalid header"),
        ('filename="two%0D%0Alines.pdf"', "control characters"),
        ('filename="invoice\u202efdp.exe"', "direction"),
        (f'filename="{"x" * 256}"', "255 characters"),
        ('filename=".."', "cannot be empty"),
        ('filename=""', "cannot be empty"),
    ],
)
async def test_bad_name_is_refused_with_a_sentence(
    api: RunningApi, kb: KB, seed: Seed, disposition: str, sentence: str
) -> None:
    answer = await kb.client.post(kb.path, **a_form(f'form-data; name="file"; {disposition}'))

    assert answer.status_code == 422
    assert sentence in answer.json()["detail"][0]["msg"]
    assert await is_nothing_left(api, seed)
