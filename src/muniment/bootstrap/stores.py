"""Build the stores from the settings and choose the adapter behind each of them."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from muniment.artifacts.deletion import ArtifactDeleter
from muniment.artifacts.keys import ContentKeyFactory
from muniment.bootstrap.database import database_address, login_passwords, service_address
from muniment.bootstrap.object_stores import build_handover_stores, build_object_store, secret_value
from muniment.bootstrap.tasks import build_task_queue
from muniment.handover.cancellation import build_queue_deleters
from muniment.handover.queue import HandoverStores
from muniment.settings import Settings
from muniment.storage.db.advisory_locks import AdvisoryLocks
from muniment.storage.db.work import Database
from muniment.storage.deletions.deleters import Deleter, ObjectDeleter
from muniment.storage.deletions.ledger import Ledger
from muniment.storage.deletions.tables import LedgerStore
from muniment.storage.disk import has_free_space
from muniment.storage.objects.port import ObjectStore
from muniment.storage.tasks.port import TaskQueue
from muniment.storage.vectors.pgvector.search import PgvectorSearch
from muniment.storage.vectors.port import ExternalIndex, VectorSearch


@dataclass(frozen=True)
class Stores:
    """Stores that the API and the worker use."""

    database: Database
    objects: ObjectStore
    ledger: Ledger
    vectors: VectorSearch
    external_index: ExternalIndex | None
    """The engine in `vectors`, if it is outside PostgreSQL."""
    locks: AdvisoryLocks
    tasks: TaskQueue
    handover: HandoverStores

    async def close(self) -> None:
        await self.handover.close()
        await self.locks.close()
        await self.vectors.close()
        await self.objects.close()
        await self.database.close()


def build_stores(settings: Settings, *, create: bool = True) -> Stores:
    """Build all stores. Without `create`, folders that do not exist yet are not created."""
    passwords = login_passwords(settings)
    database = Database(
        database_address(settings),
        app_password=passwords.app,
        service_password=passwords.service,
        pool_size=settings.database.pool_size,
    )
    objects, handover = build_object_store(settings, create=create), build_handover_stores(settings, create=create)
    # A run holds two: one for its document, and one for the artifact that it computes.
    locks = AdvisoryLocks(service_address(settings), max_connections=2 * settings.worker.concurrency)
    external_index = build_external_index(settings)
    return Stores(
        database=database,
        objects=objects,
        ledger=build_ledger(database, objects, handover),
        vectors=external_index or PgvectorSearch(database),
        external_index=external_index,
        locks=locks,
        tasks=build_task_queue(),
        handover=handover,
    )


def build_ledger(database: Database, objects: ObjectStore, handover: HandoverStores) -> Ledger:
    own: dict[LedgerStore, Deleter] = {
        LedgerStore.OBJECTS: ObjectDeleter(objects),
        LedgerStore.ARTIFACTS: ArtifactDeleter(database, objects),
    }
    return Ledger(database, own | build_queue_deleters(database, handover))


def build_external_index(settings: Settings) -> ExternalIndex | None:
    """Return the vector engine outside PostgreSQL, if one is configured."""
    if settings.search.qdrant_url is None:
        return None
    from muniment.storage.vectors.qdrant.connection import build_client
    from muniment.storage.vectors.qdrant.index import QdrantIndex  # slow to import: two seconds

    return QdrantIndex(build_client(settings.search.qdrant_url, secret_value(settings.search.qdrant_api_key)))


def free_space_check(settings: Settings) -> Callable[[], bool]:
    """Return a check whether the disk of the data directory is above its limit.

    It always succeeds if neither database nor objects are on this machine.
    """
    if settings.s3.bucket and not settings.database.is_embedded:
        return lambda: True
    return partial(has_free_space, settings.server.data_dir, settings.documents.disk_floor_bytes)


def build_content_keys(settings: Settings) -> ContentKeyFactory:
    assert settings.documents.hmac_secret is not None
    return ContentKeyFactory(settings.documents.hmac_secret.get_secret_value(), settings.documents.scope)
