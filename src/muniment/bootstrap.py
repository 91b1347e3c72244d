"""Puts the parts together from the settings. The only module that names concrete adapters."""

import asyncio
import os
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import structlog
from pydantic import SecretStr

from muniment.accounts.passwords import Passwords
from muniment.accounts.sign_in import SignIn
from muniment.accounts.sweeps import forget_expired
from muniment.archival.dead_letters.expiry import DeadLetterSweep
from muniment.archival.dead_letters.letters import DeadLetters
from muniment.archival.hand_over import HandOver
from muniment.archival.own_documents import OwnDocuments
from muniment.archival.service import Archiving
from muniment.archival.stores import ArchiveStores
from muniment.archival.sweeps import HandOverSweep
from muniment.archival.withdrawal import QueueWithdrawal, queue_erasers
from muniment.archive_stores import build_archive_stores
from muniment.artifacts.collection import Collection
from muniment.artifacts.content_keys import ContentKeys, Scope
from muniment.artifacts.eraser import ArtifactEraser
from muniment.artifacts.variants import reading_variant
from muniment.audit.heads import Heads
from muniment.audit.keys import UnknownSigningKey, require_known
from muniment.audit.sealing import Sealer
from muniment.audit.service import Auditing
from muniment.audit.signing import Signer
from muniment.audit.sweeps import AuditSweeps
from muniment.audit.verification import Verification
from muniment.checks import checks
from muniment.documents.intake import Intake
from muniment.documents.staging import Staging
from muniment.documents.sweeps import Sweeps
from muniment.errors import MunimentError, Unavailable
from muniment.http.parts import Parts
from muniment.lifecycle.mover import Mover
from muniment.lifecycle.removal.erasing import Erasing
from muniment.lifecycle.removal.finishing import Finishing
from muniment.lifecycle.removal.removing import Removal
from muniment.lifecycle.removal.second_look import SecondLook
from muniment.lifecycle.removal.sweep import ReceiptSweep
from muniment.lifecycle.replacing.service import Replacing
from muniment.logins import database_address, login_passwords
from muniment.ocr_languages import ocr_languages, require_ocr_languages
from muniment.processing.events.changes import Changes
from muniment.processing.events.stream import Streams
from muniment.processing.readers.contract import Means, Options
from muniment.processing.readers.fingerprint import reading_parameters
from muniment.processing.readers.ocr_engine import find_engine
from muniment.processing.results.pictures import Pictures
from muniment.reconcile.comparisons import Means as Compared
from muniment.reconcile.comparisons import reconciliation
from muniment.reconcile.nightly import Nightly
from muniment.reconcile.reconciliation import Reconciliation
from muniment.reconcile.subset import NOTHING, Subset
from muniment.search.copies import Copies
from muniment.search.embedding.local import LocalEmbedder
from muniment.search.embedding.openai_compatible import OpenAICompatibleEmbedder
from muniment.search.embedding.port import Embedder
from muniment.search.installed import Indexing
from muniment.search.intents import IntentSweep
from muniment.search.service import Searching
from muniment.setting_sources import SettingsError
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
from muniment.storage.index_intents.moves import IndexMoves
from muniment.storage.tasks.port import NIGHTLY, Periodic, Process
from muniment.storage.tasks.queue import QueuedTasks
from muniment.storage.vectors.pgvector import PgVectorIndex
from muniment.storage.vectors.port import VectorIndex

if TYPE_CHECKING:
    from muniment.processing.sandbox.client import Sandbox
    from muniment.storage.tasks.worker import Worker

log = structlog.get_logger()


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
    locks = AdvisoryLocks(_service_address(settings), at_once=2 * settings.worker.concurrency)
    ledger = build_ledger(database, blobs, archive)
    return Stores(database, blobs, ledger, build_index(settings, database), locks, archive)


def build_ledger(database: Database, blobs: Blobs, archive: ArchiveStores) -> Ledger:
    own: dict[Store, Eraser] = {Store.BLOBS: BlobEraser(blobs), Store.ARTIFACTS: ArtifactEraser(database, blobs)}
    return Ledger(database, own | queue_erasers(database, archive))


def build_blobs(settings: Settings) -> Blobs:
    s3 = settings.s3
    if s3.bucket is None:
        return _folder(settings.server.data_dir)
    return S3Blobs(
        s3.bucket,
        s3.endpoint,
        s3.region,
        s3.access_key_id,
        _secret(s3.secret_access_key),
        server_side_encryption=s3.server_side_encryption,
    )


def _folder(data_dir: Path) -> FolderBlobs:
    """The folder of the originals, made once. One that was there and is gone must not come back empty."""
    root = data_dir / "blobs"
    # Two marks: a disk that is not mounted leaves an empty folder in its place, which lacks the inner one.
    outer, inner = data_dir / "blobs.made", root / ".made"
    if outer.exists() and not inner.exists():
        raise StoreGone(f"The documents in {root} are gone. Mount that disk again, or bring them back from a backup")
    blobs = FolderBlobs(root)
    for mark in (inner, outer):
        mark.touch(mode=0o600)
    return blobs


def build_parts(settings: Settings, stores: Stores, passwords: Passwords | None = None) -> Parts:
    passwords = passwords or Passwords()
    room, index = room_check(settings), stores.index
    staging = _build_staging(settings, stores, room)
    mover = Mover(stores.database, IndexMoves(stores.database, index), QueuedTasks())
    return Parts(
        database=stores.database,
        blobs=stores.blobs,
        tasks=QueuedTasks(),
        mover=mover,
        removal=Removal(mover, build_finishing(settings, stores), QueueWithdrawal(stores.database, stores.archive)),
        archive=build_archiving(settings, stores),
        replacing=Replacing(mover, staging, stores.ledger),
        passwords=passwords,
        sign_in=SignIn(stores.database, passwords, lifetime=settings.server.session_lifetime),
        intake=Intake(stores.database, staging, stores.ledger, QueuedTasks()),
        pictures=Pictures(stores.blobs, build_sandbox(settings, patience=PICTURE_PATIENCE)),
        events=Streams(stores.database, Changes(_app_address(settings))),
        searching=Searching(
            stores.database,
            index,
            embedders={embedder.model: embedder for embedder in build_embedders(settings)},
            audit_queries=settings.search.audit_queries,
        ),
        audit=build_auditing(settings, stores),
        checks=checks(
            stores.database,
            stores.blobs,
            index,
            stores.archive.queue,
            has_room=room,
            stalled_after=settings.worker.stalled_after,
        ),
        secure_cookies=settings.base_url.startswith("https://"),
        metrics_token=_secret(settings.telemetry.metrics_token),
    )


def build_own_documents(settings: Settings, stores: Stores) -> OwnDocuments:
    hand_over = HandOver(stores.database, stores.archive, has_room=room_check(settings))
    return OwnDocuments(hand_over, stores.blobs, stores.locks)


def build_archiving(settings: Settings, stores: Stores) -> Archiving:
    own = build_own_documents(settings, stores)
    return Archiving(
        own.hand_over,
        own,
        DeadLetters(stores.database, stores.archive),
        internal_keys=settings.archive.internal_api_keys,
        max_bytes=settings.documents.max_upload_bytes,
    )


async def require_same_secret(settings: Settings, stores: Stores) -> None:
    """With another secret, equal bytes would no longer be recognised as equal, and nobody would notice for months."""
    known = await stores.database.known_content_key_id()
    if known not in (None, content_keys_of(settings).key_id):
        raise SettingsError(
            "DOCUMENT_HMAC_SECRET is not the one that the documents were stored with: bring the old one back "
            f"(on one machine it stands in {settings.secrets_dir / 'documents_hmac_secret'})"
        )


async def require_same_key(settings: Settings, stores: Stores) -> None:
    """A lost key must not be replaced silently: what is signed from then on would look like somebody else's."""
    try:
        await require_known(stores.database, signer_of(settings))
    except UnknownSigningKey as error:
        raise SettingsError(
            f"{error.message}: bring the old one back "
            f"(on one machine it stands in {settings.secrets_dir / 'audit_signing_key'}), or, if it is meant to be "
            "another from now on, run `muniment audit replace-key`"
        ) from None


def signer_of(settings: Settings) -> Signer:
    assert settings.audit.signing_key is not None
    return Signer.from_text(settings.audit.signing_key.get_secret_value())


def build_sealer(settings: Settings, stores: Stores) -> Sealer:
    return Sealer(stores.database, signer_of(settings))


def build_heads(settings: Settings, stores: Stores) -> Heads:
    return Heads(stores.database, stores.blobs, signer_of(settings))


def build_verification(settings: Settings, stores: Stores) -> Verification:
    return Verification(stores.database, stores.blobs, signer_of(settings))


def build_auditing(settings: Settings, stores: Stores) -> Auditing:
    sealer, heads = build_sealer(settings, stores), build_heads(settings, stores)
    return Auditing(stores.database, sealer, heads, build_verification(settings, stores))


def content_keys_of(settings: Settings) -> ContentKeys:
    assert settings.documents.hmac_secret is not None
    return ContentKeys(settings.documents.hmac_secret.get_secret_value(), settings.documents.scope)


def _build_staging(settings: Settings, stores: Stores, room: Callable[[], bool]) -> Staging:
    return Staging(
        stores.database,
        stores.blobs,
        stores.ledger,
        content_keys_of(settings),
        has_room=room,
        max_bytes=settings.documents.max_upload_bytes,
        lifetime=settings.documents.upload_lifetime,
    )


def build_index(settings: Settings, database: Database) -> VectorIndex:
    if settings.search.qdrant_url is None:
        return PgVectorIndex(database)
    from muniment.storage.vectors.qdrant import QdrantIndex  # its client takes two seconds to load
    from muniment.storage.vectors.qdrant_connection import connect

    return QdrantIndex(connect(settings.search.qdrant_url, _secret(settings.search.qdrant_api_key)))


def build_embedders(settings: Settings) -> list[Embedder]:
    """The one that is set up, first; the one that comes along answers too until the switch."""
    search, local = settings.search, LocalEmbedder()
    if search.embeddings_url is None:
        return [local]
    if search.embeddings_model is None:
        raise SettingsError("MUNIMENT_EMBEDDINGS_URL needs MUNIMENT_EMBEDDINGS_MODEL beside it")
    remote = OpenAICompatibleEmbedder(
        url=search.embeddings_url,
        model=search.embeddings_model,
        dimensions=search.embeddings_dimensions,
        key=_secret(search.embeddings_api_key),
        batch=search.embeddings_batch,
        timeout_seconds=search.embeddings_timeout.total_seconds(),
    )
    return [remote, local]


PICTURE_PATIENCE = timedelta(seconds=15)
"""Somebody waits for a picture, and others for their turn."""


def build_sandbox(settings: Settings, *, patience: timedelta | None = None) -> "Sandbox":
    """Where documents are opened; its server starts with the first of them."""
    from muniment.processing.sandbox.client import Sandbox

    reader, engine = settings.reader, find_engine()
    return Sandbox(
        Means(
            max_pages=reader.max_pages,
            ocr_processes=os.cpu_count() or 1,
            tesseract=engine.program if engine else None,
            tessdata=engine.data if engine else None,
        ),
        memory_bytes=reader.memory_bytes,
        stall_seconds=(patience or reader.stall_timeout).total_seconds(),
        total_seconds=(patience or reader.timeout).total_seconds(),
    )


@asynccontextmanager
async def open_processing(settings: Settings, stores: Stores) -> AsyncIterator[Process]:
    """What a worker reads documents with, until the block ends."""
    from muniment.processing.context import Tools
    from muniment.processing.process import Processing  # loads LangGraph, which takes a second

    require_ocr_languages(settings)
    options = reading_options(settings)
    sandbox = build_sandbox(settings)
    wanted, *others = embedders = build_embedders(settings)
    tools = Tools(
        database=stores.database,
        blobs=stores.blobs,
        locks=stores.locks,
        reader=sandbox,
        options=options,
        reading=reading_variant(reading_parameters(options, find_engine())),
        is_shared=settings.documents.scope is Scope.SHARED,
        indexing=Indexing(wanted, tuple(others)),
        copies=Copies(stores.database, stores.index) if stores.index.holds_copies else None,
    )
    warming = asyncio.create_task(_warm_up(sandbox))
    try:
        yield Processing(tools)
    finally:
        warming.cancel()
        for embedder in embedders:
            await embedder.close()
        await sandbox.close()


async def _warm_up(sandbox: "Sandbox") -> None:
    """Start the sandbox before the first document needs it; if that fails, the first document says so."""
    with suppress(MunimentError):
        log.info("worker.sandbox", **await sandbox.describe())


def reading_options(settings: Settings) -> Options:
    return Options(ocr_languages=ocr_languages(settings), ocr_dpi=settings.reader.ocr_dpi)


def _app_address(settings: Settings) -> DatabaseAddress:
    return database_address(settings).as_login(APP_LOGIN, login_passwords(settings).app)


def _service_address(settings: Settings) -> DatabaseAddress:
    return database_address(settings).as_login(SERVICE_LOGIN, login_passwords(settings).service)


def build_finishing(settings: Settings, stores: Stores) -> Finishing:
    """What proves that documents are gone, and signs that they are."""
    tasks = QueuedTasks()
    return Finishing(
        stores.database,
        Erasing(stores.database, stores.index, stores.ledger, tasks),
        SecondLook(stores.database, stores.blobs, stores.index, tasks),
        stores.locks,
        build_sealer(settings, stores),
    )


def build_collection(settings: Settings, stores: Stores) -> Collection:
    grace = timedelta(days=settings.documents.artifact_grace_days)
    return Collection(stores.database, stores.blobs, stores.ledger, grace=grace)


def build_reconciliation(settings: Settings, stores: Stores, subset: Subset = NOTHING) -> Reconciliation:
    """What compares the stores with each other."""
    compared = Compared(
        stores.database,
        stores.blobs,
        stores.ledger,
        stores.index,
        stores.locks,
        QueuedTasks(),
        sweep_uploads=build_sweeps(settings, stores).expired_uploads,
        sweep_receipts=ReceiptSweep(build_finishing(settings, stores)).finish_due,
        stalled_after=settings.worker.stalled_after,
        artifact_grace=timedelta(days=settings.documents.artifact_grace_days),
    )
    return reconciliation(compared, subset=subset)


def build_sweeps(settings: Settings, stores: Stores) -> Sweeps:
    return Sweeps(stores.database, stores.blobs, stores.ledger, upload_lifetime=settings.documents.upload_lifetime)


def build_worker(settings: Settings, stores: Stores, process: Process | None = None) -> "Worker":
    from muniment.storage.tasks.worker import Worker  # loads Procrastinate, which the API does without

    sweeps, nightly = build_sweeps(settings, stores), Nightly(stores.database, build_reconciliation(settings, stores))
    audit = AuditSweeps(stores.database, build_sealer(settings, stores), build_heads(settings, stores))
    letters = DeadLetterSweep(stores.database, stores.archive, stores.blobs)
    return Worker(
        _service_address(settings),
        process=process,
        periodic=[
            Periodic("documents.sweep_uploads", "0 * * * * *", sweeps.uploads),
            Periodic("deletions.carry_out", "*/10 * * * * *", sweeps.deletions),
            Periodic("artifacts.collect", "45 37 * * * *", build_collection(settings, stores).sweep),
            Periodic("index.put_right", "*/5 * * * * *", IntentSweep(stores.database, stores.index).sweep),
            Periodic("archive.hand_over", "*/10 * * * * *", HandOverSweep(build_own_documents(settings, stores)).sweep),
            Periodic("archive.expire", "15 */2 * * * *", letters.expire),
            Periodic("archive.remind", "25 41 5 * * *", letters.remind),
            Periodic("receipts.finish", "*/10 * * * * *", ReceiptSweep(build_finishing(settings, stores)).sweep),
            Periodic("audit.seal", "*/10 * * * * *", audit.seal),
            Periodic("audit.sign", "20 * * * * *", audit.sign),
            Periodic("accounts.forget_expired", "30 7 * * * *", partial(forget_expired, stores.database)),
            Periodic("reconcile.look", "0 23 3 * * *", nightly.look, NIGHTLY),
            Periodic("reconcile.publish", "50 * * * * *", nightly.publish),
        ],
        concurrency=settings.worker.concurrency,
        heartbeat=settings.worker.heartbeat,
        stalled_after=settings.worker.stalled_after,
    )


def room_check(settings: Settings) -> Callable[[], bool]:
    """Whether the disk of the data directory is above its floor; with database and objects elsewhere, always."""
    if settings.s3.bucket and not settings.database.is_embedded:
        return lambda: True
    return partial(has_room, settings.server.data_dir, settings.documents.disk_floor_bytes)


def _secret(value: SecretStr | None) -> str | None:
    return value.get_secret_value() if value else None
