import pytest
from fastapi import FastAPI, Response

from muniment.http.middleware.security_headers import SecurityHeaders
from tests.support.live_server import serving

EXPECTED = {
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), microphone=(), geolocation=()",
    "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
}


def an_app(public_url: str | None = None) -> SecurityHeaders:
    app = FastAPI()

    @app.get("/api/v1/things")
    async def list_things() -> list[str]:
        return []

    @app.get("/api/v1/picture")
    async def read_picture() -> Response:
        return Response(headers={"Cache-Control": "private, max-age=60", "Content-Security-Policy": "sandbox"})

    @app.get("/broken")
    async def break_down() -> None:
        raise ValueError

    return SecurityHeaders(app, public_url=public_url)


@pytest.mark.parametrize("path", ["/api/v1/things", "/nowhere", "/broken"])
async def test_every_answer_carries_them_errors_included(path: str) -> None:
    async with serving(an_app()) as client:
        answer = await client.get(path)

    assert EXPECTED.items() <= dict(answer.headers).items()


async def test_what_an_answer_sets_itself_is_kept() -> None:
    async with serving(an_app()) as client:
        answer = await client.get("/api/v1/picture")

    assert answer.headers.get_list("content-security-policy") == ["sandbox"]
    assert answer.headers.get_list("cache-control") == ["private, max-age=60"]


async def test_answers_of_the_api_are_not_stored() -> None:
    async with serving(an_app()) as client:
        assert (await client.get("/api/v1/things")).headers["cache-control"] == "no-store"
        assert (await client.get("/internal/v1/nowhere")).headers["cache-control"] == "no-store"
        assert "cache-control" not in (await client.get("/nowhere")).headers


@pytest.mark.parametrize(
    ("public_url", "promised"), [(None, False), ("http://docs.example.org", False), ("https://docs.example.org", True)]
)
async def test_https_is_promised_only_when_the_public_address_has_it(public_url: str | None, promised: bool) -> None:
    async with serving(an_app(public_url)) as client:
        answer = await client.get("/api/v1/things")

    assert ("strict-transport-security" in answer.headers) is promised
