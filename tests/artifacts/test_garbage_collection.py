"""What replacing and reading again leave goes after its grace, and not before (docs/contracts.md#artifact-versions)."""

from dataclasses import replace
from datetime import datetime, timedelta
from uuid import UUID

import pytest

from muniment.artifacts import garbage_collection
from muniment.artifacts.garbage_collection import CollectionResult
from muniment.artifacts.keys import ContentKeyFactory, SharingScope
from muniment.artifacts.tables import TextArtifact
from muniment.storage.db.principal import Service
from muniment.telemetry.metrics import ARTIFACT_BYTES_FREED
from tests.artifacts.artifacts_fixture import GRACE, NOW, ArtifactsFixture, a_key
from tests.support.seed import HMAC_SECRET

SECOND = timedelta(seconds=1)
FREED = ARTIFACT_BYTES_FREED._value.get
EVERYTHING = "SELECT * FROM artifacts_full_text ORDER BY id", "SELECT * FROM deletions ORDER BY id"


def marks(shelf: ArtifactsFixture) -> dict[UUID, datetime | None]:
    return dict(shelf.seed.rows("SELECT id, unreferenced_at FROM artifacts_full_text"))


async def test_unused_is_marked_and_removed_when_its_grace_is_over(shelf: ArtifactsFixture) -> None:
    full = await shelf.add_artifact()
    size, freed = await shelf.objects.size_bytes(full.full_text_uri), FREED()

    assert await shelf.collect(NOW) == CollectionResult(marked=1)
    assert await shelf.collect(NOW + GRACE - SECOND) == CollectionResult()
    assert marks(shelf) == {full.id: NOW}
    assert await shelf.collect(NOW + GRACE) == CollectionResult(removed=1, freed_bytes=size)

    assert (shelf.ids(), shelf.part_counts(), await shelf.packs()) == (set(), [0, 0, 0], set())
    assert (shelf.list_open_entries(), FREED() - freed) == (0, size)
    assert await shelf.collect(NOW + 2 * GRACE) == CollectionResult()


async def test_used_is_left_alone_for_ever(shelf: ArtifactsFixture) -> None:
    full = await shelf.add_artifact()
    shelf.document(full)
    for at in (NOW, NOW + GRACE, NOW + 10 * GRACE):
        assert await shelf.collect(at) == CollectionResult()
    assert marks(shelf) == {full.id: None}
    assert await shelf.packs() == {full.full_text_uri}


async def test_used_again_loses_its_mark_and_later_begins_anew(shelf: ArtifactsFixture) -> None:
    full = await shelf.add_artifact()
    await shelf.collect(NOW)
    document_id = shelf.document(full)
    assert await shelf.collect(NOW + 2 * GRACE) == CollectionResult(unmarked=1)
    assert marks(shelf) == {full.id: None}
    shelf.seed.execute("UPDATE documents SET artifact_text_id = NULL WHERE id = %s", document_id)

    assert await shelf.collect(NOW + 3 * GRACE) == CollectionResult(marked=1)
    assert await shelf.collect(NOW + 4 * GRACE - SECOND) == CollectionResult()
    assert shelf.ids() == {full.id}


async def test_a_dry_run_says_the_same_and_changes_nothing(shelf: ArtifactsFixture) -> None:
    old, used = await shelf.add_artifact(), await shelf.add_artifact()
    await shelf.collect(NOW)
    shelf.document(used)
    await shelf.add_artifact()
    before = [shelf.seed.rows(question) for question in EVERYTHING]
    packs = await shelf.packs()

    told = await shelf.collect(NOW + GRACE, dry_run=True)

    assert [shelf.seed.rows(question) for question in EVERYTHING] == before
    assert await shelf.packs() == packs
    assert told == CollectionResult(removed=1, freed_bytes=await shelf.objects.size_bytes(old.full_text_uri), marked=1)
    assert await shelf.collect(NOW + GRACE) == replace(told, unmarked=1)


async def test_every_organization_is_cleared_up_and_what_all_share(shelf: ArtifactsFixture) -> None:
    stranger = shelf.seed.person()
    await shelf.add_artifact()
    await shelf.add_artifact(a_key(stranger.organization_id), service=Service(stranger.organization_id))
    await shelf.add_artifact(a_key(None))

    assert await shelf.collect(NOW) == CollectionResult(marked=3)
    assert (await shelf.collect(NOW + GRACE)).removed == 3

    assert (shelf.ids(), await shelf.packs(), shelf.list_open_entries()) == (set(), set(), 0)


async def test_what_is_removed_is_on_record_and_what_is_only_marked_is_not(shelf: ArtifactsFixture) -> None:
    full = await shelf.add_artifact()
    await shelf.collect(NOW)
    assert shelf.seed.audit_lines() == []
    await shelf.collect(NOW + GRACE, dry_run=True)
    assert shelf.seed.audit_lines() == []
    await shelf.collect(NOW + GRACE)
    (line,) = shelf.seed.audit_lines()
    assert (line["action"], line["actor"]) == ("artifact_collected", "system")
    assert line["organization_id"] == shelf.owner.organization_id
    assert line["payload"] == {"artifact_id": str(full.id), "was_shared": False}


async def test_shared_artifact_that_any_organization_uses_is_not_marked(shelf: ArtifactsFixture) -> None:
    full = await shelf.add_artifact(a_key(None))
    newest = shelf.seed.person()  # the ledger's lines of what all share are written in another's name
    shelf.document(full, owner=newest, kb_id=shelf.seed.knowledge_base(newest))

    assert await shelf.collect(NOW) == CollectionResult()


async def test_artifact_of_one_document_alone_goes_while_its_twin_of_the_same_bytes_stays(
    shelf: ArtifactsFixture,
) -> None:
    organization_id = shelf.owner.organization_id
    keys = ContentKeyFactory(HMAC_SECRET, SharingScope.DOCUMENT)
    fulls: list[TextArtifact] = []
    for _ in range(2):
        document_id = shelf.seed.document(shelf.kb_id, shelf.owner, name=f"{len(fulls)}.pdf")
        hashed = keys.new_hasher(organization_id=organization_id, document_id=document_id)
        fulls.append(await shelf.add_artifact(a_key(organization_id, hashed.content_key)))
        shelf.seed.execute("UPDATE documents SET artifact_text_id = %s WHERE id = %s", fulls[-1].id, document_id)
    shelf.seed.execute("UPDATE documents SET artifact_text_id = NULL WHERE artifact_text_id = %s", fulls[0].id)

    assert (await shelf.collect(NOW)).marked == 1
    await shelf.collect(NOW + GRACE)

    assert shelf.ids() == {fulls[1].id}
    assert await shelf.packs() == {fulls[1].full_text_uri}


@pytest.mark.parametrize("batch", [1, 2, 3])
async def test_batches_leave_nothing_out(shelf: ArtifactsFixture, monkeypatch: pytest.MonkeyPatch, batch: int) -> None:
    monkeypatch.setattr(garbage_collection, "BATCH", batch)
    kept = {(await shelf.add_artifact()).id for _ in range(2)}
    for text_id in kept:
        shelf.seed.document(shelf.kb_id, shelf.owner, name=f"{text_id}.pdf", artifact_text_id=text_id)
    for _ in range(3):
        await shelf.add_artifact()

    assert (await shelf.collect(NOW)).marked == 3
    assert (await shelf.collect(NOW + GRACE)).removed == 3
    assert shelf.ids() == kept


async def test_pack_that_is_missing_already_does_not_stop_the_others(shelf: ArtifactsFixture) -> None:
    fulls = [await shelf.add_artifact() for _ in range(2)]
    await shelf.objects.delete(fulls[0].full_text_uri)
    await shelf.collect(NOW)

    assert (await shelf.collect(NOW + GRACE)).removed == 2
    assert shelf.list_open_entries() == 0
