"""Puts the parts together from the settings. The only module that names concrete adapters."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import SecretStr

from muniment.accounts.passwords import Passwords
from muniment.accounts.sign_in import SignIn
from muniment.accounts.sweeps import forget_expired
from muniment.artifacts.content_keys import ContentKeys
from muniment.checks import checks
from muniment.documents.intake import Intake
from muniment.documents.staging import Staging
from muniment.documents.sweeps import Sweeps
from muniment.errors import Unavailable
from muniment.http.parts import Parts
from muniment.logins import database_address, login_passwords
from muniment.setting_sources import SettingsError
from muniment.settings import Settings
from muniment.storage.blobs.folder import FolderBlobs
from muniment.storage.blobs.port import Blobs
from muniment.storage.blobs.s3 import S3Blobs
from muniment.storage.db.address import SERVICE_LOGIN
from muniment.storage.db.work import Database
from muniment.storage.deletions.ledger import BlobEraser, Ledger
from muniment.storage.deletions.tables import Store
from muniment.storage.disk import has_room
from muniment.storage.tasks.port import Periodic, Process
from muniment.storage.tasks.queue import QueuedTasks

if TYPE_CHECKING:
    from muniment.storage.tasks.worker import Worker


class StoreGone(Unavailable):
    """The stored documents are gone"""


@dataclass(frozen=True)
class Stores:
    """What the API and the worker have in common."""

    database: Database
    blobs: Blobs
    ledger: Ledger

    async def close(self) -> None:
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
    blobs = build_blobs(settings)
    return Stores(database, blobs, Ledger(database, {Store.BLOBS: BlobEraser(blobs)}))


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
    room = room_check(settings)
    return Parts(
        database=stores.database,
        blobs=stores.blobs,
        passwords=passwords,
        sign_in=SignIn(stores.database, passwords, lifetime=settings.server.session_lifetime),
        intake=_build_intake(settings, stores, room),
        checks=checks(stores.database, stores.blobs, has_room=room, stalled_after=settings.worker.stalled_after),
        secure_cookies=settings.base_url.startswith("https://"),
        metrics_token=_secret(settings.telemetry.metrics_token),
    )


async def require_same_secret(settings: Settings, stores: Stores) -> None:
    """With another secret, equal bytes would no longer be recognised as equal, and nobody would notice for months."""
    known = await stores.database.known_content_key_id()
    if known not in (None, content_keys_of(settings).key_id):
        raise SettingsError(
            "DOCUMENT_HMAC_SECRET is not the one that the documents were stored with: bring the old one back "
            f"(on one machine it stands in {settings.secrets_dir / 'documents_hmac_secret'})"
        )


def content_keys_of(settings: Settings) -> ContentKeys:
    assert settings.documents.hmac_secret is not None
    return ContentKeys(settings.documents.hmac_secret.get_secret_value(), settings.documents.artifact_scope)


def _build_intake(settings: Settings, stores: Stores, room: Callable[[], bool]) -> Intake:
    staging = Staging(
        stores.database,
        stores.blobs,
        stores.ledger,
        content_keys_of(settings),
        has_room=room,
        max_bytes=settings.documents.max_upload_bytes,
        lifetime=settings.documents.upload_lifetime,
    )
    return Intake(stores.database, staging, stores.ledger, QueuedTasks())


def build_worker(settings: Settings, stores: Stores, process: Process | None = None) -> "Worker":
    from muniment.storage.tasks.worker import Worker  # loads Procrastinate, which the API does without

    sweeps = Sweeps(stores.database, stores.blobs, stores.ledger, upload_lifetime=settings.documents.upload_lifetime)
    return Worker(
        database_address(settings).as_login(SERVICE_LOGIN, login_passwords(settings).service),
        process=process,
        periodic=[
            Periodic("documents.sweep_uploads", "0 * * * * *", sweeps.uploads),
            Periodic("deletions.carry_out", "*/10 * * * * *", sweeps.deletions),
            Periodic("accounts.forget_expired", "30 7 * * * *", partial(forget_expired, stores.database)),
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
