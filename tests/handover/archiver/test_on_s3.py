"""A whole pass with queue and dead letters in two buckets of a real S3 server."""

import hashlib
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import UTC, datetime
from uuid import uuid4

import pytest

from muniment.handover.archiver.pass_context import Outcome
from muniment.handover.job_key import JobKey
from muniment.handover.queue import ArchiveStores, put_job
from muniment.handover.sidecar import Sidecar
from tests.contracts.test_versioned_object_store import s3_queue
from tests.documents.uploads import a_pdf
from tests.handover.archiver.environment import Stage
from tests.handover.archiver.fakes import Bytes
from tests.support.seaweedfs import SeaweedFS


@pytest.fixture
async def stores(empty_s3_server: SeaweedFS) -> AsyncIterator[ArchiveStores]:
    letters = replace(empty_s3_server, bucket="dead-letters")
    letters.make_bucket()
    letters.empty()
    stores = ArchiveStores(s3_queue(empty_s3_server), s3_queue(letters))
    yield stores
    await stores.close()


async def put(stage: Stage, stores: ArchiveStores, text: str) -> JobKey:
    content = a_pdf(text)
    sidecar = Sidecar(
        organization_id=stage.office.organization_id,
        organization_name="Firma AS",
        document_type="invoice",
        bilko_document_id=uuid4(),
        timestamp=datetime(2026, 5, 8, tzinfo=UTC),
        sha256=hashlib.sha256(content).hexdigest(),
    )
    await put_job(stores.queue, sidecar, Bytes(content))
    return sidecar.key


async def test_every_job_ends_in_paperless_once_and_the_queue_is_empty(stage: Stage, stores: ArchiveStores) -> None:
    keys = [await put(stage, stores, f"Report {number}") for number in range(3)]

    first, second = await stage.run(stores), await stage.run(stores)

    assert (first.outcome, second.actions) == (Outcome.DONE, {})
    assert {document.sha256 for document in stage.documents()} == {key.sha256 for key in keys}
    assert len(stage.documents()) == len(keys)
    assert await stage.waiting(stores.queue) == []
    assert stage.rows() == {key.pdf: "archived" for key in keys}


async def test_what_cannot_be_archived_goes_to_the_other_bucket_whole(stage3: Stage, stores: ArchiveStores) -> None:
    key = await put(stage3, stores, "Report")
    held = await stores.queue.get(key.sidecar)
    assert await stores.queue.put_if(key.sidecar, b"no sidecar at all", version=held.version)

    await stage3.run(stores)

    assert await stage3.waiting(stores.queue) == []
    assert await stage3.waiting(stores.dead_letters) == sorted([key.pdf, key.sidecar])
    assert stage3.documents() == []
