"""The stores, and which adapter stands behind each of them."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from muniment.archival.stores import ArchiveStores
from muniment.archival.withdrawal import queue_erasers
from muniment.archive_stores import build_archive_stores
from muniment.artifacts.content_keys import ContentKeys
from muniment.artifacts.eraser import ArtifactEraser
from muniment.errors import Unavailable
from muniment.logins import database_address, login_passwords
from muniment.settings import Settings
from muniment.storage.blobs.folder import FolderBlobs
from muniment.storage.blobs.port import Blobs
from muniment.storage.blobs.s3 import S3Blobs
from muniment.storage.db.address import APP_LOGIN, SERVICE_LOGIN, DatabaseAddress
from muniment.storage.db.locks import AdvisoryLocks
from muniment.storage.db.work import Database
from muniment.storage.deletions.erasers import BlobEraser, Eraser
from muniment.storage.deletions.ledger import Ledger
from muniment.storage.deletions.tables import Store
from muniment.storage.disk import has_room
from muniment.storage.vectors.pgvector import PgVectorIndex
from muniment.storage.vectors.port import VectorIndex
from muniment.store_places import MadeFolder, address_of, revealed


class StoreGone(Unavailable):
    """The stored documents are gone"""


@dataclass(frozen=True)
class Stores:
    """What the API and the worker have in common."""

    database: Database
    blobs: Blobs
    ledger: Ledger
    index: VectorIndex
    locks: AdvisoryLocks
    archive: ArchiveStores

    async def close(self) -> None:
        await self.archive.close()
        await self.locks.close()
        await self.index.close()
        await self.blobs.close()
        await self.database.close()


def build_stores(settings: Settings) -> Stores:
    passwords = login_passwords(settings)
    database = Database(
        database_address(settings),
        app_password=passwords.app,
        service_password=passwords.service,
        pool_size=settings.database.pool_size,
    )
    blobs, archive = build_blobs(settings), build_archive_stores(settings)
    # A run holds two: its document's, and that of what it computes.
    locks = AdvisoryLocks(service_address(settings), at_once=2 * settings.worker.concurrency)
    ledger = build_ledger(database, blobs, archive)
    return Stores(database, blobs, ledger, build_index(settings, database), locks, archive)


def build_ledger(database: Database, blobs: Blobs, archive: ArchiveStores) -> Ledger:
    own: dict[Store, Eraser] = {Store.BLOBS: BlobEraser(blobs), Store.ARTIFACTS: ArtifactEraser(database, blobs)}
    return Ledger(database, own | queue_erasers(database, archive))


def build_blobs(settings: Settings) -> Blobs:
    s3 = settings.s3
    if s3.bucket is None:
        return _open_originals_folder(settings.server.data_dir)
    return S3Blobs(address_of(s3, s3.bucket))


def _open_originals_folder(data_dir: Path) -> FolderBlobs:
    folder = MadeFolder(data_dir, "blobs")
    folder.require(
        StoreGone(f"The documents in {folder.root} are gone. Mount that disk again, or bring them back from a backup")
    )
    blobs = FolderBlobs(folder.root)
    folder.mark()
    return blobs


def build_index(settings: Settings, database: Database) -> VectorIndex:
    if settings.search.qdrant_url is None:
        return PgVectorIndex(database)
    from muniment.storage.vectors.qdrant import QdrantIndex  # its client takes two seconds to load
    from muniment.storage.vectors.qdrant_connection import connect

    return QdrantIndex(connect(settings.search.qdrant_url, revealed(settings.search.qdrant_api_key)))


def room_check(settings: Settings) -> Callable[[], bool]:
    """Whether the disk of the data directory is above its floor; with database and objects elsewhere, always."""
    if settings.s3.bucket and not settings.database.is_embedded:
        return lambda: True
    return partial(has_room, settings.server.data_dir, settings.documents.disk_floor_bytes)


def content_keys_of(settings: Settings) -> ContentKeys:
    assert settings.documents.hmac_secret is not None
    return ContentKeys(settings.documents.hmac_secret.get_secret_value(), settings.documents.scope)


def app_address(settings: Settings) -> DatabaseAddress:
    return database_address(settings).as_login(APP_LOGIN, login_passwords(settings).app)


def service_address(settings: Settings) -> DatabaseAddress:
    return database_address(settings).as_login(SERVICE_LOGIN, login_passwords(settings).service)
