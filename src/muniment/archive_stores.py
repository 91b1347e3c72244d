"""The two stores of the archive queue, from the settings: for the API and the worker, and for the archiver."""

from pathlib import Path

from muniment.archival.stores import ArchiveStores, QueueStore
from muniment.errors import Unavailable
from muniment.setting_sources import SettingsError
from muniment.settings import S3Settings, Settings
from muniment.storage.queues.folder import FolderQueue
from muniment.store_places import MadeFolder, address_of

QUEUE, DEAD_LETTERS = "archive-queue", "archive-dlq"


class QueueGone(Unavailable):
    """The archive queue is gone"""


def build_archive_stores(settings: Settings) -> ArchiveStores:
    """With the keys of the originals' store."""
    return _build(settings, settings.s3 if settings.s3.bucket else None)


def build_archivers_stores(settings: Settings) -> ArchiveStores:
    """With the archiver's own keys, where it has some."""
    own, shared = settings.archiver, settings.s3
    given = {
        "endpoint": own.s3_endpoint,
        "region": own.s3_region,
        "access_key_id": own.s3_access_key_id,
        "secret_access_key": own.s3_secret_access_key,
    }
    given = {name: value for name, value in given.items() if value}
    return _build(settings, shared.model_copy(update=given) if given or shared.bucket else None)


def _build(settings: Settings, s3: S3Settings | None) -> ArchiveStores:
    if s3 is None:
        folder = settings.server.data_dir
        return ArchiveStores(_open_queue_folder(folder, QUEUE), _open_queue_folder(folder, DEAD_LETTERS))
    archive = settings.archive
    if len({archive.queue_bucket, archive.dead_letter_bucket, s3.bucket}) < 3:
        # What lies beside the originals and is no original would be cleared away as litter.
        raise SettingsError("The archive queue, the dead letters and the originals need a bucket each")
    return ArchiveStores(_bucket(s3, archive.queue_bucket), _bucket(s3, archive.dead_letter_bucket))


def _bucket(s3: S3Settings, bucket: str) -> QueueStore:
    from muniment.storage.queues.s3 import S3Queue

    return S3Queue(address_of(s3, bucket))


def _open_queue_folder(data_dir: Path, name: str) -> QueueStore:
    """If it came back empty, what waited in it would seem archived."""
    folder = MadeFolder(data_dir, name)
    folder.require(
        QueueGone(f"What waited in {folder.root} is gone. Mount that disk again, or bring it back from a backup")
    )
    queue = FolderQueue(folder.root)
    folder.mark()
    return queue
