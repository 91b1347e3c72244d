import re

import pytest
from fastapi import FastAPI

from muniment.http.api_docs import add_api_docs
from tests.support.live_server import serving


def an_app() -> FastAPI:
    app = FastAPI(title="Deeds & <Wills>", docs_url=None, redoc_url=None)
    add_api_docs(app)
    return app


async def test_the_page_and_all_its_parts_come_from_here() -> None:
    async with serving(an_app()) as client:
        page = await client.get("/docs")
        parts = re.findall(r'(?:src|href|data-description)="([^"]+)"', page.text)
        answers = {part: await client.get(part) for part in parts}

    assert all(part.startswith("/") and not part.startswith("//") for part in parts)
    assert {part: answer.status_code for part, answer in answers.items()} == dict.fromkeys(parts, 200)
    assert answers["/docs/assets/swagger-ui-bundle.js"].headers["content-type"].startswith("text/javascript")
    assert 'PACKAGE_VERSION:"5.' in answers["/docs/assets/swagger-ui-bundle.js"].text
    assert answers["/openapi.json"].json()["openapi"].startswith("3.1")


async def test_the_page_runs_no_inline_script() -> None:
    async with serving(an_app()) as client:
        page = await client.get("/docs")

    assert "script-src 'self';" in page.headers["content-security-policy"]
    assert "unsafe" not in page.headers["content-security-policy"]
    assert re.findall(r"<script[^>]*>([^<]*)</script>", page.text) == ["", ""]


async def test_the_title_is_text_not_markup() -> None:
    async with serving(an_app()) as client:
        assert "<title>Deeds &amp; &lt;Wills&gt;</title>" in (await client.get("/docs")).text


async def test_the_page_is_no_part_of_the_described_api() -> None:
    async with serving(an_app()) as client:
        assert (await client.get("/openapi.json")).json()["paths"] == {}


def test_an_application_with_fastapis_own_page_is_refused() -> None:
    with pytest.raises(ValueError, match="docs_url=None"):
        add_api_docs(FastAPI())
