"""The signing key of a single machine is replaced in one step, and processes that run use the new one."""

import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from muniment.audit.heads import HeadSigner
from muniment.audit.keys import require_current_key
from muniment.audit.signing import KeyFileSigner, Signer
from muniment.audit.verification import Verification
from muniment.bootstrap.installation import ROTATION_LOCK, RotationInProgress, rotate_signing_key
from muniment.settings.sources import read_or_generate_secret
from muniment.storage.db.address import SERVICE_LOGIN, DatabaseAddress
from muniment.storage.db.advisory_locks import AdvisoryLocks
from muniment.storage.db.work import Database
from muniment.storage.objects.folder.store import FolderObjectStore
from tests.audit.trail import Trail
from tests.support.cluster import PASSWORDS
from tests.support.seed import Seed


@pytest.fixture
def key_file(tmp_path: Path) -> Path:
    path = tmp_path / "secrets" / "audit_signing_key"
    read_or_generate_secret(path)
    return path


@pytest.fixture
async def locks(address: DatabaseAddress) -> AsyncIterator[AdvisoryLocks]:
    locks = AdvisoryLocks(address.as_login(SERVICE_LOGIN, PASSWORDS.service), max_connections=2)
    yield locks
    await locks.close()


async def test_processes_that_run_sign_with_the_new_key_and_trust_both(
    database: Database, locks: AdvisoryLocks, seed: Seed, trail: Trail, key_file: Path, tmp_path: Path
) -> None:
    running, objects = KeyFileSigner(key_file), FolderObjectStore(tmp_path / "blobs")
    first = running.key_id
    await rotate_signing_key(database, locks, key_file)  # registers the first one of this database
    new, previous = await rotate_signing_key(database, locks, key_file)
    assert first not in (new, previous)
    assert running.current().key_id == running.key_id == new == Signer.from_text(key_file.read_text()).key_id
    trail.write(2)
    await trail.seal()
    await HeadSigner(database, objects, running).sign_chain(trail.organization_id)
    assert seed.one("SELECT key_id FROM audit_heads") == new
    assert (await Verification(database, objects, running).verify(trail.organization_id)).is_intact
    assert seed.rows("SELECT key_id FROM audit_keys ORDER BY at") == [(previous,), (new,)]
    assert key_file.stat().st_mode & 0o077 == 0


async def test_a_rotation_that_was_interrupted_is_completed_by_the_next(
    database: Database, locks: AdvisoryLocks, key_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as broken:
        broken.setattr(Path, "replace", lambda *_: (_ for _ in ()).throw(OSError("no power")))
        with pytest.raises(OSError, match="no power"):
            await rotate_signing_key(database, locks, key_file)
    new, _ = await rotate_signing_key(database, locks, key_file)
    await require_current_key(database, Signer.from_text(key_file.read_text()))
    assert Signer.from_text(key_file.read_text()).key_id == new
    assert json.dumps([path.name for path in key_file.parent.iterdir()]) == '["audit_signing_key"]'


async def test_only_one_rotation_runs_at_a_time(
    database: Database, locks: AdvisoryLocks, seed: Seed, key_file: Path
) -> None:
    async with locks.try_acquire(ROTATION_LOCK):
        with pytest.raises(RotationInProgress):
            await rotate_signing_key(database, locks, key_file)
    assert seed.rows("SELECT 1 FROM audit_keys") == []
    assert list(key_file.parent.iterdir()) == [key_file]


async def test_a_process_that_starts_during_a_rotation_may_complete_it(
    database: Database, locks: AdvisoryLocks, key_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    replace = Path.replace

    def replace_twice(path: Path, target: Path) -> Path:
        replace(path, target)
        return replace(path, target)

    monkeypatch.setattr(Path, "replace", replace_twice)
    new, _ = await rotate_signing_key(database, locks, key_file)
    assert Signer.from_text(key_file.read_text()).key_id == new
