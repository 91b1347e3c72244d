"""Every call maps responses to the right error."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest

from muniment.handover.paperless.client import PaperlessClient
from muniment.handover.paperless.errors import (
    DocumentForbidden,
    OutcomeUnknown,
    PaperlessMisconfigured,
    RateLimited,
    RequestRejected,
)
from muniment.handover.paperless.transport import Timeouts
from tests.handover.paperless.calls import ABOUT_A_DOCUMENT, ABOUT_THE_LINE, CALLS
from tests.handover.paperless.conftest import FLAVOURS
from tests.handover.paperless.uploads import UploadTarget
from tests.support.fake_paperless import faults
from tests.support.fake_paperless.fake import FakePaperless
from tests.support.fake_paperless.faults import Fault

pytestmark = [pytest.mark.slow, pytest.mark.parametrize("flavour", FLAVOURS[1:], indirect=True)]
"""With one version: these responses do not come from Paperless itself, or are the same in both."""

STOPS = (
    faults.unauthorized(),
    faults.to_login(),
    faults.not_found_page(),
    faults.wrong_method(),
    faults.not_acceptable(),
    faults.refused(410),
)
UNCLEAR = (
    faults.server_error(),
    faults.server_error(is_applied=True),
    faults.server_error(502),
    faults.server_error(503),
    faults.refused(408),
    faults.html_with_200(),
    faults.cut_off(),
    faults.lost_answer(),
    faults.dropped(),
)
FORBIDDEN = (faults.forbidden_json(), faults.forbidden_text())


@pytest.fixture
def document(server: FakePaperless) -> int:
    """A document without a correspondent, so that there is something to set."""
    return server.put_document(b"%PDF- put there by hand")


@pytest.mark.parametrize("name", CALLS)
async def test_a_wrong_address_token_or_version_stops_the_line(
    server: FakePaperless, fake_upload_target: UploadTarget, document: int, name: str
) -> None:
    for fault in STOPS:
        server.fault(name, fault)
        with pytest.raises(PaperlessMisconfigured):
            await CALLS[name](fake_upload_target, document)


@pytest.mark.parametrize("name", ABOUT_THE_LINE)
async def test_403_on_lists_uploads_and_new_things_stops_the_line(
    server: FakePaperless, fake_upload_target: UploadTarget, document: int, name: str
) -> None:
    for fault in FORBIDDEN:
        server.fault(name, fault)
        with pytest.raises(PaperlessMisconfigured):
            await CALLS[name](fake_upload_target, document)


@pytest.mark.parametrize("name", ABOUT_A_DOCUMENT)
async def test_403_about_one_document_is_about_that_document_alone(
    server: FakePaperless, fake_upload_target: UploadTarget, document: int, name: str
) -> None:
    for fault in FORBIDDEN:
        server.fault(name, fault)
        with pytest.raises(DocumentForbidden):
            await CALLS[name](fake_upload_target, document)


@pytest.mark.parametrize("name", CALLS)
async def test_what_does_not_say_what_became_of_the_call_is_unclear(
    server: FakePaperless, fake_upload_target: UploadTarget, name: str
) -> None:
    for fault in UNCLEAR:
        document = server.put_document(b"%PDF- put there by hand")
        _fail_for_good(server, name, fault)
        with pytest.raises(OutcomeUnknown):
            await CALLS[name](fake_upload_target, document)
        server.clear()


@pytest.mark.parametrize("name", [name for name in CALLS if name not in ("documents.download", "documents.delete")])
async def test_json_that_ends_in_the_middle_is_unclear(
    server: FakePaperless, fake_upload_target: UploadTarget, document: int, name: str
) -> None:
    if name == "trash.change":
        document = server.put_document(b"%PDF- to be restored", is_trashed=True)
    _fail_for_good(server, name, faults.truncated_json())
    with pytest.raises(OutcomeUnknown):
        await CALLS[name](fake_upload_target, document)


@pytest.mark.parametrize("name", CALLS)
async def test_silence_is_unclear_after_the_time_that_the_call_has(
    server: FakePaperless, fake_upload_target: UploadTarget, document: int, name: str
) -> None:
    _fail_for_good(server, name, faults.hanging())
    async with PaperlessClient(
        server.url, server.token, timeouts=Timeouts(upload_seconds=0.3, seconds=0.3)
    ) as impatient:
        with pytest.raises(OutcomeUnknown):
            await CALLS[name](replace(fake_upload_target, paperless=impatient), document)


async def test_an_upload_has_more_time_than_other_calls(
    server: FakePaperless, fake_upload_target: UploadTarget
) -> None:
    server.fault("*", faults.slow(0.5), times=None, skip=1)
    async with PaperlessClient(server.url, server.token, timeouts=Timeouts(upload_seconds=30, seconds=0.3)) as client:
        await client.version()
        assert await replace(fake_upload_target, paperless=client).send(b"%PDF- slow")
        with pytest.raises(OutcomeUnknown):
            await client.find_tagged(fake_upload_target.tags)


def _fail_for_good(server: FakePaperless, name: str, fault: Fault) -> None:
    """Fail until cleared, and also the lookup that follows: the first lookup must report that the object does not
    exist."""
    server.fault(name, fault, times=None)
    server.fault(f"{name.partition('.')[0]}.list", fault, times=None, skip=1)


@pytest.mark.parametrize("name", CALLS)
async def test_429_says_how_long_to_wait_if_it_was_said(
    server: FakePaperless, fake_upload_target: UploadTarget, document: int, name: str
) -> None:
    for said, seconds in ((None, None), ("7", 7.0), ("3600", 3600.0), ("soon", None)):
        server.fault(name, faults.throttled(said))
        with pytest.raises(RateLimited) as refused:
            await CALLS[name](fake_upload_target, document)
        assert refused.value.retry_after == seconds


async def test_429_with_a_moment_is_understood(server: FakePaperless, fake_upload_target: UploadTarget) -> None:
    server.fault("upload", faults.throttled(format_datetime(datetime.now(UTC) + timedelta(hours=1), usegmt=True)))
    with pytest.raises(RateLimited) as refused:
        await fake_upload_target.send()
    assert refused.value.retry_after is not None
    assert 3000 < refused.value.retry_after <= 3600
    server.fault("upload", faults.throttled("Wed, 21 Oct 2015 07:28:00 GMT"))
    with pytest.raises(RateLimited) as refused:
        await fake_upload_target.send()
    assert refused.value.retry_after == 0


@pytest.mark.parametrize("status", [400, 413, 415])
@pytest.mark.parametrize("body", ['{"detail":"No."}', '{"document":["Too big."]}', "<html>Too big</html>", "[]", ""])
async def test_an_upload_that_is_refused_for_the_file_is_rejected(
    server: FakePaperless, fake_upload_target: UploadTarget, status: int, body: str
) -> None:
    server.fault("upload", faults.refused(status, body))
    with pytest.raises(RequestRejected) as refused:
        await fake_upload_target.send()
    assert "<html>" not in refused.value.reason


@pytest.mark.parametrize("name", ["documents.list", "tags.list", "tasks.list", "trash.list"])
async def test_400_to_a_question_that_is_always_right_stops_the_line(
    server: FakePaperless, fake_upload_target: UploadTarget, name: str
) -> None:
    server.fault(name, faults.refused(400, "<h1>Bad Request (400)</h1>"))
    with pytest.raises(PaperlessMisconfigured):
        await CALLS[name](fake_upload_target, 1)


async def test_nobody_at_the_address_is_unclear(server: FakePaperless, fake_upload_target: UploadTarget) -> None:
    server.stop()
    try:
        with pytest.raises(OutcomeUnknown):
            await fake_upload_target.paperless.find_tagged(fake_upload_target.tags)
    finally:
        server.start()
    assert await fake_upload_target.paperless.find_tagged(fake_upload_target.tags) == []


@pytest.mark.parametrize(
    ("version", "advice"),
    [
        ("2.15.3", "Paperless-ngx 2.15 is too old. Version 2.19 or newer is required"),
        ("4.1.0", "Paperless-ngx 4.1 no longer supports API version 9. Upgrade Muniment"),
    ],
)
async def test_a_version_that_does_not_fit_says_which_side_to_upgrade(
    server: FakePaperless, version: str, advice: str
) -> None:
    server.set(version=version)
    server.fault("*", faults.not_acceptable())
    async with PaperlessClient(server.url, server.token) as client:
        with pytest.raises(PaperlessMisconfigured) as refused:
            await client.check_access()
    assert refused.value.message == advice


async def test_without_a_version_both_sides_are_named(server: FakePaperless) -> None:
    server.fault("*", faults.not_acceptable(), times=None)
    async with PaperlessClient(server.url, server.token) as client:
        with pytest.raises(PaperlessMisconfigured) as refused:
            await client.check_access()
    assert "2.19" in refused.value.message
    assert "Muniment" in refused.value.message


@pytest.mark.parametrize(
    ("status", "body", "reason"),
    [
        (400, '{"document":["File type text/plain not supported","Too big."]}', "document: File type text/plain"),
        (400, '{"created":{"non_field_errors":["Enter a valid date."]}}', "created: Enter a valid"),
        (413, "<html>Too big</html>", "the file is too large (status 413)"),
        (415, "", "the file type is not supported (status 415)"),
    ],
)
async def test_the_reason_of_a_refusal_is_a_sentence(
    server: FakePaperless, fake_upload_target: UploadTarget, status: int, body: str, reason: str
) -> None:
    server.fault("upload", faults.refused(status, body))
    with pytest.raises(RequestRejected) as refused:
        await fake_upload_target.send()
    assert refused.value.message.startswith(f"Paperless rejected the file: {reason}")
    assert not {"{", "[", '"'} & set(refused.value.message)
