"""Build the stores of originals and of the hand-over queue from the settings.

Imports nothing of the database, because the archiver uses it.
"""

from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import SecretStr

from muniment.embedded.data_directory import MarkedFolder
from muniment.errors import Unavailable
from muniment.handover.queue import HandoverStores
from muniment.settings import Settings
from muniment.settings.server import S3Settings
from muniment.settings.sources import SettingsError
from muniment.storage.objects.folder.store import FolderObjectStore, VersionedFolderStore
from muniment.storage.objects.port import ObjectStore, VersionedObjectStore

if TYPE_CHECKING:
    from muniment.storage.objects.s3.connection import S3Address


def secret_value(value: SecretStr | None) -> str | None:
    return value.get_secret_value() if value else None


def build_s3_address(s3: S3Settings, bucket: str) -> "S3Address":
    from muniment.storage.objects.s3.connection import S3Address

    return S3Address(
        bucket,
        s3.endpoint,
        s3.region,
        s3.access_key_id,
        secret_value(s3.secret_access_key),
        s3.server_side_encryption,
    )


QUEUE_FOLDER, DEAD_LETTER_FOLDER = "archive-queue", "archive-dlq"


class QueueFolderMissing(Unavailable):
    """The Paperless queue is missing"""


def build_handover_stores(settings: Settings, *, create: bool = True) -> HandoverStores:
    """Build the stores of the queue with the credentials of the original files."""
    return _build_stores(settings, settings.s3 if settings.s3.bucket else None, create=create)


def build_archiver_stores(settings: Settings) -> HandoverStores:
    """Build the stores of the queue with the archiver's own credentials, if it has any."""
    own, shared = settings.archiver, settings.s3
    overrides = {
        "endpoint": own.s3_endpoint,
        "region": own.s3_region,
        "access_key_id": own.s3_access_key_id,
        "secret_access_key": own.s3_secret_access_key,
    }
    overrides = {name: value for name, value in overrides.items() if value}
    return _build_stores(settings, shared.model_copy(update=overrides) if overrides or shared.bucket else None)


def _build_stores(settings: Settings, s3: S3Settings | None, *, create: bool = True) -> HandoverStores:
    if s3 is None:
        folder = settings.server.data_dir
        return HandoverStores(
            _open_queue_folder(folder, QUEUE_FOLDER, create=create),
            _open_queue_folder(folder, DEAD_LETTER_FOLDER, create=create),
        )
    archive = settings.archive
    if len({archive.queue_bucket, archive.dead_letter_bucket, s3.bucket}) < 3:
        # Unknown objects next to the originals would be deleted as orphans.
        raise SettingsError("The Paperless queue, the dead letters and the original files need separate buckets")
    return HandoverStores(
        _open_queue_bucket(s3, archive.queue_bucket), _open_queue_bucket(s3, archive.dead_letter_bucket)
    )


def _open_queue_bucket(s3: S3Settings, bucket: str) -> VersionedObjectStore:
    from muniment.storage.objects.s3.store import VersionedS3Store

    return VersionedS3Store(build_s3_address(s3, bucket))


def _open_queue_folder(data_dir: Path, name: str, *, create: bool) -> VersionedObjectStore:
    """Open a folder of the queue. It must not come back empty, or waiting jobs would look finished."""
    folder = MarkedFolder(data_dir, name)
    folder.require_present(
        QueueFolderMissing(f"The Paperless queue {folder.root} is missing. Mount its disk or restore a backup")
    )
    queue = VersionedFolderStore(folder.root, create=create)
    if create:
        _mark(folder)
    return queue


def _mark(folder: MarkedFolder) -> None:
    try:
        folder.mark()
    except OSError as error:
        raise Unavailable(f"Cannot write to {folder.root}: {error.strerror}") from None


class OriginalsFolderMissing(Unavailable):
    """The document store is missing"""


def build_object_store(settings: Settings, *, create: bool = True) -> ObjectStore:
    """Build the store of originals. Without `create`, no folder is created and nothing is written."""
    s3 = settings.s3
    if s3.bucket is None:
        return _open_originals_folder(settings.server.data_dir, create=create)
    from muniment.storage.objects.s3.store import S3ObjectStore  # obstore is not needed on a single machine

    return S3ObjectStore(build_s3_address(s3, s3.bucket))


def _open_originals_folder(data_dir: Path, *, create: bool) -> FolderObjectStore:
    folder = MarkedFolder(data_dir, "blobs")
    folder.require_present(
        OriginalsFolderMissing(f"The document store {folder.root} is missing. Mount its disk or restore a backup")
    )
    store = FolderObjectStore(folder.root, create=create)
    if create:
        _mark(folder)
    return store
