"""The server process: persistent state, and the effects of a broken connection."""

import socket
from urllib.parse import urlsplit

import httpx
import pytest

from tests.support.fake_paperless import faults
from tests.support.fake_paperless.fake import FakePaperless
from tests.support.fake_paperless.raw_client import RawClient, a_pdf

pytestmark = pytest.mark.slow


def _raw_upload(server: FakePaperless, ask: RawClient, pdf: bytes) -> bytes:
    path = "/api/documents/post_document/"
    headers = {"Authorization": f"Token {ask.user.token}"}
    request = httpx.Request("POST", server.url + path, headers=headers, files={"document": ("raw.pdf", pdf)})
    head = [f"POST {path} HTTP/1.1", *(f"{name}: {value}" for name, value in request.headers.items()), "", ""]
    return "\r\n".join(head).encode() + request.read()


def _names(ask: RawClient, name: str) -> int:
    return int(ask.get("/api/documents/", original_filename__iexact=name)["count"])


def test_a_restart_keeps_everything_and_the_port(ask: RawClient, server: FakePaperless) -> None:
    before = ask.put()
    url = server.url
    server.restart()
    assert server.url == url
    assert ask.get(f"/api/documents/{before['id']}/") == before


def test_a_client_that_leaves_in_the_middle_of_the_body_leaves_nothing(ask: RawClient, server: FakePaperless) -> None:
    whole = _raw_upload(server, ask, a_pdf())
    place = urlsplit(server.url)
    with socket.create_connection((place.hostname, place.port)) as connection:
        connection.sendall(whole[:-20])
    assert _names(ask, "raw.pdf") == 0
    assert server.requests("upload") == []


def test_a_client_that_leaves_after_the_whole_body_leaves_a_document(ask: RawClient, server: FakePaperless) -> None:
    before = _names(ask, "raw.pdf")
    place = urlsplit(server.url)
    with socket.create_connection((place.hostname, place.port)) as connection:
        connection.sendall(_raw_upload(server, ask, a_pdf()))
        connection.shutdown(socket.SHUT_WR)
        connection.recv(1)
    assert _names(ask, "raw.pdf") == before + 1


@pytest.mark.parametrize(
    ("fault", "is_there"), [(faults.lost_answer(), True), (faults.cut_off(), True), (faults.dropped(), False)]
)
def test_a_lost_answer_is_not_a_lost_upload(
    ask: RawClient, server: FakePaperless, fault: faults.Fault, is_there: bool
) -> None:
    name = f"{fault.delivery} {fault.is_applied}.pdf"
    server.fault("upload", fault)
    with pytest.raises(httpx.RemoteProtocolError):
        ask.upload(a_pdf(), name)
    assert _names(ask, name) == is_there


def test_faults_are_for_the_named_calls_after_those_that_pass_and_so_many_times(
    ask: RawClient, server: FakePaperless
) -> None:
    server.fault("tags.*", faults.server_error(503), times=2, skip=1)
    statuses = [ask("GET", "/api/tags/").status_code for _ in range(4)]
    assert statuses == [200, 503, 503, 200]
    server.fault("*", faults.unauthorized(), times=None)
    assert {ask("GET", path).status_code for path in ("/api/tags/", "/api/documents/", "/api/nosuch/")} == {401}
    server.clear()
    assert ask("GET", "/api/tags/").status_code == 200
    assert [request.status for request in server.requests("tags.list")] == [200, 503, 503, 200, 401, 200]


def test_requests_are_seen_without_their_token(ask: RawClient, server: FakePaperless) -> None:
    ask.get("/api/documents/", tags__id__all="1,2")
    [request] = server.requests("documents.list")
    assert request.query == {"tags__id__all": ["1,2"]}
    assert "authorization" not in request.headers
