"""Stream an upload to the object store while it is hashed, measured and inspected.

The upload is recorded before its first byte. The sweep deletes uploads that expired before they became a document.
"""

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

import structlog

from muniment.artifacts.keys import ContentHasher, ContentKeyFactory
from muniment.documents.media_types.detection import HEAD_BYTES, TAIL_BYTES, detect_media_type, is_surely_unsupported
from muniment.documents.media_types.types import SUPPORTED, MediaType
from muniment.documents.media_types.zip_directory import LOCAL_SIGNATURE
from muniment.documents.quotas import UploadRoom
from muniment.documents.repository import RevisionRepository, UploadRepository
from muniment.documents.tables import Upload
from muniment.errors import Invalid, MunimentError, StorageFull, TooLarge, Unavailable, Unsupported
from muniment.knowledge_bases.access import Access, get_access
from muniment.storage.db import base
from muniment.storage.db.base import new_id, now
from muniment.storage.db.principal import Principal, Service
from muniment.storage.db.work import Database, Work, list_organizations
from muniment.storage.deletions.ledger import Ledger, LedgerRepository, NewLedgerEntry
from muniment.storage.deletions.tables import LedgerStore
from muniment.storage.objects.async_io import run_to_completion
from muniment.storage.objects.port import ObjectStore

log = structlog.get_logger()


PermissionCheck = Callable[[Work[Principal]], Awaitable[object]]
"""A check that raises unless the caller may upload."""


class UploadExpired(Unavailable):
    """The upload took too long and expired. Upload the file again"""


class EmptyFile(Invalid):
    """The file is empty"""


class UnsupportedFileType(Unsupported):
    """Unsupported file type"""

    code = "UnknownFileType"

    def __init__(self, head: bytes = b"") -> None:
        known = ", ".join(kind.name for kind in SUPPORTED)
        if head.startswith(LOCAL_SIGNATURE):
            super().__init__(f"This Office file is damaged or has an unsupported format. Supported: {known}")
        else:
            super().__init__(f"Unsupported file type. Supported: {known}")


@dataclass(frozen=True)
class StagedUpload:
    """An upload that is stored completely and durably, and not yet claimed by a document."""

    upload_id: UUID
    document_id: UUID
    name: str
    object_key: str
    media_type: MediaType
    file_size: int
    sha256: str
    content_key: str


class UploadInspector:
    """Hashes, measures and inspects an upload as it passes, in constant memory."""

    def __init__(self, content: ContentHasher, *, max_bytes: int, room: UploadRoom | None = None) -> None:
        self.content = content
        self.size_bytes = 0
        self._max_bytes = max_bytes
        self._room = room
        self._head = b""
        self._tail = b""

    def feed(self, chunk: bytes) -> None:
        """Add a chunk. Raise as soon as the upload is too large or surely has no supported type."""
        self.size_bytes += len(chunk)
        if self.size_bytes > self._max_bytes:
            raise TooLarge(f"The file exceeds the limit of {self._max_bytes} bytes")
        if self._room is not None:
            self._room.require(self.size_bytes)
        was_incomplete = len(self._head) < HEAD_BYTES
        self._head += chunk[: HEAD_BYTES - len(self._head)]
        self._tail = (self._tail + chunk)[-TAIL_BYTES:]
        if was_incomplete and len(self._head) == HEAD_BYTES and is_surely_unsupported(self._head):
            raise UnsupportedFileType
        self.content.update(chunk)

    def detect_media_type(self, name: str) -> MediaType:
        """Return the type of the complete upload, or raise `EmptyFile` or `UnsupportedFileType`."""
        if not self.size_bytes:
            raise EmptyFile
        found = detect_media_type(self._head, self._tail, self.size_bytes, name=name)
        if found is None:
            raise UnsupportedFileType(self._head)
        return found


class Staging:
    """Streams uploads to the object store, outside any transaction."""

    def __init__(
        self,
        database: Database,
        objects: ObjectStore,
        ledger: Ledger,
        content_keys: ContentKeyFactory,
        *,
        has_room: Callable[[], bool],
        max_bytes: int,
        lifetime: timedelta,
    ) -> None:
        self._database = database
        self._objects = objects
        self._ledger = ledger
        self._content_keys = content_keys
        self._has_room = has_room
        self._max_bytes = max_bytes
        self._lifetime = lifetime

    def stage(
        self,
        access: Access,
        name: str,
        chunks: AsyncIterator[bytes],
        *,
        now: datetime,
        room: UploadRoom | None = None,
    ) -> AbstractAsyncContextManager[StagedUpload]:
        """Store an upload for a new document. The block claims it; if the block raises, the upload is deleted."""

        async def permit(work: Work[Principal]) -> None:
            (await get_access(work, access.kb.id)).require_upload()

        return self._open_stage(self._new_upload(access, new_id(), "1", now), access, permit, name, chunks, room)

    def stage_revision(
        self,
        access: Access,
        document_id: UUID,
        check_permission: PermissionCheck,
        *,
        name: str,
        chunks: AsyncIterator[bytes],
        now: datetime,
        room: UploadRoom | None = None,
    ) -> AbstractAsyncContextManager[StagedUpload]:
        """Store an upload for an existing document, as `stage`. `check_permission` is called before the first byte."""
        # The revision number is assigned when the upload is received: two concurrent uploads would get the same key.
        upload = self._new_upload(access, document_id, str(new_id()), now)
        return self._open_stage(upload, access, check_permission, name, chunks, room)

    @asynccontextmanager
    async def _open_stage(
        self,
        upload: Upload,
        access: Access,
        check_permission: PermissionCheck,
        name: str,
        chunks: AsyncIterator[bytes],
        room: UploadRoom | None,
    ) -> AsyncIterator[StagedUpload]:
        if not self._has_room():
            raise StorageFull
        async with self._database.work(access.principal) as work:
            # Again: time may have passed between the headers of the request and its file.
            await check_permission(work)
            await UploadRepository(work.session).add(upload)
        try:
            yield await self._stream(upload, name, chunks, room)
        except BaseException:
            # Also when the client disconnects and the task is cancelled: the clean-up must not be interrupted.
            await run_to_completion(self._discard(upload))
            raise

    async def _stream(
        self, upload: Upload, name: str, chunks: AsyncIterator[bytes], room: UploadRoom | None
    ) -> StagedUpload:
        content = self._content_keys.new_hasher(organization_id=upload.organization_id, document_id=upload.document_id)
        inspector = UploadInspector(content, max_bytes=self._max_bytes, room=room)
        async with self._objects.writer(upload.blob_key) as writer:
            async for chunk in chunks:
                inspector.feed(chunk)
                if not self._has_room():  # again: concurrent uploads could fill the disk together
                    raise StorageFull
                await writer.write(chunk)
            media_type = inspector.detect_media_type(name)  # inside, so that a refused file never becomes an object
            await self._renew_expiry(upload, base.now())
        return StagedUpload(
            upload_id=upload.id,
            document_id=upload.document_id,
            name=name,
            object_key=upload.blob_key,
            media_type=media_type,
            file_size=inspector.size_bytes,
            sha256=content.sha256,
            content_key=content.content_key,
        )

    async def _renew_expiry(self, upload: Upload, now: datetime) -> None:
        """Renew the expiry of a slow upload.

        If the sweep has claimed its row, raise `UploadExpired` before an object appears that nobody would delete.
        """
        if now < upload.expires_at - self._lifetime / 2:
            return
        async with self._database.service_work(Service(upload.organization_id)) as work:
            if not await UploadRepository(work.session).extend_expiry(upload.id, now + self._lifetime):
                raise UploadExpired

    async def _discard(self, upload: Upload) -> None:
        """Delete the row and add a ledger entry, then delete the object. The sweep finishes what fails here."""
        # As a service: nothing may be left even if the caller has lost all rights in the meantime.
        caller = Service(upload.organization_id)
        entry = NewLedgerEntry(
            upload.organization_id,
            upload.kb_id,
            upload.document_id,
            LedgerStore.OBJECTS,
            upload.blob_key,
            reason="upload_refused",
        )
        try:
            async with self._database.service_work(caller) as work:
                is_claimed = await UploadRepository(work.session).claim(upload.id)
                # If the row is gone, a document has the object, or the sweep came first, maybe before it existed.
                if not is_claimed and await self._is_referenced(work, upload):
                    return
                deletion_ids = await LedgerRepository(work.session).add([entry])
            await self._ledger.process(upload.organization_id, deletion_ids)
        except MunimentError as error:
            log.warning("uploads.discard_failed", upload_id=str(upload.id), error=error.message)

    async def _is_referenced(self, work: Work[Service], upload: Upload) -> bool:
        return await RevisionRepository(work.session).references_object(upload.document_id, upload.blob_key)

    def _new_upload(self, access: Access, document_id: UUID, revision_key: str, now: datetime) -> Upload:
        return Upload(
            id=new_id(),
            organization_id=access.kb.organization_id,
            kb_id=access.kb.id,
            document_id=document_id,
            blob_key=f"{access.kb.id}/{document_id}/{revision_key}/original",
            uploaded_by=access.principal.user_id,
            expires_at=now + self._lifetime,
        )


BATCH = 100


class UploadSweep:
    """Expires uploads that never became a document.

    `stores` are all object stores whose abandoned temporary files are deleted: also those of the hand-over queue, where
    no row and no ledger entry names them.
    """

    def __init__(
        self, database: Database, ledger: Ledger, stores: Sequence[ObjectStore], *, upload_lifetime: timedelta
    ) -> None:
        self._database = database
        self._ledger = ledger
        self._stores = stores
        self._upload_lifetime = upload_lifetime

    async def run(self) -> None:
        """Expire uploads that never became a document, and delete the temporary files of killed writers."""
        for organization_id in await list_organizations(self._database):
            await self.expire(organization_id)
        before = now() - self._upload_lifetime
        abandoned = sum([await store.delete_stale_uploads(before=before) for store in self._stores])
        if abandoned:
            log.info("uploads.abandoned_removed", count=abandoned)

    async def expire(self, organization_id: UUID) -> None:
        """Delete one batch of expired uploads of an organization."""
        async with self._database.service_work(Service(organization_id)) as work:
            # Only objects whose row this statement deletes: a slow commit keeps its object.
            expired = await UploadRepository(work.session).claim_expired(now(), limit=BATCH)
            deletion_ids = await LedgerRepository(work.session).add(
                NewLedgerEntry(
                    item.organization_id,
                    item.kb_id,
                    item.document_id,
                    LedgerStore.OBJECTS,
                    item.blob_key,
                    "upload_expired",
                )
                for item in expired
            )
        if expired:
            await self._ledger.process(organization_id, deletion_ids)
            log.info("uploads.expired", organization_id=str(organization_id), count=len(expired))
