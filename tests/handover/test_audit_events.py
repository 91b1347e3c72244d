"""Every route of the hand-over that changes something records its audit event, with actor and address."""

from collections.abc import Awaitable, Callable
from uuid import uuid4

import httpx
import pytest

from tests.documents.uploads import a_pdf
from tests.handover.handover_api import ARCHIVER, HandoverApi
from tests.handover.test_dead_letters import LETTERS, a_letter
from tests.security.test_routes import operations

PDF = a_pdf("Changed by everybody")
READING = {"GET", "HEAD", "OPTIONS"}
Change = Callable[[HandoverApi], Awaitable[httpx.Response]]


async def hand_over_document(office: HandoverApi) -> httpx.Response:
    return await office.client.post(f"{office.path(await office.document(PDF))}/hand-over")


async def requeue(office: HandoverApi) -> httpx.Response:
    return await office.client.post(f"{LETTERS}/{(await a_letter(office, PDF)).pdf}/requeue")


async def discard(office: HandoverApi) -> httpx.Response:
    return await office.client.delete(f"{LETTERS}/{(await a_letter(office, PDF)).pdf}")


async def confirm(office: HandoverApi) -> httpx.Response:
    return await office.patch(uuid4(), office.key(PDF).pdf, "archived", paperless_doc_id=7)


async def fail_key(office: HandoverApi) -> httpx.Response:
    job_id = (await office.hand_over(PDF)).json()["job_id"]
    body = {"organization_id": str(office.organization_id), "r2_object_key": job_id, "archive_status": "failed"}
    return await office.api.anonymous.patch("/internal/v1/archive-audit", json=body, headers=ARCHIVER)


async def note(office: HandoverApi) -> httpx.Response:
    ids = {"paperless_correspondent_id": 1, "paperless_org_tag_id": 2}
    path = f"/internal/v1/paperless-cache/{office.organization_id}"
    return await office.api.anonymous.put(path, json=ids, headers=ARCHIVER)


async def requeue_inside(office: HandoverApi) -> httpx.Response:
    path = f"/internal/v1/dead-letters/{(await a_letter(office, PDF)).pdf}/requeue"
    return await office.api.anonymous.post(path, headers=ARCHIVER)


async def discard_inside(office: HandoverApi) -> httpx.Response:
    path = f"/internal/v1/dead-letters/{(await a_letter(office, PDF)).pdf}/discard"
    return await office.api.anonymous.post(path, headers=ARCHIVER)


async def requeue_failed(office: HandoverApi) -> httpx.Response:
    await office.document(PDF)
    await a_letter(office, PDF)
    return await office.api.anonymous.post("/internal/v1/failed/requeue", headers=ARCHIVER)


CHANGES: dict[tuple[str, str], tuple[str, Change]] = {
    ("POST", "/api/v1/organizations/{organization_id}/archive"): (
        "document_handed_over",
        lambda office: office.hand_over(PDF),
    ),
    ("POST", "/api/v1/knowledge-bases/{kb_id}/documents/{doc_id}/hand-over"): (
        "document_handed_over",
        hand_over_document,
    ),
    ("POST", "/api/v1/archive/dead-letters/{key}/requeue"): ("dead_letter_requeued", requeue),
    ("DELETE", "/api/v1/archive/dead-letters/{key}"): ("dead_letter_discarded", discard),
    ("PATCH", "/internal/v1/archive-audit/{bilko_document_id}"): ("document_archive_confirmed", confirm),
    ("PATCH", "/internal/v1/archive-audit"): ("document_archive_failed", fail_key),
    ("PUT", "/internal/v1/paperless-cache/{organization_id}"): ("paperless_objects_noted", note),
    ("POST", "/internal/v1/dead-letters/{key}/requeue"): ("dead_letter_requeued", requeue_inside),
    ("POST", "/internal/v1/dead-letters/{key}/discard"): ("dead_letter_discarded", discard_inside),
    ("POST", "/internal/v1/failed/requeue"): ("failed_hand_overs_hastened", requeue_failed),
}


def test_every_changing_route_of_the_archive_is_known_here(office: HandoverApi) -> None:
    ours = ("/internal/", "/api/v1/archive/")
    changing = {
        (method, path)
        for method, path in operations(office.api.app)
        if method not in READING
        and (path.startswith(ours) or path.endswith(("/{organization_id}/archive", "/hand-over")))
    }
    assert changing == set(CHANGES)


@pytest.mark.parametrize("route", sorted(CHANGES), ids=" ".join)
async def test_it_writes_its_event_with_who_did_it_from_where(office: HandoverApi, route: tuple[str, str]) -> None:
    action, change = CHANGES[route]
    answer = await change(office)

    assert answer.status_code in (200, 202, 204), answer.text
    line = office.seed.audit_lines()[-1]
    who = "archiver" if route[1].startswith("/internal/") else str(office.owner.id)
    assert (line["action"], line["actor"], line["address"]) == (action, who, "127.0.0.1")
    assert line["organization_id"] == office.organization_id
