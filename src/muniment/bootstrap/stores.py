"""Build the stores from the settings and choose the adapter behind each of them."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from muniment.artifacts.deletion import ArtifactEraser
from muniment.artifacts.keys import ContentKeys
from muniment.bootstrap.database import database_address, login_passwords, service_address
from muniment.bootstrap.object_stores import build_archive_stores, build_blobs, revealed
from muniment.handover.cancellation import queue_erasers
from muniment.handover.queue import ArchiveStores
from muniment.settings import Settings
from muniment.storage.db.advisory_locks import AdvisoryLocks
from muniment.storage.db.work import Database
from muniment.storage.deletions.deleters import BlobEraser, Eraser
from muniment.storage.deletions.ledger import Ledger
from muniment.storage.deletions.tables import Store
from muniment.storage.disk import has_room
from muniment.storage.objects.port import Blobs
from muniment.storage.vectors.pgvector.search import PgVectorIndex
from muniment.storage.vectors.port import VectorIndex


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


def build_index(settings: Settings, database: Database) -> VectorIndex:
    if settings.search.qdrant_url is None:
        return PgVectorIndex(database)
    from muniment.storage.vectors.qdrant.connection import connect
    from muniment.storage.vectors.qdrant.index import QdrantIndex  # its client takes two seconds to load

    return QdrantIndex(connect(settings.search.qdrant_url, revealed(settings.search.qdrant_api_key)))


def room_check(settings: Settings) -> Callable[[], bool]:
    """Whether the disk of the data directory is above its floor; with database and objects elsewhere, always."""
    if settings.s3.bucket and not settings.database.is_embedded:
        return lambda: True
    return partial(has_room, settings.server.data_dir, settings.documents.disk_floor_bytes)


def content_keys_of(settings: Settings) -> ContentKeys:
    assert settings.documents.hmac_secret is not None
    return ContentKeys(settings.documents.hmac_secret.get_secret_value(), settings.documents.scope)
