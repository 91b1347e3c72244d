import pytest

from muniment.audit.heads import HeadSigner
from muniment.audit.sealing import Sealer
from muniment.audit.service import AuditMaintenance
from muniment.audit.signing import Signer
from muniment.settings import Settings
from muniment.storage.db.work import Database
from muniment.storage.objects.folder.store import FolderObjectStore
from muniment.telemetry.metrics import REGISTRY
from tests.audit.trail import Trail
from tests.support.seed import Seed

BROKEN, OLDEST = "muniment_audit_chains_broken", "muniment_audit_unsealed_oldest_seconds"


@pytest.fixture
def sweeps(database: Database, objects: FolderObjectStore, signer: Signer) -> AuditMaintenance:
    return AuditMaintenance(database, Sealer(database, signer), HeadSigner(database, objects, signer))


async def test_every_chain_is_sealed_and_signed(trail: Trail, seed: Seed, sweeps: AuditMaintenance) -> None:
    for organization_id in (trail.organization_id, seed.organization(), None):
        trail.write(2, organization_id=organization_id)
    await sweeps.seal()
    await sweeps.sign()
    for organization_id in await trail.verification.list_chains():
        verdict = await trail.verification.verify(organization_id)
        assert (verdict.problems, verdict.last_seq, verdict.signed_seq, verdict.unsealed) == ([], 2, 2, 0)
    assert seed.one("SELECT count(*) FROM audit_heads") == 3


async def test_a_chain_that_did_not_grow_is_not_signed_again(
    trail: Trail, seed: Seed, sweeps: AuditMaintenance
) -> None:
    trail.write()
    for _ in range(3):
        await sweeps.seal()
        await sweeps.sign()
    assert seed.one("SELECT count(*) FROM audit_heads") == 1


async def test_a_broken_chain_is_reported_and_does_not_delay_the_others(
    trail: Trail, seed: Seed, sweeps: AuditMaintenance
) -> None:
    await trail.write_sealed(2)
    trail.tamper("UPDATE audit_seals SET hash = '\\x00' WHERE seq = 2")
    others = [seed.organization(), None]
    for organization_id in (trail.organization_id, *others):
        trail.write(organization_id=organization_id)
    await sweeps.seal()
    await sweeps.sign()
    assert REGISTRY.get_sample_value(BROKEN) == 1
    assert seed.one("SELECT count(*) FROM audit_heads WHERE chain <> %s", trail.chain) == 2
    assert seed.one("SELECT max(seq) FROM audit_heads WHERE chain = %s", trail.chain) == 2


async def test_the_age_of_what_waits_is_told(trail: Trail, seed: Seed, sweeps: AuditMaintenance) -> None:
    trail.write(at="2026-01-01T00:00:00Z")
    await sweeps.seal()
    waited = REGISTRY.get_sample_value(OLDEST)
    assert waited is not None
    assert waited > 3600
    await sweeps.seal()
    assert REGISTRY.get_sample_value(OLDEST) == 0


def test_the_worker_seals_and_signs(settings: Settings) -> None:
    from muniment.bootstrap.stores import build_stores
    from muniment.bootstrap.worker import build_periodic_tasks

    stores = build_stores(settings)
    named = {periodic.name: periodic.cron for periodic in build_periodic_tasks(settings, stores)}
    assert (named["audit.seal"], named["audit.sign"]) == ("*/10 * * * * *", "20 * * * * *")
