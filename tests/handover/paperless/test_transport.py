"""What every call sends: versions and headers, and what it never sends."""

import logging
from pathlib import Path

import pytest

from muniment.handover.paperless.client import PaperlessClient
from muniment.handover.paperless.errors import PaperlessError, PaperlessMisconfigured
from muniment.handover.paperless.models import Version
from muniment.handover.paperless.transport import CloudflareAccess
from tests.handover.paperless.uploads import UploadTarget
from tests.support.fake_paperless import faults
from tests.support.fake_paperless.fake import FakePaperless
from tests.support.fake_paperless.faults import Fault


async def test_the_version_is_read_once_and_then_from_what_comes_anyway(
    server: FakePaperless, fake_upload_target: UploadTarget
) -> None:
    wanted = {2: Version(2, 20), 3: Version(3, 0)}[server.switches["flavour"]]
    assert [await fake_upload_target.paperless.version() for _ in range(3)] == [wanted] * 3
    assert len(server.requests()) == 1
    server.set(version="3.7.1")
    await fake_upload_target.paperless.find_tagged(fake_upload_target.tags)
    assert await fake_upload_target.paperless.version() == Version(3, 7)
    assert len(server.requests()) == 2


@pytest.mark.parametrize("version", ["2.18.4", "1.17.4", "2.9.0", "newest", "2"])
async def test_an_old_server_is_refused_with_a_sentence_before_anything_is_sent(
    server: FakePaperless, fake_upload_target: UploadTarget, version: str
) -> None:
    server.set(version=version)
    with pytest.raises(PaperlessMisconfigured, match=r"2\.19 or newer|Check that the address"):
        await fake_upload_target.send(b"%PDF- never sent")
    assert server.requests("upload") == []


async def test_an_answer_without_a_version_is_no_paperless(server: FakePaperless, client: PaperlessClient) -> None:
    server.fault("documents.list", Fault(200, '{"count":0,"next":null,"previous":null,"results":[]}'))
    with pytest.raises(PaperlessMisconfigured, match="version"):
        await client.version()


async def test_every_call_is_pinned_to_version_9_and_asks_for_no_language(
    server: FakePaperless, fake_upload_target: UploadTarget
) -> None:
    await fake_upload_target.put(b"%PDF- pinned %%EOF")
    for request in server.requests():
        assert request.headers["accept"] == "application/json; version=9"
        assert "accept-language" not in request.headers


async def test_a_body_is_sent_with_its_length_from_bytes_and_from_a_file(
    server: FakePaperless, fake_upload_target: UploadTarget, tmp_path: Path
) -> None:
    path = tmp_path / "a.pdf"
    path.write_bytes(b"%PDF- " + b"x" * 3_000_000 + b" %%EOF")
    with path.open("rb") as file:
        for pdf in (path.read_bytes(), file):
            await fake_upload_target.send(pdf)
    for request in server.requests("upload"):
        assert int(request.headers["content-length"]) == request.size > 3_000_000
        assert "transfer-encoding" not in request.headers


async def test_cloudflare_is_shown_its_token(server: FakePaperless) -> None:
    async with PaperlessClient(server.url, server.token, access=CloudflareAccess("the id", "the secret")) as client:
        await client.version()
    [request] = server.requests()
    assert request.headers["cf-access-client-id"] == "the id"
    assert request.headers["cf-access-client-secret"] == "the secret"


async def test_a_slash_at_the_end_of_the_address_does_not_matter(server: FakePaperless) -> None:
    async with PaperlessClient(f"{server.url}/", server.token) as client:
        assert await client.version()


async def test_neither_logs_nor_errors_tell_a_secret(server: FakePaperless, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    access = CloudflareAccess("access-id", "access-secret")
    login = "https://somewhere.cloudflareaccess.com/cdn-cgi/access/login?kid=1&meta=signed-secret"
    answers = [faults.unauthorized(), faults.to_login(login), faults.forbidden_text(), faults.server_error()]
    told = [repr(access)]
    async with PaperlessClient(server.url, server.token, access=access) as client:
        for fault in [*answers, faults.lost_answer(), faults.truncated_json()]:
            server.fault("*", fault)
            with pytest.raises(PaperlessError) as error:
                await client.find_tagged([1])
            told += [repr(client), str(error.value), repr(error.value)]
    everything = "\n".join([*told, caplog.text])
    assert "cloudflareaccess.com/cdn-cgi" in everything
    for secret in (server.token, "access-secret", "signed-secret"):
        assert secret not in everything
