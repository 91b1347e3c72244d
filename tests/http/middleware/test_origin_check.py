import asyncio
from collections.abc import Iterable

import pytest
from fastapi import FastAPI, Request

from muniment.http.middleware.origin_check import OriginCheck
from tests.support.live_server import serving

Header = tuple[str, str]
Sent = tuple[str, tuple[Header, ...]]
FOREIGN = ("Origin", "http://attacker.example")


def an_app(public_url: str | None = None, listening_host: str = "127.0.0.1") -> OriginCheck:
    app = FastAPI()

    @app.api_route("/things", methods=["GET", "HEAD", "OPTIONS", "POST", "PUT", "PATCH", "DELETE"])
    async def touch(request: Request) -> int:
        return len(await request.body())

    return OriginCheck(app, public_url=public_url, listening_host=listening_host)


async def assert_status(app: OriginCheck, requests: Iterable[Sent], status: int) -> None:
    """Check the status of each request; `{port}` in a header is the server's port."""
    async with serving(app) as client:
        answers: dict[Sent, int] = {}
        for method, headers in requests:
            sent = [(name, value.format(port=client.base_url.port)) for name, value in headers]
            answers[method, headers] = (await client.request(method, "/things", headers=sent)).status_code
    assert answers == dict.fromkeys(answers, status)


async def assert_hosts(app: OriginCheck, hosts: list[str], status: int) -> None:
    await assert_status(app, [("GET", (("Host", host),)) for host in hosts], status)


async def assert_writes(app: OriginCheck, requests: Iterable[tuple[Header, ...]], status: int) -> None:
    await assert_status(app, [("POST", headers) for headers in requests], status)


async def first_lines_of_answers(app: OriginCheck, *heads: str) -> list[bytes]:
    """Return the status lines of requests that httpx would not send."""
    lines = []
    async with serving(app) as client, asyncio.timeout(5):
        for head in heads:
            reader, writer = await asyncio.open_connection("127.0.0.1", client.base_url.port)
            writer.write(head.replace("\n", "\r\n").encode() + b"\r\n\r\n")
            lines.append(await reader.readline())
            writer.close()
            await writer.wait_closed()
    return lines


async def test_loopback_names_are_known_hosts_at_any_port() -> None:
    hosts = ["localhost", "localhost:{port}", "LOCALHOST:1", "127.0.0.1:{port}", "[::1]:{port}", "[::1]"]
    await assert_hosts(an_app(), hosts, 200)


@pytest.mark.parametrize("listening_host", ["127.0.0.1", "0.0.0.0", "::"])
async def test_other_hosts_are_refused(listening_host: str) -> None:
    hosts = [
        "attacker.example",
        "localhost.attacker.example",
        "127.0.0.1.attacker.example",
        "localhost.",
        "localhost@attacker.example",
        "attacker.example@localhost",
        "attacker.example#localhost",
        "localhost:80:80",
        "localhost:",
        "localhost:x",
        "::1",
        "[::1",
        "[::]",
        "0.0.0.0",
        "192.168.1.5",
        "",
    ]
    await assert_hosts(an_app(listening_host=listening_host), hosts, 400)


async def test_no_host_or_two_are_refused() -> None:
    heads = ["", "\nHost: localhost\nHost: attacker.example", "\nHost: localhost\nHost: localhost"]
    answers = await first_lines_of_answers(an_app(), *(f"GET /things HTTP/1.1{head}" for head in heads))

    assert answers == [b"HTTP/1.1 400 Bad Request\r\n"] * 3


async def test_the_refusal_of_a_host_names_the_setting_that_helps() -> None:
    async with serving(an_app()) as client:
        answer = await client.get("/things", headers={"Host": "docs.example.org"})

    assert "Set MUNIMENT_PUBLIC_URL" in answer.json()["detail"]


@pytest.mark.parametrize(
    ("public_url", "listening_host", "host"),
    [
        ("https://docs.example.org", "0.0.0.0", "docs.example.org"),
        ("https://Docs.Example.org:8443", "0.0.0.0", "DOCS.example.org"),
        ("https://dokumente.münchen.example", "0.0.0.0", "dokumente.xn--mnchen-3ya.example"),
        ("http://[fd00::1]:8400", "::", "[fd00::1]:8400"),
        (None, "192.168.1.5", "192.168.1.5:8400"),
        (None, "FD00:0::1", "[fd00::1]"),
        (None, "archive.lan", "archive.lan:8400"),
    ],
)
async def test_the_public_name_and_the_address_listened_on_are_known_hosts(
    public_url: str | None, listening_host: str, host: str
) -> None:
    await assert_hosts(an_app(public_url, listening_host), [host], 200)


async def test_a_write_from_another_origin_is_refused() -> None:
    origins = [
        "http://attacker.example",
        "null",
        "",
        "http://localhost:{port}",  # a name other than the requested host
        "http://127.0.0.1:1",
        "http://127.0.0.1",
        "https://127.0.0.1:{port}",
        "http://127.0.0.1:{port}.attacker.example",
        "http://127.0.0.1:{port}@attacker.example",
        "http://attacker.example@127.0.0.1:{port}",
        "http://127.0.0.1.:{port}",
        "http://127.0.0.1:{port}/",
        "http://127.0.0.1:{port} http://attacker.example",
        "file://127.0.0.1:{port}",
        "127.0.0.1:{port}",
    ]
    await assert_writes(an_app(), [(("Origin", origin),) for origin in origins], 403)


async def test_the_refusal_of_a_write_says_why() -> None:
    async with serving(an_app()) as client:
        answer = await client.post("/things", headers=[FOREIGN])

    assert answer.json() == {"detail": "Cross-site request rejected"}


async def test_every_method_that_may_write_is_guarded() -> None:
    methods = ["PUT", "PATCH", "DELETE", "PROPFIND"]
    await assert_status(an_app(), [(method, (FOREIGN,)) for method in methods], 403)


async def test_reading_needs_no_origin() -> None:
    foreign = (FOREIGN, ("Sec-Fetch-Site", "cross-site"))
    await assert_status(an_app(), [(method, foreign) for method in ("GET", "HEAD", "OPTIONS")], 200)


async def test_our_own_pages_and_programs_may_write() -> None:
    own = ("Origin", "http://127.0.0.1:{port}")
    requests: list[tuple[Header, ...]] = [
        (),  # a program, not a browser
        (own,),
        (own, ("Sec-Fetch-Site", "same-origin")),
        (("Origin", "HTTP://127.0.0.1:{port}"),),
        (("Host", "localhost:{port}"), ("Origin", "http://localhost:{port}")),
        (("Host", "localhost"), ("Origin", "http://localhost:80")),
        (("Host", "docs.example.org"), ("Origin", "https://docs.example.org")),
        (("Origin", "https://docs.example.org"),),  # behind a proxy that does not forward the host
        (("Sec-Fetch-Site", "same-origin"),),
        (("Sec-Fetch-Site", "none"),),
    ]
    await assert_writes(an_app("https://docs.example.org"), requests, 200)


async def test_neighbours_of_the_public_origin_may_not_write() -> None:
    origins = ["http://docs.example.org", "https://docs.example.org:8443", "https://x.docs.example.org"]
    await assert_writes(an_app("https://docs.example.org"), [(("Origin", origin),) for origin in origins], 403)


async def test_a_page_of_our_name_without_encryption_is_not_our_own() -> None:
    stripped = (("Host", "docs.example.org"), ("Origin", "http://docs.example.org"))
    await assert_writes(an_app("https://docs.example.org"), [stripped], 403)


async def test_without_an_origin_the_browser_must_not_say_another_site() -> None:
    sites = ["cross-site", "same-site", "Cross-Site", "unheard-of"]
    await assert_writes(an_app(), [(("Sec-Fetch-Site", site),) for site in sites], 403)


async def test_two_origins_are_as_bad_as_a_foreign_one() -> None:
    own = ("Origin", "http://127.0.0.1:{port}")
    await assert_writes(an_app(), [(own, FOREIGN), (own, own)], 403)


async def test_a_forwarded_host_counts_for_nothing() -> None:
    app = an_app("https://docs.example.org")
    await assert_writes(app, [(FOREIGN, ("X-Forwarded-Host", "attacker.example"))], 403)
    await assert_writes(app, [(("Host", "attacker.example"), ("X-Forwarded-Host", "docs.example.org"))], 400)


async def test_a_token_frees_from_the_origin_but_not_from_the_host() -> None:
    token = ("Authorization", "bearer abc")
    await assert_writes(an_app(), [(FOREIGN, token)], 200)
    await assert_writes(an_app(), [(("Host", "attacker.example"), token)], 400)


async def test_credentials_that_a_link_can_carry_do_not_free_from_the_origin() -> None:
    await assert_writes(an_app(), [(FOREIGN, ("Authorization", "Basic dXNlcjpwdw=="))], 403)


async def test_the_refusal_comes_before_the_body() -> None:
    head = "POST /things HTTP/1.1\nHost: localhost\nOrigin: null\nContent-Length: 1000000"

    assert await first_lines_of_answers(an_app(), head) == [b"HTTP/1.1 403 Forbidden\r\n"]
