"""Incomplete and invalid jobs, and producers that change a job during a pass."""

from dataclasses import replace
from uuid import uuid4

import pytest

from tests.documents.uploads import a_pdf
from tests.handover.archiver.effects import EffectRecorder, record_stores
from tests.handover.archiver.environment import ArchiverEnvironment, open_archiver


@pytest.mark.parametrize("data", [b"{", b"[]", b'{"schemaVersion": "2"}'])
async def test_a_sidecar_that_cannot_be_read_is_a_dead_letter(stage3: ArchiverEnvironment, data: bytes) -> None:
    key, whole = await stage3.put("first"), await stage3.put("second")
    await stage3.write(key.sidecar, data)

    report = await stage3.run()

    assert report.actions == {"dead_letter": 1, "archived": 1}
    assert stage3.rows()[whole.pdf] == "archived"
    assert await stage3.office.dead_letters.get(key.sidecar) == data
    assert await stage3.office.dead_letters.exists(key.pdf)


async def test_a_pdf_without_the_hash_of_its_key_is_a_dead_letter(stage3: ArchiverEnvironment) -> None:
    key = await stage3.put()
    await stage3.write(key.pdf, a_pdf("something else"))

    report = await stage3.run()

    assert report.actions == {"dead_letter": 1}
    assert stage3.documents() == []
    assert stage3.rows()[key.pdf] == "failed"


async def test_a_sidecar_of_another_job_is_a_dead_letter(stage3: ArchiverEnvironment) -> None:
    key = await stage3.put()
    await stage3.rewrite(key, organization_id=uuid4())

    report = await stage3.run()

    assert report.actions == {"dead_letter": 1}
    assert stage3.documents() == []


async def test_a_job_that_is_being_taken_back_is_left_alone(stage3: ArchiverEnvironment) -> None:
    key = await stage3.put()
    await stage3.rewrite(key, cancelled_at=stage3.clock.now())

    await stage3.run()

    assert stage3.documents() == []
    assert await stage3.waiting() == [key.sidecar, key.pdf]


async def test_a_job_with_three_failures_goes_to_the_dead_letters_untried(stage3: ArchiverEnvironment) -> None:
    await stage3.put(retry_count=3, last_error="as before")

    await stage3.run()

    assert stage3.server.requests("upload") == []
    assert len(await stage3.waiting(stage3.office.dead_letters)) == 2


async def test_what_the_archiver_does_not_know_in_a_sidecar_stays_there(stage3: ArchiverEnvironment) -> None:
    key = await stage3.put()
    await stage3.rewrite(key, extra={"costCentre": "4711"})
    stage3.server.set(worker="stopped")

    await stage3.run()

    assert (await stage3.sidecar(key)).extra == {"costCentre": "4711"}


@pytest.mark.timeout(600)
async def test_a_producer_may_rewrite_the_sidecar_after_every_effect(stage3: ArchiverEnvironment) -> None:
    effects = EffectRecorder()
    await stage3.put("undisturbed")
    async with open_archiver(stage3.archiver(record_stores(stage3.stores, effects))) as archiver:
        effects.watch(archiver)
        await archiver.run()

    for number, effect in enumerate(effects.recorded):
        key = await stage3.put(f"rewritten after {number}")
        fresh, rewritten_as = await stage3.sidecar(key), uuid4()

        async def rewrite(reached: int, _what: str) -> None:
            if reached == number and await stage3.office.queue.exists(key.sidecar):  # noqa: B023
                anew = replace(fresh, bilko_document_id=rewritten_as)  # noqa: B023
                await stage3.write(key.sidecar, anew.to_bytes())  # noqa: B023

        during = EffectRecorder(rewrite)
        async with open_archiver(stage3.archiver(record_stores(stage3.stores, during), concurrency=1)) as archiver:
            during.watch(archiver)
            await archiver.run()
        await stage3.run()

        hashes = [document.sha256 for document in stage3.documents()]
        assert len(hashes) == len(set(hashes)), effect
        assert key.sha256 in hashes, effect
        reached = during.recorded[number] if number < len(during.recorded) else "delete"
        if not reached.startswith(("delete", "put archiver", "write")):  # then it was gone already
            assert rewritten_as in stage3.office.rows("bilko_document_id"), reached
        assert await stage3.waiting() == [], effect
        assert set(stage3.rows().values()) == {"archived"}, effect


async def test_a_sidecar_without_its_pdf_whose_document_is_proven_is_closed(stage: ArchiverEnvironment) -> None:
    await stage.put()
    await stage.run()
    key = await stage.put()
    await stage.office.queue.delete(key.pdf)

    report = await stage.run()

    assert report.actions == {"closed": 1}
    assert await stage.waiting() == []
    assert stage.rows()[key.pdf] == "archived"


@pytest.mark.parametrize("half", ["pdf", "sidecar"])
async def test_half_a_job_is_reported_after_an_hour_and_buried_after_a_week(
    stage3: ArchiverEnvironment, half: str
) -> None:
    key = await stage3.put()
    await stage3.office.queue.delete(key.sidecar if half == "pdf" else key.pdf)
    rest = getattr(key, half)

    assert (await stage3.run()).actions == {}
    stage3.clock.advance(hours=2)
    assert (await stage3.run()).actions == {"orphan": 1}
    await stage3.run()
    assert stage3.notifier.titles == ["P2 Muniment archiver: orphans"]
    assert await stage3.waiting() == [rest]
    stage3.clock.advance(days=7)
    assert (await stage3.run()).actions == {"dead_letter": 1}

    assert await stage3.waiting() == []
    assert await stage3.waiting(stage3.office.dead_letters) == [rest]
