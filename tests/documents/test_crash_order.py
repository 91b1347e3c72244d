"""Whatever fails during an upload: there is never a row without its bytes, and a sweep deletes what is left."""

import asyncio
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import datetime
from pathlib import Path

import pytest

from muniment.bootstrap.maintenance import build_upload_sweep
from muniment.bootstrap.object_stores import DEAD_LETTER_FOLDER, QUEUE_FOLDER
from muniment.bootstrap.stores import Stores, build_ledger, build_stores
from muniment.errors import Unavailable
from muniment.settings import Settings
from muniment.storage.db.address import DatabaseAddress
from muniment.storage.db.base import now
from muniment.storage.deletions.sweep import LedgerSweep
from muniment.storage.objects.folder.store import FolderObjectStore
from muniment.storage.objects.port import ObjectWriter
from tests.documents.uploads import (
    END,
    FILE_HEAD,
    KB,
    a_pdf,
    connection,
    is_nothing_left,
    request_head,
    stored_keys,
    until_begun,
    upload,
)
from tests.support.cluster import Cluster
from tests.support.live_api import RunningApi, running_api
from tests.support.seed import Seed


class FailingObjectStore(FolderObjectStore):
    """A real store that fails at one moment."""

    fails_at = ""

    @asynccontextmanager
    async def writer(self, key: str, *, content_type: str | None = None) -> AsyncIterator[ObjectWriter]:
        async with super().writer(key, content_type=content_type) as writer:
            yield writer
            self._fail("before the end")
        self._fail("after the end")

    async def delete(self, key: str) -> None:
        self._fail("delete")
        await super().delete(key)

    def _fail(self, moment: str) -> None:
        if self.fails_at == moment:
            raise Unavailable("The store does not answer")


def brittle_stores(settings: Settings) -> tuple[Stores, FailingObjectStore]:
    stores, objects = build_stores(settings), FailingObjectStore(settings.server.data_dir / "blobs")
    return replace(stores, objects=objects, ledger=build_ledger(stores.database, objects, stores.handover)), objects


@pytest.mark.parametrize("moment", ["before the end", "after the end"])
async def test_store_that_fails_while_writing_leaves_no_row_and_no_object(
    settings: Settings, seed: Seed, moment: str
) -> None:
    owner = seed.person()
    kb_id = seed.knowledge_base(owner)
    stores, objects = brittle_stores(settings)
    async with running_api(settings, stores) as api, api.client(owner) as client:
        objects.fails_at = moment
        answer = await upload(client, kb_id)

        assert answer.status_code == 503
        assert answer.headers["Retry-After"]
        assert await is_nothing_left(api, seed)


async def test_bytes_that_could_not_be_deleted_are_deleted_by_the_sweep(settings: Settings, seed: Seed) -> None:
    owner = seed.person()
    kb_id = seed.knowledge_base(owner)
    failed = seed.document(kb_id, owner, name="report.pdf", status="failed")
    stores, objects = brittle_stores(settings)
    async with running_api(settings, stores) as api, api.client(owner) as client:
        await objects.put(f"{kb_id}/{failed}/1/original", b"older bytes")
        objects.fails_at = "delete"

        answer = await upload(client, kb_id)

        assert (answer.status_code, answer.json()["auto_cleared_document_id"]) == (201, str(failed))
        [(target, error)] = seed.rows("SELECT target, last_error FROM deletions WHERE done_at IS NULL")
        assert (target, error) == (f"{kb_id}/{failed}/1/original", "The store does not answer")
        objects.fails_at = ""
        seed.execute("UPDATE deletions SET next_attempt_at = now()")
        await LedgerSweep(stores.database, stores.ledger).run()
        assert await stored_keys(api) == [f"{kb_id}/{answer.json()['id']}/1/original"]
        assert seed.one("SELECT count(*) FROM deletions WHERE done_at IS NULL") == 0


async def test_refused_upload_that_could_not_be_cleared_is_cleared_by_the_sweep(settings: Settings, seed: Seed) -> None:
    owner = seed.person()
    kb_id = seed.knowledge_base(owner)
    stores, objects = brittle_stores(settings)
    async with running_api(settings, stores) as api, api.client(owner) as client:
        objects.fails_at = "delete"
        assert (await upload(client, kb_id, document_type="unknown")).status_code == 422
        assert len(await stored_keys(api)) == 1
        objects.fails_at = ""
        seed.execute("UPDATE deletions SET next_attempt_at = now()")
        await LedgerSweep(stores.database, stores.ledger).run()
        assert await is_nothing_left(api, seed)


async def test_expired_upload_is_swept_with_its_object(api: RunningApi, kb: KB, seed: Seed) -> None:
    for name, expires_in in (("expired", "-1 second"), ("living", "1 hour")):
        await api.stores.objects.put(f"{kb.id}/{name}/1/original", b"bytes")
        seed.execute(
            "INSERT INTO uploads"
            " (id, document_id, organization_id, knowledge_base_id, blob_key, uploaded_by, expires_at)"
            " VALUES (gen_random_uuid(), gen_random_uuid(), %s, %s, %s, %s, now() + %s::interval)",
            kb.owner.organization_id,
            kb.id,
            f"{kb.id}/{name}/1/original",
            kb.owner.id,
            expires_in,
        )

    await build_upload_sweep(api.settings, api.stores).run()

    assert await stored_keys(api) == [f"{kb.id}/living/1/original"]
    assert seed.rows("SELECT blob_key FROM uploads") == [(f"{kb.id}/living/1/original",)]


async def test_upload_whose_row_the_sweep_took_is_refused_and_leaves_nothing(
    api: RunningApi, kb: KB, seed: Seed
) -> None:
    content = a_pdf()
    async with connection(api) as client:
        await client.send(request_head(kb.id, kb.owner, len(FILE_HEAD + content + END)))
        await client.send(FILE_HEAD + content[:50])
        await until_begun(seed)
        seed.execute("UPDATE uploads SET expires_at = now() - interval '1 second'")
        await build_upload_sweep(api.settings, api.stores).run()
        await client.send(content[50:] + END)
        assert await client.status() == 503
    assert await is_nothing_left(api, seed)


async def test_database_that_goes_away_in_mid_upload_loses_nothing_to_the_sweep(
    cluster: Cluster, address: DatabaseAddress, api: RunningApi, kb: KB, seed: Seed
) -> None:
    content = a_pdf()
    async with connection(api) as client:
        await client.send(request_head(kb.id, kb.owner, len(FILE_HEAD + content + END)))
        await client.send(FILE_HEAD + content[:50])
        await until_begun(seed)
        close_database(cluster, address, seed)
        await client.send(content[50:] + END)
        assert await client.status() == 503
    cluster.run("ALTER DATABASE {} ALLOW_CONNECTIONS true", address.database)
    assert seed.one("SELECT count(*) FROM documents") == 0
    seed.execute("UPDATE uploads SET expires_at = now() - interval '1 second'")
    await build_upload_sweep(api.settings, api.stores).run()
    assert await is_nothing_left(api, seed)


def close_database(cluster: Cluster, address: DatabaseAddress, seed: Seed) -> None:
    cluster.run("ALTER DATABASE {} ALLOW_CONNECTIONS false", address.database)
    seed.execute(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
        " WHERE datname = current_database() AND pid <> pg_backend_pid()"
    )


async def leave_temporary_file(root: Path, written_at: datetime) -> Path:
    """Kill a process while it writes an object into the store, and return the file that it leaves."""
    program = Path(__file__).parents[1] / "contracts" / "programs" / "half_written.py"
    child = await asyncio.create_subprocess_exec(sys.executable, program, root, stdout=asyncio.subprocess.PIPE)
    assert child.stdout is not None
    assert await child.stdout.readline() == b"half written\n"
    child.kill()
    await child.wait()
    [left] = (root / ".incoming").iterdir()
    os.utime(left, (written_at.timestamp(), written_at.timestamp()))
    return left


@pytest.mark.slow
@pytest.mark.parametrize("folder", ["blobs", QUEUE_FOLDER, DEAD_LETTER_FOLDER])
async def test_temporary_file_of_a_killed_writer_is_deleted_from_every_store(settings: Settings, folder: str) -> None:
    stores = build_stores(settings)
    lifetime = settings.documents.upload_lifetime
    left = await leave_temporary_file(settings.server.data_dir / folder, now() - lifetime - lifetime / 10)
    fresh = left.with_name("fresh")
    fresh.write_bytes(b"of a writer that is still at work")

    try:
        await build_upload_sweep(settings, stores).run()
    finally:
        await stores.close()

    assert not left.exists()
    assert fresh.exists()
