"""`muniment artifacts gc`: collects immediately and reports in words."""

import json
from datetime import timedelta
from pathlib import Path

import pytest

from muniment.storage.db.address import DatabaseAddress
from muniment.storage.db.base import now
from muniment.storage.db.work import Database
from muniment.storage.objects.folder.store import FolderObjectStore
from tests.artifacts.artifacts_fixture import GRACE, ArtifactsFixture
from tests.cli.test_commands import outside
from tests.support.commands import run_command as run
from tests.support.seed import Seed


@pytest.fixture
async def artifacts_env(seed: Seed, database: Database, tmp_path: Path) -> ArtifactsFixture:
    """One artifact after its grace period, one newly found without a reference, and one in use."""
    artifacts_env = ArtifactsFixture(seed, database, FolderObjectStore(tmp_path / "blobs"))
    await artifacts_env.add_artifact()
    await artifacts_env.collect(now() - GRACE - timedelta(minutes=1))
    await artifacts_env.add_artifact()
    artifacts_env.document(await artifacts_env.add_artifact())
    return artifacts_env


async def test_dry_run_tells_what_gc_then_does(
    artifacts_env: ArtifactsFixture, address: DatabaseAddress, tmp_path: Path
) -> None:
    environment, before = outside(address, tmp_path), (artifacts_env.ids(), await artifacts_env.packs())

    told = json.loads(run(tmp_path, "artifacts", "gc", "--dry-run", "--json", **environment).stdout)

    assert (artifacts_env.ids(), await artifacts_env.packs()) == before
    assert told.pop("freed_bytes") > 0
    assert told == {"dry_run": True, "removed": 1, "marked": 1, "unmarked": 0}
    done = json.loads(run(tmp_path, "artifacts", "gc", "--json", **environment).stdout)
    assert done.pop("freed_bytes") > 0
    assert done == {"dry_run": False, "removed": 1, "marked": 1, "unmarked": 0}
    assert len(artifacts_env.ids()) == len(await artifacts_env.packs()) == 2


async def test_gc_says_it_in_words(artifacts_env: ArtifactsFixture, address: DatabaseAddress, tmp_path: Path) -> None:
    environment = {**outside(address, tmp_path), "MUNIMENT_ARTIFACT_GRACE_DAYS": "30"}

    told = run(tmp_path, "artifacts", "gc", **environment)

    assert told.returncode == 0, told.stderr
    assert told.stdout == (
        "0 results deleted, 0 bytes freed.\n1 more marked as unused. They are deleted in 30 days unless used again.\n"
    )
    assert len(artifacts_env.ids()) == 3
