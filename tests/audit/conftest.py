from pathlib import Path

import pytest

from muniment.audit.heads import HeadSigner
from muniment.audit.sealing import Sealer
from muniment.audit.signing import Signer
from muniment.audit.verification import Verification
from muniment.storage.db.work import Database
from muniment.storage.objects.folder.store import FolderObjectStore
from tests.audit.trail import Trail
from tests.support.seed import SIGNING_KEY, Seed


@pytest.fixture
def signer() -> Signer:
    return Signer.from_text(SIGNING_KEY)


@pytest.fixture
def objects(tmp_path: Path) -> FolderObjectStore:
    return FolderObjectStore(tmp_path / "blobs")


@pytest.fixture
def trail(database: Database, seed: Seed, objects: FolderObjectStore, signer: Signer) -> Trail:
    heads, verification = HeadSigner(database, objects, signer), Verification(database, objects, signer)
    return Trail(seed, Sealer(database, signer), heads, verification, seed.organization())
