"""Reports of a reconciliation: for the operator, in metrics, in the command's output, and nowhere else."""

import json
from datetime import timedelta
from pathlib import Path
from uuid import uuid4

import pytest

from muniment.bootstrap.maintenance import build_reconciliation
from muniment.reconcile.report import store_report, update_gauge
from muniment.reconcile.runner import GracePeriods, NightlyReconcile
from muniment.storage.db.address import DatabaseAddress
from muniment.telemetry.metrics import REGISTRY
from tests.cli.test_commands import outside
from tests.reconcile.harness import ReconcileHarness
from tests.support.commands import run_command as run
from tests.support.live_api import RunningApi

LATEST = "/api/v1/reconcile/latest"


async def litter(reconcile_env: ReconcileHarness) -> str:
    key = f"{reconcile_env.kb_id}/{uuid4()}/1/original"
    await reconcile_env.stores.objects.put(key, b"litter")
    return key


def metric(store: str, kind: str) -> float | None:
    return REGISTRY.get_sample_value("muniment_reconcile_drift", {"store": store, "kind": kind})


async def test_the_operator_sees_numbers_and_no_document(reconcile_env: ReconcileHarness, api: RunningApi) -> None:
    document_id = await reconcile_env.completed(name="very secret.pdf")
    await reconcile_env.stores.objects.delete(reconcile_env.original(document_id))
    await litter(reconcile_env)
    operator = reconcile_env.seed.person(is_operator=True)
    async with api.client(operator) as client:
        assert (await client.get(LATEST)).status_code == 404
        await store_report(reconcile_env.stores.database, await reconcile_env.reconcile(repair=True))
        answer = await client.get(LATEST)
    told = answer.json()
    assert answer.status_code == 200
    assert told.pop("ended_at") >= told.pop("began_at")
    assert told == {
        "repair": True,
        "outcome": 2,
        "drift": [
            {"store": "originals", "kind": "missing", "found": 1, "repaired": 0, "left": 1},
            {"store": "originals", "kind": "orphaned", "found": 1, "repaired": 1, "left": 0},
        ],
    }
    assert str(document_id) not in answer.text


async def test_only_operators_see_it(reconcile_env: ReconcileHarness, api: RunningApi) -> None:
    await store_report(reconcile_env.stores.database, await reconcile_env.reconcile())
    async with api.client(reconcile_env.seed.person(is_admin=True)) as client:
        assert (await client.get(LATEST)).status_code == 403


async def test_the_newest_one_is_told(reconcile_env: ReconcileHarness, api: RunningApi) -> None:
    await litter(reconcile_env)
    await store_report(reconcile_env.stores.database, await reconcile_env.reconcile())
    await store_report(reconcile_env.stores.database, await reconcile_env.reconcile(repair=True))
    async with api.client(reconcile_env.seed.person(is_operator=True)) as client:
        assert (await client.get(LATEST)).json()["outcome"] == 0


async def test_the_nightly_look_changes_nothing_and_is_measured(reconcile_env: ReconcileHarness) -> None:
    key = await litter(reconcile_env)
    await NightlyReconcile(reconcile_env.stores.database, reconcile_env.runner()).run()
    assert key in await reconcile_env.keys()
    assert metric("originals", "orphaned") == 1
    assert reconcile_env.seed.rows("SELECT is_repair, outcome FROM reconcile_reports") == [(False, 1)]


async def test_the_metric_follows_whoever_repaired(reconcile_env: ReconcileHarness) -> None:
    await litter(reconcile_env)
    nightly = NightlyReconcile(reconcile_env.stores.database, reconcile_env.runner())
    await nightly.run()
    await store_report(reconcile_env.stores.database, await reconcile_env.reconcile(repair=True))  # as the command does
    await nightly.update_gauge()
    assert metric("originals", "orphaned") == 0
    await store_report(reconcile_env.stores.database, await reconcile_env.reconcile())
    await update_gauge(reconcile_env.stores.database)
    assert metric("originals", "orphaned") is None


async def test_one_organization_does_not_see_into_the_other(reconcile_env: ReconcileHarness) -> None:
    """Each has its own drift, and both are found."""
    another = reconcile_env.seed.person()
    kb_id = reconcile_env.seed.knowledge_base(another)
    await litter(reconcile_env)
    await reconcile_env.stores.objects.put(f"{kb_id}/{uuid4()}/1/original", b"litter")
    document_id = reconcile_env.seed.document(kb_id, another)
    report = await reconcile_env.reconcile(repair=True)
    assert [(loss.organization_id, loss.document_id) for loss in report.losses] == [
        (another.organization_id, document_id)
    ]
    assert reconcile_env.seed.rows("SELECT DISTINCT organization_id FROM deletions ORDER BY 1") == sorted(
        [(reconcile_env.worker_env.owner.organization_id,), (another.organization_id,)]
    )


async def test_named_knowledge_bases_alone_are_looked_at(reconcile_env: ReconcileHarness) -> None:
    await litter(reconcile_env)
    other = reconcile_env.seed.knowledge_base(reconcile_env.worker_env.owner, "Other")
    assert await reconcile_env.drift(kb_ids=[other], repair=True) == {}
    assert await reconcile_env.drift(kb_ids=[reconcile_env.kb_id]) == {"originals/orphaned": (1, 1)}


async def test_by_default_what_is_young_is_left_alone(reconcile_env: ReconcileHarness) -> None:
    assert build_reconciliation(reconcile_env.settings, reconcile_env.stores).grace_periods == GracePeriods(
        timedelta(minutes=10), timedelta(days=1)
    )


@pytest.mark.slow
async def test_the_command_tells_it_by_its_end_in_words_and_in_json(
    reconcile_env: ReconcileHarness, address: DatabaseAddress, tmp_path: Path
) -> None:
    environment = outside(address, tmp_path)
    agreed = run(tmp_path, "reconcile", "--read-data-subset", "100%", **environment)
    assert (agreed.returncode, agreed.stdout) == (0, "All stores are consistent.\n"), agreed.stderr
    document_id = await reconcile_env.completed()
    reconcile_env.seed.execute("UPDATE procrastinate_jobs SET status = 'doing'")
    await reconcile_env.stores.objects.delete(reconcile_env.original(document_id))

    told = run(tmp_path, "reconcile", **environment)
    facts = json.loads(run(tmp_path, "reconcile", "--json", "--repair", **environment).stdout)

    assert told.returncode == 2, told.stderr
    assert "originals  missing" in told.stdout
    assert f"document {document_id}" in told.stdout
    assert (facts["outcome"], facts["repair"]) == (2, True)
    assert facts["losses"][0]["document_id"] == str(document_id)
    assert reconcile_env.seed.one("SELECT count(*) FROM reconcile_reports") == 3


@pytest.mark.slow
async def test_the_command_repairs_and_ends_with_what_is_left(
    reconcile_env: ReconcileHarness, address: DatabaseAddress, tmp_path: Path
) -> None:
    document_id = await reconcile_env.document()
    reconcile_env.seed.execute("DELETE FROM procrastinate_jobs")
    for table in ("documents", "document_processing_runs"):
        reconcile_env.seed.execute(f"UPDATE {table} SET updated_at = now() - interval '1 hour'")
    environment = outside(address, tmp_path)
    assert run(tmp_path, "reconcile", "--kb", str(uuid4()), **environment).returncode == 0
    assert run(tmp_path, "reconcile", **environment).returncode == 1
    assert run(tmp_path, "reconcile", "--repair", **environment).returncode == 0
    assert reconcile_env.seed.one("SELECT count(*) FROM procrastinate_jobs") == 1
    assert reconcile_env.worker_env.status(document_id) == "pending"
