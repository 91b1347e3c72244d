"""Dead letters: operators list, requeue and discard them, and only those with an original expire."""

import os
from datetime import timedelta
from uuid import UUID, uuid4

import httpx
import pytest
from structlog.testing import capture_logs

from muniment.handover.dead_letters import DeadLetterSweep
from muniment.handover.job_key import JobKey
from muniment.storage.db.base import now
from tests.documents.uploads import a_pdf
from tests.handover.handover_api import ARCHIVER, HandoverApi

PDF = a_pdf("A dead letter")
LETTERS = "/api/v1/archive/dead-letters"


async def a_letter(
    office: HandoverApi, content: bytes = PDF, *, days: float = 0, document_id: UUID | None = None
) -> JobKey:
    """Add a dead letter as the archiver leaves it, this number of days ago."""
    answer = await office.hand_over(content, document_id=str(document_id or uuid4()), document_type="other")
    key = office.key(content)
    for name in (key.pdf, key.sidecar):
        data = await office.queue.get(name)
        await office.dead_letters.put_if_absent(name, data.replace(b'"retryCount": 0', b'"retryCount": 3'))
        await office.queue.delete(name)
    office.seed.execute("UPDATE archive_audit_log SET archive_status = 'failed', retry_count = 3, last_error = 'no'")
    age(office, key, days)
    assert answer.status_code == 202
    return key


def age(office: HandoverApi, key: JobKey, days: float) -> None:
    at = (now() - timedelta(days=days)).timestamp()
    for name in (key.pdf, key.sidecar):
        path = office.api.settings.server.data_dir / "archive-dlq" / name
        if path.exists():
            os.utime(path, (at, at))


async def requeue(office: HandoverApi, key: JobKey) -> httpx.Response:
    return await office.client.post(f"{LETTERS}/{key.pdf}/requeue")


def sweep(office: HandoverApi) -> DeadLetterSweep:
    stores = office.api.stores
    return DeadLetterSweep(stores.database, stores.handover, stores.objects)


async def test_operators_see_what_waits_and_what_is_dead(office: HandoverApi) -> None:
    document_id = uuid4()
    key = await a_letter(office, document_id=document_id)
    await office.hand_over(a_pdf("waits"))

    waiting = (await office.client.get("/api/v1/archive/queue")).json()
    assert (waiting["total"], waiting["items"][0]["key"]) == (1, office.key(a_pdf("waits"), "invoice").pdf)
    dead = (await office.client.get(LETTERS)).json()
    assert dead["total"] == 1
    [letter] = dead["items"]
    assert letter.pop("since")
    assert letter == {
        "key": key.pdf,
        "organization_id": str(office.organization_id),
        "document_type": "other",
        "sha256": key.sha256,
        "document_id": str(document_id),
        "size_bytes": len(PDF),
        "retry_count": 3,
        "last_attempt_at": None,
        "last_error": None,
        "problem": None,
        "reason": "No reason was recorded",
    }


async def test_a_page_of_many_is_read_job_by_job(office: HandoverApi) -> None:
    for number in range(5):
        await office.hand_over(a_pdf(f"number {number}"))

    pages = [
        (await office.client.get("/api/v1/archive/queue", params={"limit": 2, "page": page})).json()
        for page in (1, 2, 3, 4)
    ]
    assert [len(page["items"]) for page in pages] == [2, 2, 1, 0]
    assert {page["total"] for page in pages} == {5}
    assert len({item["key"] for page in pages for item in page["items"]}) == 5


async def test_broken_ones_are_shown_with_what_is_wrong(office: HandoverApi) -> None:
    keys = [office.key(a_pdf(name)) for name in ("a", "b", "c")]
    await office.dead_letters.put_if_absent(keys[0].pdf, b"pdf")
    await office.dead_letters.put_if_absent(keys[1].sidecar, b"{")
    await office.dead_letters.put_if_absent("org/litter", b"")

    dead = (await office.client.get(LETTERS)).json()
    problems = {item["key"]: item["problem"] for item in dead["items"]}
    assert problems == {keys[0].pdf: "The sidecar is missing", keys[1].pdf: "The sidecar cannot be read: not JSON"}
    assert problems == {item["key"]: item["reason"] for item in dead["items"]}


async def test_only_operators_see_and_decide(office: HandoverApi) -> None:
    key = await a_letter(office)
    admin = office.seed.person(office.organization_id, is_admin=True)
    async with office.api.client(admin) as client:
        answers = [
            await client.get("/api/v1/archive/queue"),
            await client.get(LETTERS),
            await client.post(f"{LETTERS}/{key.pdf}/requeue"),
            await client.delete(f"{LETTERS}/{key.pdf}"),
        ]

    assert [answer.status_code for answer in answers] == [403] * 4
    assert len(await office.jobs(office.dead_letters)) == 2


async def test_requeue_resets_the_count_and_empties_the_dead_letters(office: HandoverApi) -> None:
    key = await a_letter(office)
    answer = await requeue(office, key)

    assert answer.status_code == 200, answer.text
    assert answer.json()["job_id"] == key.pdf
    assert await office.queue.get(key.pdf) == PDF
    assert (await office.sidecar(key)).retry_count == 0
    assert await office.jobs(office.dead_letters) == []
    assert office.rows("archive_status, retry_count, last_error") == [("pending", 0, None)]
    line = office.seed.audit_lines()[-1]
    assert (line["action"], line["actor"]) == ("dead_letter_requeued", str(office.owner.id))
    assert line["organization_id"] == office.organization_id


async def test_what_the_archiver_noted_does_not_come_back_and_what_others_wrote_does(office: HandoverApi) -> None:
    key = await a_letter(office)
    held = await office.dead_letters.get_versioned(key.sidecar)
    noted = held.data.replace(b"{", b'{"attemptId": "a", "taskId": "t", "theirs": 1,', 1)
    await office.dead_letters.put_if_match(key.sidecar, noted, version=held.version)
    await requeue(office, key)

    sidecar = await office.sidecar(key)
    assert (sidecar.attempt_id, sidecar.task_id, dict(sidecar.extra)) == (None, None, {"theirs": 1})


async def test_a_sidecar_that_cannot_be_read_is_written_anew_from_the_row(office: HandoverApi) -> None:
    document_id = uuid4()
    key = await a_letter(office, document_id=document_id)
    held = await office.dead_letters.get_versioned(key.sidecar)
    await office.dead_letters.put_if_match(key.sidecar, b"{", version=held.version)

    assert (await requeue(office, key)).status_code == 200
    assert (await office.sidecar(key)).bilko_document_id == document_id


async def test_what_cannot_be_archived_does_not_go_back(office: HandoverApi) -> None:
    unknown, damaged, alone = (office.key(a_pdf(name)) for name in ("a", "b", "c"))
    await office.dead_letters.put_if_absent(unknown.pdf, a_pdf("a"))
    await office.dead_letters.put_if_absent(alone.sidecar, b"{}")
    await a_letter(office, a_pdf("b"))
    await office.dead_letters.delete(damaged.pdf)
    await office.dead_letters.put_if_absent(damaged.pdf, b"%PDF-damaged")

    assert [(await requeue(office, key)).status_code for key in (unknown, damaged, alone)] == [400] * 3
    assert await office.jobs() == []
    assert len(await office.jobs(office.dead_letters)) == 4
    assert office.rows("archive_status, last_error") == [("failed", "no")]
    assert "dead_letter_requeued" not in office.actions()


@pytest.mark.parametrize("key", ["nothing", "org/x", f"org/{uuid4()}/other/{'0' * 64}.pdf"])
async def test_what_is_no_dead_letter_is_not_found(office: HandoverApi, key: str) -> None:
    assert (await office.client.post(f"{LETTERS}/{key}/requeue")).status_code == 404
    assert (await office.client.delete(f"{LETTERS}/{key}")).status_code == 404
    for verb in ("requeue", "discard"):
        path = f"/internal/v1/dead-letters/{key}/{verb}"
        assert (await office.api.anonymous.post(path, headers=ARCHIVER)).status_code == 404


async def test_discard_deletes_it_for_good_and_says_who(office: HandoverApi) -> None:
    key = await a_letter(office)
    assert (await office.client.delete(f"{LETTERS}/{key.pdf}")).status_code == 204

    assert await office.jobs(office.dead_letters) == []
    assert office.rows() == ["failed"]
    line = office.seed.audit_lines()[-1]
    assert (line["action"], line["actor"]) == ("dead_letter_discarded", str(office.owner.id))


async def test_the_archiver_may_do_both_with_its_key(office: HandoverApi) -> None:
    first, second = await a_letter(office, a_pdf("a")), await a_letter(office, a_pdf("b"))
    client = office.api.anonymous
    again = await client.post(f"/internal/v1/dead-letters/{first.pdf}/requeue", headers=ARCHIVER)
    gone = await client.post(f"/internal/v1/dead-letters/{second.pdf}/discard", headers=ARCHIVER)

    assert (again.status_code, gone.status_code) == (200, 204)
    assert await office.jobs() == [first.sidecar, first.pdf]
    assert await office.jobs(office.dead_letters) == []
    assert {line["actor"] for line in office.seed.audit_lines()[-2:]} == {"archiver"}


async def test_after_a_week_one_expires_whose_original_muniment_holds(office: HandoverApi) -> None:
    await office.document(PDF)
    key = await a_letter(office, days=6.9)
    await sweep(office).expire()
    assert len(await office.jobs(office.dead_letters)) == 2

    age(office, key, 7.1)
    await sweep(office).expire()
    assert await office.jobs(office.dead_letters) == []
    assert office.rows() == ["failed"]
    assert office.actions()[-1] == "dead_letter_expired"


async def test_one_that_is_nowhere_else_never_expires(office: HandoverApi) -> None:
    await a_letter(office, days=400)
    await sweep(office).expire()

    assert len(await office.jobs(office.dead_letters)) == 2


async def test_a_row_without_its_bytes_is_no_original(office: HandoverApi) -> None:
    document_id = await office.document(PDF)
    await office.api.stores.objects.delete(f"{office.kb_id}/{document_id}/1/original")
    await a_letter(office, days=8)
    await sweep(office).expire()

    assert len(await office.jobs(office.dead_letters)) == 2


async def test_a_damaged_original_is_none(office: HandoverApi) -> None:
    document_id = await office.document(PDF)
    await office.api.stores.objects.put(f"{office.kb_id}/{document_id}/1/original", b"x" * len(PDF))
    await a_letter(office, days=8)
    await sweep(office).expire()

    assert len(await office.jobs(office.dead_letters)) == 2


async def test_another_organizations_original_is_none(office: HandoverApi) -> None:
    await office.document(PDF)
    stranger = office.seed.organization()
    key = JobKey(stranger, "other", office.key(PDF).sha256)
    unknown = JobKey(uuid4(), "other", office.key(PDF).sha256)
    for one in (key, unknown):
        await office.dead_letters.put_if_absent(one.pdf, PDF)
        age(office, one, 8)
    await sweep(office).expire()

    assert len(await office.jobs(office.dead_letters)) == 2


async def test_from_the_fifth_day_on_somebody_is_told_every_day(office: HandoverApi) -> None:
    await office.document(PDF)
    held, lost = await a_letter(office, days=6), await a_letter(office, a_pdf("nowhere else"), days=5.1)
    young = await a_letter(office, a_pdf("younger"), days=4.9)
    with capture_logs() as lines:
        await sweep(office).remind()

    told = [line["job_id"] for line in lines if line["event"] == "archive.dead_letter_unsaved"]
    assert told == [lost.pdf]
    assert held.pdf not in told
    assert young.pdf not in told
