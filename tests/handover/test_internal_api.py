"""Internal API: status updates and Paperless ids (docs/contracts.md#internal-api)."""

import hashlib
from typing import Any
from uuid import uuid4

import pytest
from pydantic import SecretStr

from muniment.handover.internal.client import ApiAccessDenied, InternalApiClient
from muniment.handover.internal.contract import JobStatusUpdate
from muniment.handover.queue_listing import DeadLetterNotFound
from muniment.settings import Settings
from muniment.settings.handover import HandoverSettings
from tests.documents.uploads import a_pdf
from tests.handover.handover_api import ARCHIVER, INTERNAL_KEY, OLD_KEY, HandoverApi
from tests.security.test_routes import call, guarded
from tests.support.live_api import RunningApi, running_api

PDF = a_pdf("Known to the archiver")
URL = "https://paperless.example/documents/7/"


def cache_path(organization_id: object) -> str:
    return f"/internal/v1/paperless-cache/{organization_id}"


def confirmed_path(organization_id: object, content: bytes = PDF) -> str:
    return f"/internal/v1/confirmed-documents/{organization_id}/{hashlib.sha256(content).hexdigest()}"


async def test_without_a_key_there_is_no_internal_api(settings: Settings, api: RunningApi) -> None:
    for headers in ({}, ARCHIVER, {"Authorization": "Bearer"}):
        answer = await api.anonymous.get(cache_path(uuid4()), headers=headers)
        assert answer.status_code == 404


@pytest.mark.parametrize("key", [INTERNAL_KEY, OLD_KEY])
async def test_two_keys_are_valid_while_they_are_changed(office: HandoverApi, key: str) -> None:
    headers = {"Authorization": f"Bearer {key}"}
    assert (await office.api.anonymous.get(cache_path(uuid4()), headers=headers)).status_code == 404
    body = {"paperless_correspondent_id": 1, "paperless_org_tag_id": 2}
    answer = await office.api.anonymous.put(cache_path(office.organization_id), headers=headers, json=body)
    assert answer.status_code == 200


@pytest.mark.parametrize("given", ["", "Bearer", "Bearer wrong", INTERNAL_KEY, f"Basic {INTERNAL_KEY}", "Bearer ä"])
async def test_anything_else_is_nobody(office: HandoverApi, given: str) -> None:
    headers = [(b"Authorization", given.encode())]
    for method, path in (
        ("PATCH", f"/internal/v1/archive-audit/{uuid4()}"),
        ("GET", cache_path(office.organization_id)),
        ("PUT", cache_path(office.organization_id)),
        ("GET", confirmed_path(office.organization_id)),
        ("POST", "/internal/v1/dead-letters/any/key/requeue"),
        ("POST", "/internal/v1/dead-letters/any/key/discard"),
        ("POST", "/internal/v1/failed/requeue"),
    ):
        answer = await office.api.anonymous.request(method, path, headers=headers)
        assert answer.status_code == 401, (method, path)


async def test_a_persons_token_opens_nothing_and_the_key_is_no_token(office: HandoverApi) -> None:
    assert (await office.client.get(cache_path(office.organization_id))).status_code == 401
    assert (await office.api.anonymous.get("/api/v1/auth/me", headers=ARCHIVER)).status_code == 401


async def test_the_public_description_does_not_mention_it(office: HandoverApi) -> None:
    assert "/internal" not in (await office.api.anonymous.get("/openapi.json")).text


async def test_a_proof_reaches_every_row_of_the_job_and_its_documents(office: HandoverApi) -> None:
    document_id = await office.document(PDF)
    await office.client.post(f"{office.path(document_id)}/hand-over")
    await office.hand_over(PDF, document_type="other")
    job_id = office.key(PDF).pdf

    at = "2026-05-08T10:30:00Z"
    answer = await office.patch(
        document_id, job_id, "archived", paperless_doc_id=7, paperless_doc_url=URL, archived_at=at
    )

    assert answer.status_code == 204
    columns = "archive_status, paperless_doc_id, paperless_doc_url, archived_at IS NOT NULL, next_attempt_at"
    assert office.rows(columns) == [("archived", 7, URL, True, None)] * 2
    assert office.document_status(document_id) == ("archived", job_id, URL)
    assert office.seed.one("SELECT handed_over_at::date::text FROM documents") == "2026-05-08"
    lines = [line for line in office.seed.audit_lines() if line["action"] == "document_archive_confirmed"]
    assert [(line["actor"], line["payload"]["paperless_doc_id"]) for line in lines] == [("archiver", 7)] * 2


async def test_saying_it_twice_changes_nothing(office: HandoverApi) -> None:
    job_id = (await office.hand_over(PDF)).json()["job_id"]
    [document_id] = office.rows("bilko_document_id")
    for _ in range(2):
        assert (await office.patch(document_id, job_id, "archived", paperless_doc_id=7)).status_code == 204

    assert office.rows() == ["archived"]
    assert office.actions().count("document_archive_confirmed") == 1


async def test_a_late_word_of_failure_takes_no_proof_back(office: HandoverApi) -> None:
    job_id = (await office.hand_over(PDF)).json()["job_id"]
    await office.patch(uuid4(), job_id, "archived", paperless_doc_id=7)
    await office.patch(uuid4(), job_id, "failed", retry_count=3, last_error="late")

    assert set(office.rows("archive_status, last_error", "paperless_doc_id = 7")) == {("archived", None)}


async def test_failed_attempts_are_noted_too(office: HandoverApi) -> None:
    document_id = await office.document(PDF)
    await office.client.post(f"{office.path(document_id)}/hand-over")
    job_id = office.key(PDF).pdf
    await office.patch(document_id, job_id, "pending", retry_count=2, last_error="503")
    assert office.rows("archive_status, retry_count, last_error") == [("pending", 2, "503")]

    await office.patch(document_id, job_id, "failed", retry_count=3, last_error="503")
    assert office.rows("archive_status, retry_count, next_attempt_at") == [("failed", 3, None)]
    assert office.document_status(document_id)[0] == "failed"
    assert "document_archive_failed" in office.actions()


async def test_a_row_is_made_for_a_producer_that_made_none(office: HandoverApi) -> None:
    document_id, key = uuid4(), office.key(PDF, "care-plan")
    await office.patch(document_id, key.pdf, "archived", paperless_doc_id=7)

    columns = "bilko_document_id, document_type, sha256, archive_status"
    assert office.rows(columns) == [(document_id, "care_plan", key.sha256, "archived")]


async def test_another_organization_of_the_same_key_is_not_touched(office: HandoverApi) -> None:
    stranger = office.seed.person()
    async with office.api.client(stranger) as client:
        await office.hand_over(PDF, client=client, organization_id=stranger.organization_id)
    await office.hand_over(PDF)
    await office.patch(uuid4(), office.key(PDF, "invoice").pdf, "archived", paperless_doc_id=7)

    theirs = f"organization_id = '{stranger.organization_id}'"
    assert office.rows("archive_status", theirs) == ["pending"]


@pytest.mark.parametrize(
    "changed",
    [
        {"r2_object_key": "org/x"},
        {"r2_object_key": "../../x"},
        {"archive_status": "done"},
        {"paperless_doc_id": -1},
        {"paperless_doc_id": 2**31},
        {"retry_count": 2**31},
        {"archived_at": "2026-05-08T10:30:00"},
        {"last_error": "a\0b"},
        {"organization_id": "x"},
    ],
)
async def test_what_cannot_be_understood_is_refused(office: HandoverApi, changed: dict[str, Any]) -> None:
    body = {"key": office.key(PDF).pdf, "status": "archived", **changed}
    key, status = body.pop("r2_object_key", body.pop("key")), body.pop("archive_status", body.pop("status"))
    body.pop("key", None)
    answer = await office.patch(uuid4(), key, status, **body)

    assert answer.status_code == 422, answer.text
    assert office.rows() == []


async def test_a_key_of_another_organization_than_the_named_one_is_refused(office: HandoverApi) -> None:
    other = str(office.seed.organization())
    answer = await office.patch(uuid4(), office.key(PDF).pdf, "archived", organization_id=other)

    assert answer.status_code == 422
    assert office.rows() == []


async def test_an_unknown_organization_is_not_found(office: HandoverApi) -> None:
    unknown = uuid4()
    key = office.key(PDF).pdf.replace(str(office.organization_id), str(unknown))
    answer = await office.patch(uuid4(), key, "archived", organization_id=str(unknown))

    assert answer.status_code == 404
    assert answer.json() == {"detail": "Organization not found", "code": "OrganizationNotFound"}
    ids = {"paperless_correspondent_id": 1, "paperless_org_tag_id": 2}
    put = await office.api.anonymous.put(cache_path(unknown), headers=ARCHIVER, json=ids)
    assert put.status_code == 404
    assert put.json() == answer.json()


async def test_an_error_that_the_database_cannot_store_is_cleaned_and_cut(office: HandoverApi) -> None:
    update = JobStatusUpdate.failed(office.key(PDF), retry_count=3, error="a\0b\ud800" + "x" * 2000)
    async with InternalApiClient(office.api.url, INTERNAL_KEY) as client:
        await client.report_status(uuid4(), update)

    assert office.rows("last_error") == ["a?b?" + "x" * 996]


async def test_a_missing_dead_letter_has_a_code_that_the_client_knows(office: HandoverApi) -> None:
    async with InternalApiClient(office.api.url, INTERNAL_KEY) as client:
        for call_api in (client.requeue, client.discard):
            with pytest.raises(DeadLetterNotFound):
                await call_api(office.key(PDF))


async def test_a_path_that_the_server_does_not_have_is_no_missing_organization(office: HandoverApi) -> None:
    async with InternalApiClient(f"{office.api.url}/elsewhere", INTERNAL_KEY) as client:
        with pytest.raises(ApiAccessDenied):
            await client.find_organization_ids(office.organization_id)


async def test_the_objects_of_paperless_are_remembered_per_organization(office: HandoverApi) -> None:
    client, path = office.api.anonymous, cache_path(office.organization_id)
    assert (await client.get(path, headers=ARCHIVER)).status_code == 404
    for ids in ((1, 2), (1, 2), (3, 4)):
        body = {"paperless_correspondent_id": ids[0], "paperless_org_tag_id": ids[1]}
        assert (await client.put(path, headers=ARCHIVER, json=body)).json() == body
        assert (await client.get(path, headers=ARCHIVER)).json() == body

    assert office.actions() == ["paperless_objects_noted"] * 2
    assert (await client.get(cache_path(office.seed.organization()), headers=ARCHIVER)).status_code == 404


async def test_only_archived_copies_of_this_organization_and_content_are_confirmed(office: HandoverApi) -> None:
    said = {"paperless_doc_url": URL}
    for document_type, content, status, number in (
        ("invoice", PDF, "archived", 7),
        ("contract", PDF, "archived", 9),
        ("onboarding", PDF, "archived", 9),
        ("other", PDF, "failed", 11),
        ("other", a_pdf("another"), "archived", 13),
    ):
        key = office.key(content, document_type).pdf
        assert (await office.patch(uuid4(), key, status, paperless_doc_id=number, **said)).status_code == 204
    stranger = office.seed.person().organization_id

    client = InternalApiClient(office.api.url, INTERNAL_KEY)
    async with client:
        sha256 = hashlib.sha256(PDF).hexdigest()
        found = [await client.list_confirmed_ids(of, sha256) for of in (office.organization_id, stranger)]

    assert found == [{7, 9}, set()]


async def test_everything_that_failed_and_can_be_is_handed_over_again(office: HandoverApi) -> None:
    held = await office.document(PDF)
    await office.client.post(f"{office.path(held)}/hand-over")
    lost = (await office.hand_over(a_pdf("nowhere else"))).json()["job_id"]
    await office.patch(held, office.key(PDF).pdf, "failed", retry_count=3)
    await office.patch(uuid4(), lost, "failed", retry_count=3)
    await office.empty_queue()

    answer = await office.api.anonymous.post("/internal/v1/failed/requeue", headers=ARCHIVER)
    await office.sweep()

    assert answer.json() == {"requeued": 1}
    assert office.document_status(held)[0] == "pending"
    assert await office.jobs() == [office.key(PDF).sidecar, office.key(PDF).pdf]
    assert office.actions().count("failed_hand_overs_hastened") == 1


async def test_a_key_alone_opens_the_internal_api(settings: Settings) -> None:
    old_only = settings.model_copy(update={"archive": HandoverSettings(internal_api_key_old=SecretStr(OLD_KEY))})
    async with running_api(old_only) as api:
        headers = {"Authorization": f"Bearer {OLD_KEY}"}
        assert (await api.anonymous.get(cache_path(uuid4()), headers=headers)).status_code == 404
        assert (await api.anonymous.get(cache_path(uuid4()))).status_code == 401


async def test_every_internal_route_asks_for_the_key_before_anything_else(office: HandoverApi) -> None:
    internal = [(method, path) for method, path in guarded(office.api.app) if path.startswith("/internal/")]
    assert len(internal) == 8
    for method, path in internal:
        for value in ("", "no-uuid"):
            for headers in ({}, office.owner.headers):
                answer = await call(office.api.anonymous, method, path, value=value, **headers)
                assert answer.status_code == 401, (method, path)
