"""A hand-over that names a document of ours needs permission on it; any other one is in nobody's way."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from uuid import UUID, uuid4

import httpx
import pytest

from muniment.handover.queue import enqueue
from muniment.handover.sidecar import Sidecar
from muniment.storage.db.base import now
from tests.documents.uploads import a_pdf
from tests.handover.handover_api import HandoverApi
from tests.handover.test_cancellation import handed_over, kept, purge
from tests.support.seed import Person

OTHER_PDF = a_pdf("Of another application")


class Bytes:
    """Content of a producer that writes to the queue itself."""

    async def iter_chunks(self) -> AsyncIterator[bytes]:
        yield OTHER_PDF


def colleague(office: HandoverApi, role: str | None) -> Person:
    person = office.seed.person(office.organization_id)
    if role:
        office.seed.member(office.kb_id, person, role)
    return person


@asynccontextmanager
async def colleague_client(office: HandoverApi, role: str | None) -> AsyncIterator[httpx.AsyncClient]:
    async with office.api.client(colleague(office, role)) as client:
        yield client


@pytest.mark.parametrize(("role", "status"), [(None, 404), ("viewer", 403), ("editor", 403)])
async def test_whoever_may_not_hand_a_document_over_cannot_name_it_either(
    office: HandoverApi, role: str | None, status: int
) -> None:
    document_id = await office.document()
    async with colleague_client(office, role) as client:
        answer = await office.hand_over(OTHER_PDF, client=client, document_id=str(document_id))
    assert answer.status_code == status
    assert office.rows() == []
    assert await office.jobs() == []
    assert office.actions() == []
    assert (await purge(office, document_id)).status_code == 200


async def test_a_hand_over_with_permission_belongs_to_the_document(office: HandoverApi) -> None:
    document_id = await office.document()
    assert (await office.hand_over(OTHER_PDF, document_id=str(document_id))).status_code == 202
    assert (await purge(office, document_id)).status_code == 409
    assert await kept(office, await purge(office, document_id, cancel=True)) == []
    assert await office.jobs() == []


async def test_a_purged_document_cannot_be_named(office: HandoverApi) -> None:
    document_id = await office.document()
    assert (await purge(office, document_id)).status_code == 200
    assert (await office.hand_over(OTHER_PDF, document_id=str(document_id))).status_code == 404
    assert await office.jobs() == []


@pytest.mark.parametrize("status", ["pending", "failed"])
async def test_what_a_producer_put_into_the_queue_under_its_id_is_not_the_documents(
    office: HandoverApi, status: str
) -> None:
    document_id = await office.document()
    key = await queue_directly(office, document_id)
    assert (await office.patch(document_id, key, status)).status_code == 204
    assert await kept(office, await purge(office, document_id, cancel=True)) == []
    assert len(await office.jobs()) == 2
    assert office.rows("archive_status") == [status]


async def test_cancelling_leaves_a_job_that_another_producer_put_there(office: HandoverApi) -> None:
    await queue_directly(office, uuid4())
    document_id = await handed_over(office, OTHER_PDF)  # the same bytes: it joins the job
    answer = await purge(office, document_id, cancel=True)
    [stays] = await kept(office, answer)
    assert (stays["store"], stays["key"]) == ("queue", office.key(OTHER_PDF).pdf)
    assert (await office.sidecar(office.key(OTHER_PDF))).cancelled_at is None
    assert len(await office.jobs()) == 2


async def test_a_job_whose_documents_are_all_purged_is_cancelled_whoever_put_it_there(office: HandoverApi) -> None:
    first, second = await handed_over(office), await handed_over(office)
    for document_id in (first, second):
        assert (await purge(office, document_id, cancel=True)).status_code == 200
    assert await office.jobs() == []


async def queue_directly(office: HandoverApi, document_id: UUID) -> str:
    """Write a job as another producer does that has access to the bucket."""
    key = office.key(OTHER_PDF)
    sidecar = Sidecar(key.organization_id, "Firma AS", key.document_type, document_id, now(), key.sha256)
    await enqueue(office.queue, replace(sidecar, invoice_number="1"), Bytes())
    return key.pdf
