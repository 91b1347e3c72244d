"""The signing key can be replaced on purpose; a lost one is not replaced by accident."""

import base64

import pytest

from muniment.audit.hashing import to_rfc3339
from muniment.audit.heads import Head, HeadRepository, HeadSigner
from muniment.audit.keys import (
    SigningKeyMismatch,
    SigningKeyReused,
    register_first_key,
    require_current_key,
    rotate_key,
)
from muniment.audit.signing import Signer
from muniment.audit.verification import Verification
from muniment.storage.db.base import now
from muniment.storage.db.principal import Service
from muniment.storage.db.work import Database
from muniment.storage.objects.folder.store import FolderObjectStore
from tests.audit.trail import Trail
from tests.support.live_api import RunningApi
from tests.support.seed import Seed

SECOND, THIRD = (Signer.from_text(base64.b64encode(bytes([number] * 32)).decode()) for number in (2, 3))


async def test_the_first_key_becomes_known_by_itself(database: Database, signer: Signer, seed: Seed) -> None:
    for _ in range(2):
        await register_first_key(database, signer)
    assert seed.rows("SELECT key_id, public_key FROM audit_keys") == [(signer.key_id, signer.public_key)]


async def test_another_key_is_refused_and_does_not_become_known(database: Database, signer: Signer, seed: Seed) -> None:
    await register_first_key(database, signer)
    for ask in (register_first_key, require_current_key):
        with pytest.raises(SigningKeyMismatch):
            await ask(database, SECOND)
    assert seed.one("SELECT count(*) FROM audit_keys") == 1


async def test_asking_makes_nothing_known(database: Database, signer: Signer, seed: Seed) -> None:
    await require_current_key(database, signer)
    assert seed.one("SELECT count(*) FROM audit_keys") == 0


async def test_a_key_that_is_replaced_on_purpose_is_on_record(database: Database, signer: Signer, seed: Seed) -> None:
    await register_first_key(database, signer)
    assert await rotate_key(database, SECOND)
    assert not await rotate_key(database, SECOND)
    await register_first_key(database, SECOND)
    (line,) = seed.audit_lines()
    assert (line["action"], line["organization_id"]) == ("signing_key_changed", None)
    assert line["payload"] == {"before": signer.key_id, "after": SECOND.key_id}


async def test_a_key_that_was_replaced_does_not_come_back(database: Database, signer: Signer) -> None:
    await register_first_key(database, signer)
    await rotate_key(database, SECOND)
    with pytest.raises(SigningKeyReused):
        await rotate_key(database, signer)


def with_key(trail: Trail, database: Database, objects: FolderObjectStore, signer: Signer) -> Trail:
    heads, verification = HeadSigner(database, objects, signer), Verification(database, objects, signer)
    return Trail(trail.seed, trail.sealer, heads, verification, trail.organization_id)


async def forge_head(trail: Trail, database: Database, signer: Signer) -> None:
    """Sign the end of the chain with any key, after one more event."""
    trail.write()
    await trail.seal()
    seq, found = trail.seed.rows("SELECT seq, hash FROM audit_seals ORDER BY seq DESC LIMIT 1")[0]
    head = Head(trail.chain, seq, found.hex(), to_rfc3339(now()), seq - 1, signer.key_id).signed_by(signer)
    async with database.service_work(Service(trail.organization_id)) as work:
        await HeadRepository(work.session).add_once(head)


async def test_what_older_keys_signed_is_in_order_after_each_replacement(
    trail: Trail, database: Database, objects: FolderObjectStore, signer: Signer
) -> None:
    await register_first_key(database, signer)
    await trail.write_sealed(2)
    for key in (SECOND, THIRD):
        await rotate_key(database, key)
        trail = with_key(trail, database, objects, key)
        await trail.write_sealed(2)
    assert await trail.problems() == []
    assert (await trail.verification.verify(None)).is_intact


async def test_a_head_by_a_key_that_had_been_replaced_is_found(
    trail: Trail, database: Database, objects: FolderObjectStore, signer: Signer
) -> None:
    await register_first_key(database, signer)
    await rotate_key(database, SECOND)
    new = with_key(trail, database, objects, SECOND)
    await new.write_sealed()
    await forge_head(trail, database, signer)  # someone still has the old key
    assert "which had already been replaced" in (await new.problems())[0]


async def test_a_process_that_still_has_a_replaced_key_leaves_the_heads_to_others(
    trail: Trail, database: Database, objects: FolderObjectStore, signer: Signer
) -> None:
    await register_first_key(database, signer)
    await rotate_key(database, SECOND)
    new = with_key(trail, database, objects, SECOND)
    await new.write_sealed()
    await trail.write_sealed()  # it has not been restarted yet
    assert trail.seed.rows("SELECT seq, key_id FROM audit_heads") == [(1, SECOND.key_id)]
    await new.sign()
    assert trail.seed.one("SELECT max(seq) FROM audit_heads") == 2
    assert await new.problems() == []


async def test_a_key_that_was_slipped_in_vouches_for_nothing(
    trail: Trail, database: Database, objects: FolderObjectStore, signer: Signer
) -> None:
    await register_first_key(database, signer)
    forged = with_key(trail, database, objects, SECOND)
    trail.seed.insert(
        "audit_keys",
        key_id=SECOND.key_id, public_key=SECOND.public_key, previous_key_id=signer.key_id,
        at="2026-01-01T00:00:00Z", signature=b"rubbish",
    )  # fmt: skip
    await forged.write_sealed()
    assert "does not belong to this installation" in (await trail.problems())[0]
    installation = await trail.verification.verify(None)
    assert [SECOND.key_id in problem.sentence for problem in installation.problems] == [True]


async def test_a_key_that_was_put_before_ours_is_not_vouched_for(
    trail: Trail, database: Database, signer: Signer
) -> None:
    await register_first_key(database, signer)
    trail.tamper("UPDATE audit_keys SET previous_key_id = %s", SECOND.key_id)
    trail.seed.insert(
        "audit_keys",
        key_id=SECOND.key_id, public_key=SECOND.public_key, at="2026-01-01T00:00:00Z", signature=b"rubbish",
    )  # fmt: skip
    await forge_head(trail, database, SECOND)
    assert "does not belong to this installation" in (await trail.problems())[0]


@pytest.mark.parametrize("change", ["at = at - interval '1 day'", "public_key = '\\x00'", "signature = '\\x00'"])
async def test_a_change_in_a_known_key_is_found(trail: Trail, database: Database, signer: Signer, change: str) -> None:
    await register_first_key(database, signer)
    trail.tamper(f"UPDATE audit_keys SET {change}")
    (problem,) = (await trail.verification.verify(None)).problems
    assert "was added or changed without authorization" in problem.sentence


async def test_every_signed_in_user_may_get_the_public_keys(api: RunningApi, seed: Seed, signer: Signer) -> None:
    await register_first_key(api.stores.database, signer)
    async with api.client(seed.person()) as client:
        shown = (await client.get("/api/v1/audit/key")).json()
    public_key = base64.b64encode(signer.public_key).decode()
    assert (shown["key_id"], shown["public_key"]) == (signer.key_id, public_key)
    assert [(key["key_id"], key["previous_key_id"]) for key in shown["keys"]] == [(signer.key_id, None)]
