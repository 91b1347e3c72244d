"""An artifact is deleted with its last document: row, parts and pack (docs/design.md#garbage-collection)."""

from collections.abc import Sequence
from pathlib import Path

import pytest
from sqlalchemy.exc import IntegrityError

from muniment.errors import Unavailable
from muniment.storage.deletions.deleters import DeletionResult
from muniment.storage.deletions.ledger import Ledger
from muniment.storage.deletions.tables import LedgerEntry, LedgerStore
from muniment.storage.objects.folder.store import FolderObjectStore
from muniment.telemetry.metrics import ARTIFACT_BYTES_FREED
from tests.artifacts.artifacts_fixture import OTHER_VARIANT, ArtifactsFixture, a_key
from tests.support.effects import SimulatedCrash

FREED = ARTIFACT_BYTES_FREED._value.get
OUTCOMES = "SELECT store, outcome FROM deletions ORDER BY store"


class UnresponsiveStore(FolderObjectStore):
    """Store whose deletions time out."""

    is_silent = True

    async def delete(self, key: str) -> None:
        if self.is_silent:
            raise Unavailable("The store does not answer")
        await super().delete(key)


class DyingDeleter:
    """Deletes like the real deleter and crashes before the result is recorded."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger

    async def delete(self, entry: LedgerEntry) -> DeletionResult:
        await self._ledger._deleters[LedgerStore(entry.store)].delete(entry)
        raise SimulatedCrash


def is_nothing_left(artifacts_env: ArtifactsFixture) -> bool:
    return (
        artifacts_env.ids() == set()
        and artifacts_env.part_counts() == [0, 0, 0]
        and artifacts_env.list_open_entries() == 0
    )


async def test_artifact_goes_with_its_only_document(artifacts_env: ArtifactsFixture) -> None:
    full = await artifacts_env.add_artifact()
    size, freed = await artifacts_env.objects.size_bytes(full.full_text_uri), FREED()
    assert artifacts_env.part_counts() == [1, 1, 1]
    line_ids = await artifacts_env.remove_document(artifacts_env.document(full), full.content_hmac)

    assert await artifacts_env.ledger.process(artifacts_env.owner.organization_id, line_ids) == 0

    assert is_nothing_left(artifacts_env)
    assert await artifacts_env.packs() == set()
    assert FREED() - freed == size
    assert artifacts_env.seed.rows(OUTCOMES) == [("artifacts", "erased"), ("blobs", "erased")]


async def test_the_line_of_the_pack_names_the_document_that_is_gone(artifacts_env: ArtifactsFixture) -> None:
    full = await artifacts_env.add_artifact()
    document_id = artifacts_env.document(full)
    line_ids = await artifacts_env.remove_document(document_id, full.content_hmac)

    await artifacts_env.ledger.process(artifacts_env.owner.organization_id, line_ids)

    named = "SELECT knowledge_base_id, document_id, reason FROM deletions WHERE store = 'blobs'"
    assert artifacts_env.seed.rows(named) == [(artifacts_env.kb_id, document_id, "purge")]


async def test_artifact_that_another_document_shows_is_kept(artifacts_env: ArtifactsFixture) -> None:
    full = await artifacts_env.add_artifact()
    artifacts_env.document(full)
    line_ids = await artifacts_env.remove_document(artifacts_env.document(full), full.content_hmac)

    assert await artifacts_env.ledger.process(artifacts_env.owner.organization_id, line_ids) == 0

    assert (artifacts_env.ids(), artifacts_env.list_open_entries()) == ({full.id}, 0)
    assert await artifacts_env.packs() == {full.full_text_uri}
    assert artifacts_env.seed.rows(OUTCOMES) == [("artifacts", "kept")]


async def test_of_two_documents_removed_one_after_the_other_the_second_takes_the_artifact_along(
    artifacts_env: ArtifactsFixture,
) -> None:
    full = await artifacts_env.add_artifact()
    first, second = artifacts_env.document(full), artifacts_env.document(full)
    for document_id in (first, second):
        line_ids = await artifacts_env.remove_document(document_id, full.content_hmac)
        await artifacts_env.ledger.process(artifacts_env.owner.organization_id, line_ids)

    assert is_nothing_left(artifacts_env)
    assert await artifacts_env.packs() == set()


@pytest.mark.parametrize("table", ["document_revisions", "document_processing_runs"])
async def test_a_revision_and_an_open_run_keep_it_too(artifacts_env: ArtifactsFixture, table: str) -> None:
    full = await artifacts_env.add_artifact()
    other = artifacts_env.seed.document(artifacts_env.kb_id, artifacts_env.owner)
    if table == "document_revisions":
        artifacts_env.seed.execute(
            "UPDATE document_revisions SET artifact_text_id = %s WHERE document_id = %s", full.id, other
        )
    else:
        artifacts_env.seed.insert(
            table,
            document_id=other,
            organization_id=artifacts_env.owner.organization_id,
            user_id=artifacts_env.owner.id,
            epoch=1,
            revision=1,
            artifact_text_id=full.id,
        )
    line_ids = await artifacts_env.remove_document(artifacts_env.document(full), full.content_hmac)

    await artifacts_env.ledger.process(artifacts_env.owner.organization_id, line_ids)

    assert artifacts_env.ids() == {full.id}


async def test_what_an_earlier_reading_of_the_same_content_left_goes_too(artifacts_env: ArtifactsFixture) -> None:
    full = await artifacts_env.add_artifact()
    key = a_key(artifacts_env.owner.organization_id, full.content_hmac, OTHER_VARIANT)
    await artifacts_env.add_artifact(key)
    elsewhere = await artifacts_env.add_artifact()  # other content, also unreferenced: it has its grace period
    line_ids = await artifacts_env.remove_document(artifacts_env.document(full), full.content_hmac)

    await artifacts_env.ledger.process(artifacts_env.owner.organization_id, line_ids)

    assert artifacts_env.ids() == {elsewhere.id}
    assert await artifacts_env.packs() == {elsewhere.full_text_uri}


async def test_pack_that_could_not_be_erased_is_erased_by_the_sweep(
    artifacts_env: ArtifactsFixture, tmp_path: Path
) -> None:
    full = await artifacts_env.add_artifact()
    objects = artifacts_env.objects = UnresponsiveStore(tmp_path)
    line_ids = await artifacts_env.remove_document(artifacts_env.document(full), full.content_hmac)

    assert await artifacts_env.ledger.process(artifacts_env.owner.organization_id, line_ids) == 1

    assert (artifacts_env.ids(), artifacts_env.list_open_entries(), await artifacts_env.packs()) == (
        set(),
        1,
        {full.full_text_uri},
    )
    objects.is_silent = False
    artifacts_env.make_entries_due()
    assert await artifacts_env.ledger.process(artifacts_env.owner.organization_id) == 0
    assert is_nothing_left(artifacts_env)
    assert await artifacts_env.packs() == set()


@pytest.mark.parametrize(
    "dies_at", [[LedgerStore.ARTIFACTS], [LedgerStore.OBJECTS], [LedgerStore.ARTIFACTS, LedgerStore.OBJECTS]]
)
async def test_who_dies_before_noting_the_outcome_is_finished_by_the_sweep(
    artifacts_env: ArtifactsFixture, dies_at: Sequence[LedgerStore]
) -> None:
    full = await artifacts_env.add_artifact()
    line_ids = await artifacts_env.remove_document(artifacts_env.document(full), full.content_hmac)
    good = artifacts_env.ledger
    dying = Ledger(artifacts_env.database, {**good._deleters, **dict.fromkeys(dies_at, DyingDeleter(good))})
    for _ in dies_at:
        with pytest.raises(SimulatedCrash):
            await dying.process(artifacts_env.owner.organization_id, line_ids)
        artifacts_env.make_entries_due()
        line_ids = [line_id for (line_id,) in artifacts_env.seed.rows("SELECT id FROM deletions WHERE store = 'blobs'")]

    await good.process(artifacts_env.owner.organization_id)

    assert is_nothing_left(artifacts_env)
    assert await artifacts_env.packs() == set()


async def test_row_and_line_of_the_pack_come_together_or_not_at_all(artifacts_env: ArtifactsFixture) -> None:
    full = await artifacts_env.add_artifact()
    line_ids = await artifacts_env.remove_document(artifacts_env.document(full), full.content_hmac)
    artifacts_env.seed.execute("ALTER TABLE deletions ADD CONSTRAINT no_packs CHECK (store <> 'blobs')")

    with pytest.raises(IntegrityError):
        await artifacts_env.ledger.process(artifacts_env.owner.organization_id, line_ids)
    assert artifacts_env.ids() == {full.id}

    artifacts_env.seed.execute("ALTER TABLE deletions DROP CONSTRAINT no_packs")
    artifacts_env.make_entries_due()
    await artifacts_env.ledger.process(artifacts_env.owner.organization_id)
    assert is_nothing_left(artifacts_env)


@pytest.mark.parametrize("stays", [True, False])
async def test_shared_artifact_stays_while_another_organization_uses_it(
    artifacts_env: ArtifactsFixture, stays: bool
) -> None:
    full = await artifacts_env.add_artifact(a_key(None))
    mine, stranger = artifacts_env.document(full), artifacts_env.seed.person()
    theirs = artifacts_env.document(full, owner=stranger, kb_id=artifacts_env.seed.knowledge_base(stranger))
    await artifacts_env.ledger.process(
        artifacts_env.owner.organization_id, await artifacts_env.remove_document(mine, full.content_hmac)
    )
    assert artifacts_env.ids() == {full.id}
    if not stays:
        line_ids = await artifacts_env.remove_document(theirs, full.content_hmac, owner=stranger)
        assert await artifacts_env.ledger.process(stranger.organization_id, line_ids) == 0

    assert artifacts_env.ids() == ({full.id} if stays else set())
    assert await artifacts_env.packs() == ({full.full_text_uri} if stays else set())


async def test_a_line_of_another_organization_does_not_reach_an_artifact(artifacts_env: ArtifactsFixture) -> None:
    full, stranger = await artifacts_env.add_artifact(), artifacts_env.seed.person()
    theirs = artifacts_env.seed.document(artifacts_env.seed.knowledge_base(stranger), stranger)
    line_ids = await artifacts_env.remove_document(theirs, full.content_hmac, owner=stranger)

    await artifacts_env.ledger.process(stranger.organization_id, line_ids)

    assert artifacts_env.ids() == {full.id}


def test_every_reference_that_keeps_an_artifact_is_asked_about(artifacts_env: ArtifactsFixture) -> None:
    # A reference missing in the function would fail forever in the ledger, as a foreign key violation.
    asked = artifacts_env.seed.one("SELECT pg_get_functiondef('app_artifact_is_used(uuid)'::regprocedure)")
    references = artifacts_env.seed.rows(
        "SELECT conrelid::regclass::text FROM pg_constraint"
        " WHERE confrelid = 'artifacts_full_text'::regclass AND confdeltype <> 'c'"
    )
    assert len(references) >= 3
    assert [table for (table,) in references if f"FROM {table} " not in asked] == []
