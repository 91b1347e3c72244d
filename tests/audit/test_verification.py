"""Every change to the audit log by a superuser of the database is detected (docs/design.md#i7)."""

import json
from collections.abc import AsyncIterator
from pathlib import Path
from uuid import uuid4

import pytest

from muniment.audit import sealing
from muniment.audit.hashing import INSTALLATION_CHAIN, event_hash, genesis_hash, link_hash, payload_hash, to_rfc3339
from muniment.audit.heads import Head, HeadSigner, head_object_key
from muniment.audit.sealing import envelope_of
from muniment.audit.signing import Signer
from muniment.audit.tables import AuditEvent
from muniment.audit.verification import Verification
from muniment.storage.db.base import now
from muniment.storage.db.work import Database
from muniment.storage.objects.folder.store import FolderObjectStore
from muniment.storage.objects.port import ObjectInfo
from tests.audit.trail import Trail

CHANGES = {
    "id": "gen_random_uuid()",
    "at": "at + interval '1 microsecond'",
    "action": "'something_else'",
    "actor": "'nobody'",
    "knowledge_base_id": "gen_random_uuid()",
    "document_id": "NULL",
    "address": "'192.0.2.2'",
    "payload": "payload || '{\"pages\": 4}'",
}
SEAL_CHANGES = {
    "salt": "'\\x00'",
    "payload_hash": "'\\x00'",
    "event_hash": "'\\x00'",
    "hash": "'\\x00'",
    "sealed_at": "sealed_at + interval '1 second'",
    "event_id": "gen_random_uuid()",
    "chain": "gen_random_uuid()",
}
HEAD_CHANGES = {
    "hash": "'\\x00'",
    "at": "at - interval '1 day'",
    "previous_seq": "7",
    "key_id": "'0000000000000000'",
    "signature": "'\\x00'",
}


async def test_an_untouched_audit_log_verifies(trail: Trail) -> None:
    await trail.write_sealed(3)
    await trail.write_sealed(2)
    trail.write()
    verdict = await trail.verification.verify(trail.organization_id)
    assert verdict.problems == []
    assert (verdict.events, verdict.last_seq, verdict.signed_seq, verdict.unsealed) == (5, 5, 5, 1)


async def test_a_trail_in_which_nothing_happened_is_in_order(trail: Trail) -> None:
    assert await trail.problems() == []


async def test_what_is_sealed_and_not_signed_yet_is_in_order(trail: Trail) -> None:
    await trail.write_sealed(2)
    trail.write(2)
    await trail.seal()
    verdict = await trail.verification.verify(trail.organization_id)
    assert (verdict.problems, verdict.last_seq, verdict.signed_seq) == ([], 4, 2)


@pytest.mark.parametrize("column", CHANGES)
async def test_a_change_in_any_column_of_an_event_is_found_where_it_is(trail: Trail, column: str) -> None:
    ids = await trail.write_sealed(3)
    trail.tamper(f"UPDATE audit_events SET {column} = {CHANGES[column]} WHERE id = %s", ids[1])
    problems = await trail.problems()
    assert problems
    assert "seq 2" in problems[0]


async def test_an_event_that_was_moved_to_another_organization_is_found(trail: Trail) -> None:
    ids = await trail.write_sealed(3)
    trail.tamper("UPDATE audit_events SET organization_id = %s WHERE id = %s", trail.seed.organization(), ids[1])
    assert await trail.problems() == ["The event at seq 2 is missing"]


@pytest.mark.parametrize("column", SEAL_CHANGES)
async def test_a_change_in_any_column_of_a_seal_is_found_where_it_is(trail: Trail, column: str) -> None:
    await trail.write_sealed(3)
    trail.tamper(f"UPDATE audit_seals SET {column} = {SEAL_CHANGES[column]} WHERE seq = 2")
    problems = await trail.problems()
    assert problems
    assert "seq 2" in problems[0].lower()


@pytest.mark.parametrize("column", HEAD_CHANGES)
async def test_a_change_in_any_column_of_a_head_is_found(trail: Trail, column: str) -> None:
    await trail.write_sealed(3)
    await trail.write_sealed()
    trail.tamper(f"UPDATE audit_heads SET {column} = {HEAD_CHANGES[column]} WHERE seq = 3")
    problems = await trail.problems()
    assert problems
    assert "The head of seq 3" in problems[0]


async def test_an_event_that_is_gone_is_found(trail: Trail) -> None:
    ids = await trail.write_sealed(3)
    trail.tamper("DELETE FROM audit_events WHERE id = %s", ids[1])
    assert await trail.problems() == ["The event at seq 2 is missing"]


async def test_an_event_that_is_gone_with_its_seal_is_found(trail: Trail) -> None:
    ids = await trail.write_sealed(3)
    trail.tamper("DELETE FROM audit_events WHERE id = %s", ids[1])
    trail.tamper("DELETE FROM audit_seals WHERE event_id = %s", ids[1])
    assert await trail.problems() == ["Seq 2 is missing: the next one is seq 3"]


async def test_a_gap_that_was_closed_again_is_found(trail: Trail) -> None:
    ids = await trail.write_sealed(4)
    trail.tamper("DELETE FROM audit_events WHERE id = %s", ids[1])
    trail.tamper("DELETE FROM audit_seals WHERE event_id = %s", ids[1])
    trail.tamper("UPDATE audit_seals SET seq = seq - 1 WHERE seq > 2")
    problems = await trail.problems()
    assert "seq 2 does not follow" in problems[0]


async def test_two_events_that_changed_their_places_are_found(trail: Trail) -> None:
    await trail.write_sealed(3)
    trail.tamper("UPDATE audit_seals SET seq = CASE seq WHEN 2 THEN 103 ELSE 102 END WHERE seq IN (2, 3)")
    trail.tamper("UPDATE audit_seals SET seq = seq - 100 WHERE seq > 100")
    problems = await trail.problems()
    assert "seq 2 does not follow" in problems[0]


async def test_two_events_that_changed_their_contents_are_found(trail: Trail) -> None:
    first, second, _ = await trail.write_sealed(3)
    trail.tamper(
        """UPDATE audit_events e SET actor = 'other', payload = o.payload FROM audit_events o
            WHERE (e.id, o.id) IN ((%s, %s), (%s, %s))""",
        first, second, second, first,
    )  # fmt: skip
    assert [problem[:18] for problem in await trail.problems()] == ["The event at seq 1", "The event at seq 2"]


async def remove_end(trail: Trail, *, after: int) -> None:
    trail.tamper("DELETE FROM audit_events WHERE id IN (SELECT event_id FROM audit_seals WHERE seq > %s)", after)
    trail.tamper("DELETE FROM audit_seals WHERE seq > %s", after)


async def test_an_end_that_was_removed_is_found_by_the_signed_head(trail: Trail, objects: FolderObjectStore) -> None:
    await trail.write_sealed(2)
    await trail.write_sealed(3)
    await remove_end(trail, after=2)
    await objects.delete(head_object_key(trail.chain, 5))
    problems = await trail.problems()
    assert "seq 5 is missing: its end was removed" in problems[0]


async def test_an_end_that_was_removed_with_its_heads_is_found_by_the_head_outside(trail: Trail) -> None:
    await trail.write_sealed(2)
    await trail.write_sealed(3)
    await remove_end(trail, after=2)
    trail.tamper("DELETE FROM audit_heads WHERE seq > 2")
    problems = await trail.problems()
    assert "seq 5 is missing: its end was removed" in problems[0]


async def test_a_chain_that_was_removed_wholly_is_found_by_the_head_outside(trail: Trail) -> None:
    await trail.write_sealed(2)
    for table in ("audit_events", "audit_seals", "audit_heads"):
        trail.tamper(f"DELETE FROM {table}")
    assert "seq 2 is missing: its end was removed" in (await trail.problems())[0]


async def test_chains_of_organizations_that_are_gone_are_checked_too(trail: Trail) -> None:
    await trail.write_sealed(2)
    trail.write(organization_id=None)
    await trail.sealer.seal(None)
    await trail.heads.sign_chain(None)
    for table in ("audit_events", "audit_seals", "audit_heads", "organizations"):
        trail.tamper(f"DELETE FROM {table}")
    assert await trail.verification.list_chains() == [None, trail.organization_id]


def rewrite(trail: Trail, *, from_seq: int) -> None:
    """Change an event and recompute its seal and all following ones."""
    trail.tamper(
        """UPDATE audit_events SET actor = 'nobody'
            WHERE id = (SELECT event_id FROM audit_seals WHERE seq = %s)""",
        from_seq,
    )
    previous = genesis_hash(trail.chain)
    columns = "seq, salt, sealed_at, id, at, action, actor, organization_id, knowledge_base_id, document_id, address"
    for seq, salt, sealed_at, *event, payload in trail.seed.rows(
        f"SELECT {columns}, payload FROM audit_seals JOIN audit_events ON id = event_id ORDER BY seq"
    ):
        names = ("id", "at", "action", "actor", "organization_id", "kb_id", "document_id", "address")
        row = AuditEvent(**dict(zip(names, event, strict=True)), payload=payload)
        digest = event_hash(envelope_of(row), payload_hash(salt, payload), to_rfc3339(sealed_at))
        previous = link_hash(previous, seq, digest)
        trail.tamper("UPDATE audit_seals SET event_hash = %s, hash = %s WHERE seq = %s", digest, previous, seq)


async def test_a_chain_that_was_rewritten_is_found_by_its_heads(trail: Trail) -> None:
    await trail.write_sealed(2)
    await trail.write_sealed(2)
    rewrite(trail, from_seq=1)
    problems = await trail.problems()
    assert [("seq 2" in problem or "seq 4" in problem) and "rewritten" in problem for problem in problems] == [True] * 3


async def test_a_chain_that_was_rewritten_and_its_heads_removed_is_found_by_the_head_outside(trail: Trail) -> None:
    await trail.write_sealed(2)
    rewrite(trail, from_seq=1)
    trail.tamper("DELETE FROM audit_heads")
    assert "rewritten" in (await trail.problems())[0]


async def test_a_rewritten_chain_is_not_signed_anew(trail: Trail) -> None:
    await trail.write_sealed(2)
    rewrite(trail, from_seq=1)
    with pytest.raises(Exception, match="does not continue"):
        await trail.write_sealed()
    trail.tamper("DELETE FROM audit_heads")
    trail.tamper("DELETE FROM audit_seals WHERE seq > 2")
    with pytest.raises(Exception, match="does not continue"):
        await trail.sign()


async def test_a_head_signed_by_an_unknown_key_is_forged(trail: Trail, objects: FolderObjectStore) -> None:
    await trail.write_sealed(2)
    stranger = Signer.from_text("A" * 43)
    hash_ = trail.seed.one("SELECT encode(hash, 'hex') FROM audit_seals WHERE seq = 2")
    head = Head(trail.chain, 2, hash_, to_rfc3339(now()), 0, stranger.key_id).signed_by(stranger)
    await objects.put(head_object_key(trail.chain, 2), json.dumps(head.as_json()).encode())
    assert "which does not belong to this installation" in (await trail.problems())[0]


@pytest.mark.parametrize("what", [b"", b"[]", b"{}", b'{"seq": 2}', b"\xff"])
async def test_a_head_outside_that_was_overwritten_is_found(
    trail: Trail, objects: FolderObjectStore, what: bytes
) -> None:
    await trail.write_sealed(2)
    await objects.put(head_object_key(trail.chain, 2), what)
    assert "is not a signed head" in (await trail.problems())[0]


async def test_an_older_head_in_the_place_of_the_newest_is_found(trail: Trail, objects: FolderObjectStore) -> None:
    await trail.write_sealed(2)
    await trail.write_sealed(2)
    await objects.put(head_object_key(trail.chain, 4), await objects.get(head_object_key(trail.chain, 2)))
    assert "is not a signed head" in (await trail.problems())[0]


async def test_a_head_that_is_missing_outside_is_found(trail: Trail, objects: FolderObjectStore) -> None:
    await trail.write_sealed(2)
    await trail.write_sealed(2)
    await objects.delete(head_object_key(trail.chain, 2))
    assert await trail.problems() == ["The signed head of seq 2 is missing outside the database"]


async def test_a_head_that_is_missing_inside_is_found(trail: Trail) -> None:
    for _ in range(3):
        await trail.write_sealed()
    trail.tamper("DELETE FROM audit_heads WHERE seq = 2")
    assert await trail.problems() == ["A signed head between seq 1 and 3 was removed"]


async def test_heads_that_two_processes_sign_at_the_same_time_are_in_order(
    trail: Trail, database: Database, tmp_path: Path, signer: Signer
) -> None:
    class SlowerStore(FolderObjectStore):
        """While this one writes a head, another process signs a later one."""

        async def put_if_absent(self, key: str, data: bytes, *, content_type: str | None = None) -> bool:
            await trail.write_sealed()
            return await super().put_if_absent(key, data, content_type=content_type)

    trail.write()
    await trail.seal()
    await HeadSigner(database, SlowerStore(tmp_path / "blobs"), signer).sign_chain(trail.organization_id)
    await trail.write_sealed()
    assert trail.seed.rows("SELECT seq, previous_seq FROM audit_heads ORDER BY seq") == [(1, 0), (2, 0), (3, 2)]
    assert await trail.problems() == []
    trail.tamper("DELETE FROM audit_heads WHERE seq = 2")
    assert await trail.problems() == ["A signed head between seq 1 and 3 was removed"]


async def test_an_event_that_was_kept_from_its_seal_is_found(trail: Trail) -> None:
    await trail.write_sealed(2)
    trail.write()
    trail.tamper("DELETE FROM audit_unsealed")
    assert await trail.problems() == ["1 events are not sealed and not waiting to be sealed"]


async def test_of_many_problems_the_first_are_told_and_all_are_counted(trail: Trail) -> None:
    await trail.write_sealed(120)
    trail.tamper("UPDATE audit_events SET actor = 'nobody'")
    verdict = await trail.verification.verify(trail.organization_id)
    assert (len(verdict.problems), verdict.problem_count) == (100, 120)


async def test_the_installation_has_a_chain_that_is_checked_like_the_others(trail: Trail) -> None:
    (event_id,) = trail.write(organization_id=None)
    await trail.sealer.seal(None)
    await trail.heads.sign_chain(None)
    assert (await trail.verification.verify(None)).is_intact
    trail.tamper("UPDATE audit_events SET actor = 'nobody' WHERE id = %s", event_id)
    verdict = await trail.verification.verify(None)
    assert (verdict.chain, verdict.problem_count) == (INSTALLATION_CHAIN, 1)


async def test_a_long_chain_is_walked_in_batches_and_tells_how_far_it_is(trail: Trail) -> None:
    trail.seed.execute(
        """INSERT INTO audit_events (id, action, actor, organization_id, payload)
           SELECT gen_random_uuid(), 'test', 'x', %s, '{}' FROM generate_series(1, %s)""",
        trail.organization_id,
        2 * sealing.BATCH + 1,
    )
    await trail.seal()
    seen: list[tuple[int, int]] = []
    verdict = await trail.verification.verify(trail.organization_id, lambda done, total: seen.append((done, total)))
    assert verdict.is_intact
    total = 2 * sealing.BATCH + 1
    assert seen == [(sealing.BATCH, total), (2 * sealing.BATCH, total), (total, total)]


async def test_an_unknown_chain_is_empty_and_in_order(trail: Trail) -> None:
    assert (await trail.verification.verify(uuid4())).is_intact


class ListedStore(FolderObjectStore):
    """Notes which objects were listed."""

    def __init__(self, root: Path) -> None:
        super().__init__(root)
        self.listed: list[str] = []

    async def list(self, prefix: str = "", *, after: str = "") -> AsyncIterator[ObjectInfo]:
        async for info in super().list(prefix, after=after):
            self.listed.append(info.key)
            yield info


async def test_without_time_no_chains_are_looked_for_outside(
    trail: Trail, database: Database, tmp_path: Path, signer: Signer
) -> None:
    await trail.write_sealed()
    objects = ListedStore(tmp_path / "blobs")  # each chain takes a request
    chains = Verification(database, objects, signer).iter_chains(keep_going=lambda: objects.listed == [])
    assert [chain async for chain in chains] == [None, trail.organization_id]
    assert len(objects.listed) == 1


async def test_without_time_only_the_newest_head_is_checked_however_long_the_chain_is(
    trail: Trail, database: Database, tmp_path: Path, signer: Signer
) -> None:
    for _ in range(5):
        await trail.write_sealed()
    trail.write()
    trail.tamper("DELETE FROM audit_unsealed")  # finding it would mean to read every event
    objects = ListedStore(tmp_path / "blobs")
    verification = Verification(database, objects, signer)
    verdict = await verification.verify(trail.organization_id, keep_going=lambda: False)
    assert (verdict.is_intact, verdict.is_complete) == (True, False)
    assert objects.listed == [head_object_key(trail.chain, 5)]
    trail.tamper("DELETE FROM audit_heads WHERE seq > 2")
    trail.tamper("DELETE FROM audit_seals WHERE seq > 2")
    [problem] = (await verification.verify(trail.organization_id, keep_going=lambda: False)).problems
    assert "its end was removed" in problem.sentence
