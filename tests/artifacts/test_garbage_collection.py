"""Artifacts left by replace and reread are collected after their grace period (docs/contracts.md#artifact-versions)."""

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


def marks(artifacts_env: ArtifactsFixture) -> dict[UUID, datetime | None]:
    return dict(artifacts_env.seed.rows("SELECT id, unreferenced_at FROM artifacts_full_text"))


async def test_unused_is_marked_and_removed_when_its_grace_is_over(artifacts_env: ArtifactsFixture) -> None:
    full = await artifacts_env.add_artifact()
    size, freed = await artifacts_env.objects.size_bytes(full.full_text_uri), FREED()

    assert await artifacts_env.collect(NOW) == CollectionResult(marked=1)
    assert await artifacts_env.collect(NOW + GRACE - SECOND) == CollectionResult()
    assert marks(artifacts_env) == {full.id: NOW}
    assert await artifacts_env.collect(NOW + GRACE) == CollectionResult(removed=1, freed_bytes=size)

    assert (artifacts_env.ids(), artifacts_env.part_counts(), await artifacts_env.packs()) == (set(), [0, 0, 0], set())
    assert (artifacts_env.list_open_entries(), FREED() - freed) == (0, size)
    assert await artifacts_env.collect(NOW + 2 * GRACE) == CollectionResult()


async def test_used_is_left_alone_for_ever(artifacts_env: ArtifactsFixture) -> None:
    full = await artifacts_env.add_artifact()
    artifacts_env.document(full)
    for at in (NOW, NOW + GRACE, NOW + 10 * GRACE):
        assert await artifacts_env.collect(at) == CollectionResult()
    assert marks(artifacts_env) == {full.id: None}
    assert await artifacts_env.packs() == {full.full_text_uri}


async def test_used_again_loses_its_mark_and_later_begins_anew(artifacts_env: ArtifactsFixture) -> None:
    full = await artifacts_env.add_artifact()
    await artifacts_env.collect(NOW)
    document_id = artifacts_env.document(full)
    assert await artifacts_env.collect(NOW + 2 * GRACE) == CollectionResult(unmarked=1)
    assert marks(artifacts_env) == {full.id: None}
    artifacts_env.seed.execute("UPDATE documents SET artifact_text_id = NULL WHERE id = %s", document_id)

    assert await artifacts_env.collect(NOW + 3 * GRACE) == CollectionResult(marked=1)
    assert await artifacts_env.collect(NOW + 4 * GRACE - SECOND) == CollectionResult()
    assert artifacts_env.ids() == {full.id}


async def test_a_dry_run_says_the_same_and_changes_nothing(artifacts_env: ArtifactsFixture) -> None:
    old, used = await artifacts_env.add_artifact(), await artifacts_env.add_artifact()
    await artifacts_env.collect(NOW)
    artifacts_env.document(used)
    await artifacts_env.add_artifact()
    before = [artifacts_env.seed.rows(question) for question in EVERYTHING]
    packs = await artifacts_env.packs()

    told = await artifacts_env.collect(NOW + GRACE, dry_run=True)

    assert [artifacts_env.seed.rows(question) for question in EVERYTHING] == before
    assert await artifacts_env.packs() == packs
    assert told == CollectionResult(
        removed=1, freed_bytes=await artifacts_env.objects.size_bytes(old.full_text_uri), marked=1
    )
    assert await artifacts_env.collect(NOW + GRACE) == replace(told, unmarked=1)


async def test_every_organization_is_cleared_up_and_what_all_share(artifacts_env: ArtifactsFixture) -> None:
    stranger = artifacts_env.seed.person()
    await artifacts_env.add_artifact()
    await artifacts_env.add_artifact(a_key(stranger.organization_id), service=Service(stranger.organization_id))
    await artifacts_env.add_artifact(a_key(None))

    assert await artifacts_env.collect(NOW) == CollectionResult(marked=3)
    assert (await artifacts_env.collect(NOW + GRACE)).removed == 3

    assert (artifacts_env.ids(), await artifacts_env.packs(), artifacts_env.list_open_entries()) == (set(), set(), 0)


async def test_what_is_removed_is_on_record_and_what_is_only_marked_is_not(artifacts_env: ArtifactsFixture) -> None:
    full = await artifacts_env.add_artifact()
    await artifacts_env.collect(NOW)
    assert artifacts_env.seed.audit_lines() == []
    await artifacts_env.collect(NOW + GRACE, dry_run=True)
    assert artifacts_env.seed.audit_lines() == []
    await artifacts_env.collect(NOW + GRACE)
    (line,) = artifacts_env.seed.audit_lines()
    assert (line["action"], line["actor"]) == ("artifact_collected", "system")
    assert line["organization_id"] == artifacts_env.owner.organization_id
    assert line["payload"] == {"artifact_id": str(full.id), "was_shared": False}


async def test_shared_artifact_that_any_organization_uses_is_not_marked(artifacts_env: ArtifactsFixture) -> None:
    full = await artifacts_env.add_artifact(a_key(None))
    newest = (
        artifacts_env.seed.person()
    )  # ledger entries for shared artifacts are written in the name of another organization
    artifacts_env.document(full, owner=newest, kb_id=artifacts_env.seed.knowledge_base(newest))

    assert await artifacts_env.collect(NOW) == CollectionResult()


async def test_artifact_of_one_document_alone_goes_while_its_twin_of_the_same_bytes_stays(
    artifacts_env: ArtifactsFixture,
) -> None:
    organization_id = artifacts_env.owner.organization_id
    keys = ContentKeyFactory(HMAC_SECRET, SharingScope.DOCUMENT)
    fulls: list[TextArtifact] = []
    for _ in range(2):
        document_id = artifacts_env.seed.document(artifacts_env.kb_id, artifacts_env.owner, name=f"{len(fulls)}.pdf")
        hashed = keys.new_hasher(organization_id=organization_id, document_id=document_id)
        fulls.append(await artifacts_env.add_artifact(a_key(organization_id, hashed.content_key)))
        artifacts_env.seed.execute(
            "UPDATE documents SET artifact_text_id = %s WHERE id = %s", fulls[-1].id, document_id
        )
    artifacts_env.seed.execute("UPDATE documents SET artifact_text_id = NULL WHERE artifact_text_id = %s", fulls[0].id)

    assert (await artifacts_env.collect(NOW)).marked == 1
    await artifacts_env.collect(NOW + GRACE)

    assert artifacts_env.ids() == {fulls[1].id}
    assert await artifacts_env.packs() == {fulls[1].full_text_uri}


@pytest.mark.parametrize("batch", [1, 2, 3])
async def test_batches_leave_nothing_out(
    artifacts_env: ArtifactsFixture, monkeypatch: pytest.MonkeyPatch, batch: int
) -> None:
    monkeypatch.setattr(garbage_collection, "BATCH", batch)
    kept = {(await artifacts_env.add_artifact()).id for _ in range(2)}
    for text_id in kept:
        artifacts_env.seed.document(
            artifacts_env.kb_id, artifacts_env.owner, name=f"{text_id}.pdf", artifact_text_id=text_id
        )
    for _ in range(3):
        await artifacts_env.add_artifact()

    assert (await artifacts_env.collect(NOW)).marked == 3
    assert (await artifacts_env.collect(NOW + GRACE)).removed == 3
    assert artifacts_env.ids() == kept


async def test_pack_that_is_missing_already_does_not_stop_the_others(artifacts_env: ArtifactsFixture) -> None:
    fulls = [await artifacts_env.add_artifact() for _ in range(2)]
    await artifacts_env.objects.delete(fulls[0].full_text_uri)
    await artifacts_env.collect(NOW)

    assert (await artifacts_env.collect(NOW + GRACE)).removed == 2
    assert artifacts_env.list_open_entries() == 0
