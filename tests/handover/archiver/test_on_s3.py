"""A whole pass with queue and dead letters in two buckets of a real S3 server."""

import hashlib
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import UTC, datetime
from uuid import uuid4

import pytest

from muniment.handover.archiver.pass_context import PassOutcome
from muniment.handover.job_key import JobKey
from muniment.handover.queue import HandoverStores, enqueue
from muniment.handover.sidecar import Sidecar
from tests.contracts.test_versioned_object_store import build_s3_store
from tests.documents.uploads import a_pdf
from tests.handover.archiver.environment import ArchiverEnvironment
from tests.handover.archiver.fakes import BytesContent
from tests.support.seaweedfs import SeaweedFS


@pytest.fixture
async def stores(empty_s3_server: SeaweedFS) -> AsyncIterator[HandoverStores]:
    letters = replace(empty_s3_server, bucket=f"{empty_s3_server.bucket}-dead-letters")
    letters.make_bucket()
    letters.empty()
    stores = HandoverStores(build_s3_store(empty_s3_server), build_s3_store(letters))
    yield stores
    await stores.close()


async def put(archiver_env: ArchiverEnvironment, stores: HandoverStores, text: str) -> JobKey:
    content = a_pdf(text)
    sidecar = Sidecar(
        organization_id=archiver_env.office.organization_id,
        organization_name="Firma AS",
        document_type="invoice",
        bilko_document_id=uuid4(),
        timestamp=datetime(2026, 5, 8, tzinfo=UTC),
        sha256=hashlib.sha256(content).hexdigest(),
    )
    await enqueue(stores.queue, sidecar, BytesContent(content))
    return sidecar.key


async def test_every_job_ends_in_paperless_once_and_the_queue_is_empty(
    archiver_env: ArchiverEnvironment, stores: HandoverStores
) -> None:
    keys = [await put(archiver_env, stores, f"Report {number}") for number in range(3)]

    first, second = await archiver_env.run(stores), await archiver_env.run(stores)

    assert (first.outcome, second.actions) == (PassOutcome.DONE, {})
    assert {document.sha256 for document in archiver_env.documents()} == {key.sha256 for key in keys}
    assert len(archiver_env.documents()) == len(keys)
    assert await archiver_env.waiting(stores.queue) == []
    assert archiver_env.rows() == {key.pdf: "archived" for key in keys}


async def test_what_cannot_be_archived_goes_to_the_other_bucket_whole(
    archiver_env_v3: ArchiverEnvironment, stores: HandoverStores
) -> None:
    key = await put(archiver_env_v3, stores, "Report")
    held = await stores.queue.get_versioned(key.sidecar)
    assert await stores.queue.put_if_match(key.sidecar, b"no sidecar at all", version=held.version)

    await archiver_env_v3.run(stores)

    assert await archiver_env_v3.waiting(stores.queue) == []
    assert await archiver_env_v3.waiting(stores.dead_letters) == sorted([key.pdf, key.sidecar])
    assert archiver_env_v3.documents() == []
