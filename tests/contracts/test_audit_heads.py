"""The signed heads outside the database, on every supported object store."""

from uuid import UUID

from muniment.audit.heads import OBJECT_PREFIX, HeadSigner, StoredHeads, head_object_key, list_stored_chains
from muniment.audit.sealing import Sealer
from muniment.audit.signing import Signer
from muniment.audit.verification import Verification
from muniment.storage.db.work import Database
from muniment.storage.objects.port import ObjectStore
from tests.audit.trail import Trail
from tests.support.seed import SIGNING_KEY, Seed

SIGNER = Signer.from_text(SIGNING_KEY)


def a_trail(database: Database, seed: Seed, objects: ObjectStore) -> Trail:
    heads, verification = HeadSigner(database, objects, SIGNER), Verification(database, objects, SIGNER)
    return Trail(seed, Sealer(database, SIGNER), heads, verification, seed.organization())


async def keys(objects: ObjectStore) -> list[str]:
    return [found.key async for found in objects.list(f"{OBJECT_PREFIX}/")]


async def test_each_head_is_kept_outside_once_and_the_trail_is_in_order(
    database: Database, seed: Seed, objects: ObjectStore
) -> None:
    trail = a_trail(database, seed, objects)
    await trail.write_sealed(2)
    await trail.sign()
    await trail.write_sealed(1)
    assert await keys(objects) == [head_object_key(trail.chain, 2), head_object_key(trail.chain, 3)]
    assert await trail.problems() == []


async def test_whoever_died_after_the_store_and_before_the_row_is_followed(
    database: Database, seed: Seed, objects: ObjectStore
) -> None:
    trail = a_trail(database, seed, objects)
    await trail.write_sealed(2)
    signed = seed.rows("SELECT h::text FROM audit_heads h")
    trail.tamper("DELETE FROM audit_heads")
    await trail.sign()
    assert seed.rows("SELECT h::text FROM audit_heads h") == signed
    assert await trail.problems() == []


async def test_a_head_that_only_the_store_knows_is_no_problem_while_the_chain_goes_on(
    database: Database, seed: Seed, objects: ObjectStore
) -> None:
    trail = a_trail(database, seed, objects)
    await trail.write_sealed(2)
    trail.tamper("DELETE FROM audit_heads")
    await trail.write_sealed(1)
    assert await trail.problems() == []


async def test_heads_are_found_in_growing_order(database: Database, seed: Seed, objects: ObjectStore) -> None:
    chain = UUID(int=7)
    for seq in (1, 9, 10, 9_999, 10_000, 123_456):
        await objects.put(head_object_key(chain, seq), b"{}")
    outside = StoredHeads(objects, chain)
    asked = (1, 2, 10, 9_999, 10_000, 10_001, 123_456, 123_457)
    assert [seq for seq in asked if await outside.has(seq)] == [1, 10, 9_999, 10_000, 123_456]


async def test_every_chain_outside_is_found_in_one_step_each(
    database: Database, seed: Seed, objects: ObjectStore
) -> None:
    for number in (1, 2):
        for seq in range(1, 4):
            await objects.put(head_object_key(UUID(int=number), seq), b"{}")
    await objects.put(f"{OBJECT_PREFIX}/not-ours/1", b"")
    assert [chain async for chain in list_stored_chains(objects)] == [UUID(int=1), UUID(int=2)]
