"""`muniment artifacts gc`: the collection now, and in words."""

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
async def shelf(seed: Seed, database: Database, tmp_path: Path) -> ArtifactsFixture:
    """One artifact whose grace is over, one that is found without a reference just now, one that is used."""
    shelf = ArtifactsFixture(seed, database, FolderObjectStore(tmp_path / "blobs"))
    await shelf.add_artifact()
    await shelf.collect(now() - GRACE - timedelta(minutes=1))
    await shelf.add_artifact()
    shelf.document(await shelf.add_artifact())
    return shelf


async def test_dry_run_tells_what_gc_then_does(
    shelf: ArtifactsFixture, address: DatabaseAddress, tmp_path: Path
) -> None:
    environment, before = outside(address, tmp_path), (shelf.ids(), await shelf.packs())

    told = json.loads(run(tmp_path, "artifacts", "gc", "--dry-run", "--json", **environment).stdout)

    assert (shelf.ids(), await shelf.packs()) == before
    assert told.pop("freed_bytes") > 0
    assert told == {"dry_run": True, "removed": 1, "marked": 1, "unmarked": 0}
    done = json.loads(run(tmp_path, "artifacts", "gc", "--json", **environment).stdout)
    assert done.pop("freed_bytes") > 0
    assert done == {"dry_run": False, "removed": 1, "marked": 1, "unmarked": 0}
    assert len(shelf.ids()) == len(await shelf.packs()) == 2


async def test_gc_says_it_in_words(shelf: ArtifactsFixture, address: DatabaseAddress, tmp_path: Path) -> None:
    environment = {**outside(address, tmp_path), "MUNIMENT_ARTIFACT_GRACE_DAYS": "30"}

    told = run(tmp_path, "artifacts", "gc", **environment)

    assert told.returncode == 0, told.stderr
    assert told.stdout == (
        "0 results deleted, 0 bytes freed.\n1 more marked as unused. They are deleted in 30 days unless used again.\n"
    )
    assert len(shelf.ids()) == 3
