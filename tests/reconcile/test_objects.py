"""Rows and objects: losses are reported and never repaired, orphans are deleted by the ledger, recent objects stay."""

from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import replace
from datetime import timedelta
from uuid import UUID, uuid4

import pytest

from muniment.bootstrap.services import build_services
from muniment.documents.tables import DocumentType
from muniment.knowledge_bases.access import get_access
from muniment.reconcile.objects import InvalidSample, ReadSample, parse_sample
from muniment.reconcile.report import DATA_MISSING, NO_DRIFT
from muniment.reconcile.runner import GracePeriods
from muniment.storage.db.base import now
from muniment.storage.db.principal import Service
from muniment.storage.deletions.ledger import reserve
from muniment.storage.objects.folder.store import FolderObjectStore
from muniment.storage.objects.port import ObjectInfo
from tests.documents.uploads import a_pdf
from tests.reconcile.harness import ReconcileHarness

EVERYTHING = ReadSample(1.0)
both_engines = pytest.mark.parametrize("reconcile_env", ["pgvector", "qdrant"], indirect=True)


@both_engines
async def test_stores_that_agree_show_no_drift(reconcile_env: ReconcileHarness) -> None:
    await reconcile_env.completed()
    await reconcile_env.completed()
    await reconcile_env.document(b"still waiting")
    for repair in (False, True):
        report = await reconcile_env.reconcile(repair=repair, subset=EVERYTHING)
        assert (report.rows, report.outcome) == ([], NO_DRIFT)


@pytest.mark.parametrize("repair", [False, True])
async def test_a_row_without_its_object_is_a_loss_that_is_not_repaired(
    reconcile_env: ReconcileHarness, repair: bool
) -> None:
    await reconcile_env.completed()
    document_id = await reconcile_env.completed(b"other bytes")
    await reconcile_env.stores.objects.delete(reconcile_env.original(document_id))

    report = await reconcile_env.reconcile(repair=repair)

    assert [(line.store, line.kind, line.found, line.remaining) for line in report.rows] == [
        ("originals", "missing", 1, 1)
    ]
    assert [(loss.document_id, loss.key) for loss in report.losses] == [
        (document_id, reconcile_env.original(document_id))
    ]
    assert report.outcome == DATA_MISSING
    assert reconcile_env.worker_env.status(document_id) == "completed"


async def test_an_original_of_another_size_is_damaged(reconcile_env: ReconcileHarness) -> None:
    document_id = await reconcile_env.completed()
    await reconcile_env.stores.objects.put(reconcile_env.original(document_id), b"byte")
    report = await reconcile_env.reconcile(repair=True)
    assert [(loss.kind, loss.document_id) for loss in report.losses] == [("damaged", document_id)]


@pytest.mark.parametrize("which", ["original", "pack"])
async def test_a_changed_byte_is_found_by_reading_and_only_by_reading(
    reconcile_env: ReconcileHarness, which: str
) -> None:
    document_id = await reconcile_env.completed()
    key = reconcile_env.original(document_id) if which == "original" else reconcile_env.pack(document_id)
    written = bytearray(await reconcile_env.stores.objects.get(key))
    written[-1] ^= 1
    await reconcile_env.stores.objects.put(key, bytes(written))

    assert await reconcile_env.drift() == {}
    assert await reconcile_env.drift(subset=EVERYTHING) == {f"{which}s/damaged": (1, 1)}


async def test_only_the_share_that_was_asked_for_is_read(reconcile_env: ReconcileHarness) -> None:
    for number in range(4):
        document_id = await reconcile_env.completed(f"bytes {number}".encode())
        await reconcile_env.stores.objects.put(reconcile_env.original(document_id), f"other {number}".encode())
    chances = iter([0.1, 0.6, 0.4, 0.9, *[0.99] * 100])
    assert await reconcile_env.drift(subset=ReadSample(0.5, lambda: next(chances))) == {"originals/damaged": (2, 2)}


def test_a_share_is_written_in_percent() -> None:
    assert (parse_sample("5%").fraction, parse_sample("100%").fraction, parse_sample(" 0.5% ").fraction) == (
        0.05,
        1.0,
        0.005,
    )
    for typed in ("5", "101%", "-1%", "%", "five%"):
        with pytest.raises(InvalidSample):
            parse_sample(typed)


async def test_a_text_pack_that_a_document_needs_is_a_loss(reconcile_env: ReconcileHarness) -> None:
    document_id = await reconcile_env.completed()
    await reconcile_env.stores.objects.delete(reconcile_env.pack(document_id))
    report = await reconcile_env.reconcile(repair=True)
    assert [(loss.store, loss.kind, loss.document_id) for loss in report.losses] == [("packs", "missing", document_id)]


async def test_a_missing_unreferenced_text_pack_is_no_loss(reconcile_env: ReconcileHarness) -> None:
    document_id = await reconcile_env.completed()
    await reconcile_env.stores.objects.delete(reconcile_env.pack(document_id))
    reconcile_env.seed.execute("UPDATE document_revisions SET artifact_text_id = NULL")
    reconcile_env.seed.execute("UPDATE documents SET artifact_text_id = NULL, status = 'failed'")
    assert await reconcile_env.drift() == {}


async def original_of_nobody(reconcile_env: ReconcileHarness) -> str:
    return f"{reconcile_env.kb_id}/{uuid4()}/1/original"


async def original_of_a_gone_kb(reconcile_env: ReconcileHarness) -> str:
    return f"{uuid4()}/{uuid4()}/1/original"


async def pack_of_nobody(reconcile_env: ReconcileHarness) -> str:
    return f"artifacts/{reconcile_env.worker_env.owner.organization_id}/{uuid4()}"


async def shared_pack_of_nobody(reconcile_env: ReconcileHarness) -> str:
    return f"artifacts/shared/{uuid4()}"


Litter = Callable[[ReconcileHarness], Awaitable[str]]
each_litter = pytest.mark.parametrize(
    "litter", [original_of_nobody, original_of_a_gone_kb, pack_of_nobody, shared_pack_of_nobody]
)


@each_litter
async def test_an_unreferenced_object_is_deleted_by_the_ledger(reconcile_env: ReconcileHarness, litter: Litter) -> None:
    await reconcile_env.completed()
    before, key = await reconcile_env.keys(), await litter(reconcile_env)
    await reconcile_env.stores.objects.put(key, b"litter")
    name = "packs/orphaned" if key.startswith("artifacts/") else "originals/orphaned"

    assert await reconcile_env.drift() == {name: (1, 1)}
    assert await reconcile_env.keys() == before | {key}
    assert await reconcile_env.drift(repair=True) == {name: (1, 0)}
    assert await reconcile_env.keys() == before
    assert reconcile_env.seed.rows("SELECT target, reason, outcome FROM deletions WHERE reason <> 'never_kept'") == [
        (key, "reconciled", "erased")
    ]
    assert await reconcile_env.drift() == {}


@each_litter
async def test_a_young_object_is_left_alone(reconcile_env: ReconcileHarness, litter: Litter) -> None:
    reconcile_env.grace_periods = GracePeriods(unchanged=timedelta(0), orphans=timedelta(hours=1))
    await reconcile_env.stores.objects.put(await litter(reconcile_env), b"litter?")
    assert await reconcile_env.drift(repair=True) == {}


@each_litter
async def test_an_object_with_an_open_ledger_entry_is_no_orphan(
    reconcile_env: ReconcileHarness, litter: Litter
) -> None:
    """Not even in the ledger of another organization: shared packs are reserved by the organization that reads them."""
    key, another = await litter(reconcile_env), reconcile_env.seed.person()
    await reconcile_env.stores.objects.put(key, b"on its way")
    owner = (
        reconcile_env.worker_env.owner if key.startswith(str(reconcile_env.kb_id)) or "shared" not in key else another
    )
    async with reconcile_env.stores.database.service_work(Service(owner.organization_id)) as work:
        await reserve(work, key, kb_id=reconcile_env.kb_id, document_id=uuid4())
    assert await reconcile_env.drift(repair=True) == {}
    assert key in await reconcile_env.keys()


async def test_what_is_not_a_document_is_not_litter(reconcile_env: ReconcileHarness) -> None:
    for key in (f"audit/heads/{uuid4()}/1.json", f"probe/{uuid4()}", "something else", "queue/1.pdf"):
        await reconcile_env.stores.objects.put(key, b"somebody's")
    assert await reconcile_env.drift(repair=True) == {}


async def test_an_upload_on_its_way_is_left_alone(reconcile_env: ReconcileHarness) -> None:
    parts, owner, seen = (
        build_services(reconcile_env.settings, reconcile_env.stores),
        reconcile_env.worker_env.owner,
        list[dict[str, tuple[int, int]]](),
    )

    async def chunks() -> AsyncIterator[bytes]:
        yield a_pdf()[:50]
        seen.append(await reconcile_env.drift(repair=True))
        yield a_pdf()[50:]

    async with reconcile_env.stores.database.work(owner.principal) as work:
        access = await get_access(work, reconcile_env.kb_id)
    async with parts.intake.stage(access, "new.pdf", chunks(), now=now()) as staged:
        seen.append(await reconcile_env.drift(repair=True))  # complete in the store, and not yet referenced
        received = await parts.intake.receive(access, staged, DocumentType.OTHER)
    seen.append(await reconcile_env.drift(repair=True))

    assert seen == [{}, {}, {}]
    assert await reconcile_env.keys() == {reconcile_env.original(received.document.id)}
    await parts.images.close()
    await parts.search.close()


class HookedObjectStore(FolderObjectStore):
    """Calls a function just before a knowledge base is listed."""

    hook: Callable[[], Awaitable[None]] | None = None

    async def list(self, prefix: str = "", *, after: str = "") -> AsyncIterator[ObjectInfo]:
        if prefix and self.hook:
            hook, self.hook = self.hook, None
            await hook()
        async for info in super().list(prefix, after=after):
            yield info


async def test_a_document_that_is_removed_while_we_look_is_no_loss(reconcile_env: ReconcileHarness) -> None:
    document_id = await reconcile_env.completed()
    key, objects = (
        reconcile_env.original(document_id),
        HookedObjectStore(reconcile_env.settings.server.data_dir / "blobs"),
    )

    async def remove() -> None:
        """Delete the row first, like a purge."""
        reconcile_env.seed.execute("DELETE FROM documents")
        await objects.delete(key)

    objects.hook = remove
    reconcile_env.stores = replace(reconcile_env.stores, objects=objects)
    assert await reconcile_env.drift() == {}
    assert objects.hook is None


async def test_a_document_uploaded_during_the_comparison_is_no_orphan(reconcile_env: ReconcileHarness) -> None:
    objects, came = HookedObjectStore(reconcile_env.settings.server.data_dir / "blobs"), list[UUID]()

    async def come() -> None:
        """After its rows were read, and before its object is listed."""
        came.append(await reconcile_env.document())

    objects.hook = come
    reconcile_env.stores = replace(reconcile_env.stores, objects=objects)
    assert await reconcile_env.drift(repair=True) == {}
    assert await reconcile_env.keys() == {reconcile_env.original(came[0])}
