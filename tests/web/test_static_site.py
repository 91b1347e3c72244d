"""The built page over HTTP, without a database."""

import re
from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest
from fastapi import FastAPI

from muniment.http.errors import add_error_handlers
from muniment.http.middleware.security_headers import SecurityHeaders
from muniment.web.static_site import STATIC, Site, add_pages, load_site
from tests.support.live_server import serving
from tests.web.test_build import directive, hash_of

PAGES = ("/", "/kb", "/document", "/search", "/archive", "/audit", "/people", "/operations", "/account", "/sign-in")
INLINE = re.compile(rb"<script(?![^>]*\bsrc=)[^>]*>(.*?)</script>", re.DOTALL)


def an_app(site: Site) -> FastAPI:
    app = FastAPI(docs_url=None, redoc_url=None, redirect_slashes=False)

    @app.post("/api/v1/only-post")
    async def only_post() -> str:
        return "posted"

    add_error_handlers(app)
    add_pages(app, site)
    return app


@pytest.fixture
async def client() -> AsyncIterator[httpx.AsyncClient]:
    site = load_site()
    assert site.assets, "the web page is not built: tools/web"
    async with serving(SecurityHeaders(an_app(site), public_url=None)) as client:
        yield client


@pytest.mark.parametrize("path", PAGES)
async def test_each_page_allows_exactly_the_scripts_that_stand_in_it(client: httpx.AsyncClient, path: str) -> None:
    answer = await client.get(path)
    assert (answer.status_code, answer.headers["Content-Type"]) == (200, "text/html; charset=utf-8")
    allowed = directive(answer.headers["Content-Security-Policy"], "script-src")
    scripts = INLINE.findall(answer.content)
    assert len(scripts) > 2
    assert set(allowed) == {"'self'"} | {hash_of(code) for code in scripts}


async def test_each_page_comes_to_who_is_already_inside_as_a_payload(client: httpx.AsyncClient) -> None:
    for path in PAGES:
        answer = await client.get(f"{'/index' if path == '/' else path}.txt", params={"_rsc": "1a2b"})
        assert (answer.status_code, answer.headers["Content-Type"]) == (200, "text/plain; charset=utf-8")
        assert "Content-Security-Policy" in answer.headers  # the policy for data


def test_what_is_fetched_later_names_the_sources_it_was_built_from() -> None:
    """An open tab notices by that name that the server was upgraded."""
    build = (STATIC / ".fingerprint").read_text().split()[0]
    assert f'"b":"{build}"' in load_site().assets["/kb.txt"].content.decode()


async def test_an_unknown_page_is_told_so_by_a_page(client: httpx.AsyncClient) -> None:
    for path in ("/kb/", "/kb.html", "/wp-admin", "/_next/static/chunks/gone.js", "/site.json", "/index.html.gz"):
        answer = await client.get(path)
        assert (answer.status_code, "Page not found" in answer.text) == (404, True), path
        assert "'unsafe-inline'" not in directive(answer.headers["Content-Security-Policy"], "script-src")


@pytest.mark.parametrize(
    "path",
    [
        "/../pages.py",
        "/..%2fpages.py",
        "/%2e%2e/pages.py",
        "/_next/static/../../../pages.py",
        "/_next/static/..%2f..%2f..%2fpages.py",
        "//etc/passwd",
        "/etc/passwd",
        f"/{STATIC}/index.html",
        "/.fingerprint",
        "/kb\\..\\pages.py",
        "/kb%00.html",
    ],
)
async def test_nothing_beside_the_page_can_be_read(client: httpx.AsyncClient, path: str) -> None:
    # Sent unchanged: a client would normalize the dots.
    url = httpx.URL(str(client.base_url)).copy_with(raw_path=path.encode())
    answer = await client.send(client.build_request("GET", url))
    assert answer.status_code in (400, 404)
    assert "def add_pages" not in answer.text
    assert "root:" not in answer.text


async def test_the_api_answers_by_itself_to_what_it_does_not_know(client: httpx.AsyncClient) -> None:
    for path in ("/api/v1/gone", "/api", "/internal/v1/gone", "/health/gone", "/docs/gone"):
        answer = await client.get(path)
        assert (answer.status_code, answer.json()) == (404, {"detail": "Not Found"}), path
    assert (await client.get("/api/v1/only-post")).status_code == 405
    assert (await client.get("/apiary")).headers["Content-Type"].startswith("text/html")
    assert (await client.post("/kb")).status_code == 405


async def test_a_page_is_asked_for_each_time_and_sent_when_it_has_changed(client: httpx.AsyncClient) -> None:
    first = await client.get("/kb")
    assert first.headers["Cache-Control"] == "no-cache"
    again = await client.get("/kb", headers={"If-None-Match": f'"other", W/{first.headers["ETag"]}'})
    assert (again.status_code, again.content) == (304, b"")
    assert again.headers["ETag"] == first.headers["ETag"]
    assert again.headers["Content-Security-Policy"] == first.headers["Content-Security-Policy"]
    assert (await client.get("/kb", headers={"If-None-Match": '"other"'})).status_code == 200
    assert (await client.get("/search")).headers["ETag"] != first.headers["ETag"]


async def test_assets_whose_names_are_their_hashes_are_kept_for_a_year(client: httpx.AsyncClient) -> None:
    page = (await client.get("/kb")).text
    assets = set(re.findall(r'(?:src|href)="(/_next/static/[^"?]+)', page))
    assert assets
    for asset in assets:
        answer = await client.get(asset)
        assert answer.headers["Cache-Control"] == "public, max-age=31536000, immutable"
        assert answer.headers["X-Content-Type-Options"] == "nosniff"


async def test_who_takes_gzip_gets_it_and_who_does_not_gets_the_same(client: httpx.AsyncClient) -> None:
    plain = await client.get("/kb", headers={"Accept-Encoding": "identity"})
    assert "Content-Encoding" not in plain.headers
    for offered in ("gzip", "br, gzip;q=0.8", "*"):
        answer = await client.get("/kb", headers={"Accept-Encoding": offered})
        assert (answer.headers["Content-Encoding"], answer.headers["Vary"]) == ("gzip", "Accept-Encoding")
        assert answer.content == plain.content
        assert answer.headers["ETag"] != plain.headers["ETag"]
        assert int(answer.headers["Content-Length"]) < len(plain.content) / 2
    for refused in ("gzip;q=0", "gzip; q=0.0", "br", ""):
        assert "Content-Encoding" not in (await client.get("/kb", headers={"Accept-Encoding": refused})).headers


async def test_head_tells_as_much_as_get_without_the_page(client: httpx.AsyncClient) -> None:
    got, told = await client.get("/kb"), await client.head("/kb")
    assert (told.status_code, told.content) == (200, b"")
    for name in ("Content-Length", "ETag", "Content-Type", "Content-Security-Policy"):
        assert told.headers[name] == got.headers[name]


async def test_without_a_build_the_answer_says_how_to_make_one(tmp_path: Path) -> None:
    async with serving(an_app(load_site(tmp_path))) as client:
        answer = await client.get("/")
    assert answer.status_code == 503
    assert "tools/web" in answer.text


def test_the_first_page_has_less_than_200_kb_of_javascript() -> None:
    site = load_site()
    weights = {path: _weight(site, path) for path in PAGES}
    assert {path: weight for path, weight in weights.items() if weight >= 200_000} == {}
    assert min(weights.values()) > 50_000, "the scripts of a page were not found"


def _weight(site: Site, path: str) -> int:
    """Return the size of what a current browser loads: `noModule` scripts are for browsers before 2018."""
    tags = re.findall(rb'<script[^>]*\bsrc="/_next/static/[^>]+>', site.assets[path].content)
    scripts = {re.search(rb'src="([^"?]+)', tag)[1].decode() for tag in tags if b"noModule" not in tag}  # type: ignore[index]  # matched above
    return sum(len(site.assets[script].compressed or b"") for script in scripts)
