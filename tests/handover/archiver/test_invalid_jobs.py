"""Incomplete and invalid jobs, and producers that change a job during a pass."""

from dataclasses import replace
from uuid import uuid4

import pytest

from tests.documents.uploads import a_pdf
from tests.handover.archiver.effects import PassEffectRecorder, record_stores
from tests.handover.archiver.environment import ArchiverEnvironment, open_archiver


@pytest.mark.parametrize("data", [b"{", b"[]", b'{"schemaVersion": "2"}'])
async def test_a_sidecar_that_cannot_be_read_is_a_dead_letter(
    archiver_env_v3: ArchiverEnvironment, data: bytes
) -> None:
    key, whole = await archiver_env_v3.put("first"), await archiver_env_v3.put("second")
    await archiver_env_v3.write(key.sidecar, data)

    report = await archiver_env_v3.run()

    assert report.actions == {"dead_letter": 1, "archived": 1}
    assert archiver_env_v3.rows()[whole.pdf] == "archived"
    assert await archiver_env_v3.office.dead_letters.get(key.sidecar) == data
    assert await archiver_env_v3.office.dead_letters.exists(key.pdf)


async def test_a_pdf_without_the_hash_of_its_key_is_a_dead_letter(archiver_env_v3: ArchiverEnvironment) -> None:
    key = await archiver_env_v3.put()
    await archiver_env_v3.write(key.pdf, a_pdf("something else"))

    report = await archiver_env_v3.run()

    assert report.actions == {"dead_letter": 1}
    assert archiver_env_v3.documents() == []
    assert archiver_env_v3.rows()[key.pdf] == "failed"


async def test_a_sidecar_of_another_job_is_a_dead_letter(archiver_env_v3: ArchiverEnvironment) -> None:
    key = await archiver_env_v3.put()
    await archiver_env_v3.rewrite(key, organization_id=uuid4())

    report = await archiver_env_v3.run()

    assert report.actions == {"dead_letter": 1}
    assert archiver_env_v3.documents() == []


@pytest.mark.parametrize("flaw", ["unreadable", "foreign", "missing"])
async def test_a_dead_letter_without_a_usable_sidecar_marks_its_record_as_failed(
    archiver_env_v3: ArchiverEnvironment, flaw: str
) -> None:
    job_id = (await archiver_env_v3.office.hand_over(a_pdf())).json()["job_id"]
    key = archiver_env_v3.office.key(a_pdf(), "invoice")
    if flaw == "unreadable":
        await archiver_env_v3.write(key.sidecar, b"{")
    elif flaw == "foreign":
        await archiver_env_v3.rewrite(key, organization_id=uuid4())
    else:
        await archiver_env_v3.office.queue.delete(key.sidecar)
        archiver_env_v3.clock.advance(days=8)

    report = await archiver_env_v3.run()

    assert report.actions == {"dead_letter": 1}
    [(failed_id, status, error)] = archiver_env_v3.office.rows("r2_object_key, archive_status, last_error")
    assert (failed_id, status) == (job_id, "failed")
    assert "sidecar" in error
    assert archiver_env_v3.office.actions()[-1] == "document_archive_failed"


async def test_a_job_that_is_being_taken_back_is_left_alone(archiver_env_v3: ArchiverEnvironment) -> None:
    key = await archiver_env_v3.put()
    await archiver_env_v3.rewrite(key, cancelled_at=archiver_env_v3.clock.now())

    await archiver_env_v3.run()

    assert archiver_env_v3.documents() == []
    assert await archiver_env_v3.waiting() == [key.sidecar, key.pdf]


async def test_a_job_with_three_failures_goes_to_the_dead_letters_untried(archiver_env_v3: ArchiverEnvironment) -> None:
    await archiver_env_v3.put(retry_count=3, last_error="as before")

    await archiver_env_v3.run()

    assert archiver_env_v3.server.requests("upload") == []
    assert len(await archiver_env_v3.waiting(archiver_env_v3.office.dead_letters)) == 2
    assert archiver_env_v3.office.rows("retry_count") == [3]


async def test_what_the_archiver_does_not_know_in_a_sidecar_stays_there(archiver_env_v3: ArchiverEnvironment) -> None:
    key = await archiver_env_v3.put()
    await archiver_env_v3.rewrite(key, extra={"costCentre": "4711"})
    archiver_env_v3.server.set(worker="stopped")

    await archiver_env_v3.run()

    assert (await archiver_env_v3.sidecar(key)).extra == {"costCentre": "4711"}


@pytest.mark.timeout(600)
async def test_a_producer_may_rewrite_the_sidecar_after_every_effect(archiver_env_v3: ArchiverEnvironment) -> None:
    effects = PassEffectRecorder()
    await archiver_env_v3.put("undisturbed")
    async with open_archiver(archiver_env_v3.archiver(record_stores(archiver_env_v3.stores, effects))) as archiver:
        effects.watch(archiver)
        await archiver.run()

    for number, effect in enumerate(effects.recorded):
        key = await archiver_env_v3.put(f"rewritten after {number}")
        fresh, rewritten_as = await archiver_env_v3.sidecar(key), uuid4()

        async def rewrite(reached: int, _what: str) -> None:
            if reached == number and await archiver_env_v3.office.queue.exists(key.sidecar):  # noqa: B023
                anew = replace(fresh, bilko_document_id=rewritten_as)  # noqa: B023
                await archiver_env_v3.write(key.sidecar, anew.to_bytes())  # noqa: B023

        during = PassEffectRecorder(rewrite)
        async with open_archiver(
            archiver_env_v3.archiver(record_stores(archiver_env_v3.stores, during), concurrency=1)
        ) as archiver:
            during.watch(archiver)
            await archiver.run()
        await archiver_env_v3.run()

        hashes = [document.sha256 for document in archiver_env_v3.documents()]
        assert len(hashes) == len(set(hashes)), effect
        assert key.sha256 in hashes, effect
        reached = during.recorded[number] if number < len(during.recorded) else "delete"
        if not reached.startswith(("delete", "put archiver", "write")):  # otherwise it was already deleted
            assert rewritten_as in archiver_env_v3.office.rows("bilko_document_id"), reached
        assert await archiver_env_v3.waiting() == [], effect
        assert set(archiver_env_v3.rows().values()) == {"archived"}, effect


async def test_a_sidecar_without_its_pdf_whose_document_is_proven_is_closed(archiver_env: ArchiverEnvironment) -> None:
    await archiver_env.put()
    await archiver_env.run()
    key = await archiver_env.put()
    await archiver_env.office.queue.delete(key.pdf)

    report = await archiver_env.run()

    assert report.actions == {"closed": 1}
    assert await archiver_env.waiting() == []
    assert archiver_env.rows()[key.pdf] == "archived"


@pytest.mark.parametrize("half", ["pdf", "sidecar"])
async def test_half_a_job_is_reported_after_an_hour_and_buried_after_a_week(
    archiver_env_v3: ArchiverEnvironment, half: str
) -> None:
    key = await archiver_env_v3.put()
    await archiver_env_v3.office.queue.delete(key.sidecar if half == "pdf" else key.pdf)
    rest = getattr(key, half)

    assert (await archiver_env_v3.run()).actions == {}
    archiver_env_v3.clock.advance(hours=2)
    assert (await archiver_env_v3.run()).actions == {"orphan": 1}
    await archiver_env_v3.run()
    assert archiver_env_v3.notifier.titles == ["P2 Muniment archiver: orphans"]
    assert await archiver_env_v3.waiting() == [rest]
    archiver_env_v3.clock.advance(days=7)
    assert (await archiver_env_v3.run()).actions == {"dead_letter": 1}

    assert await archiver_env_v3.waiting() == []
    assert await archiver_env_v3.waiting(archiver_env_v3.office.dead_letters) == [rest]
