"""Pages of an interrupted run, kept as objects until the artifact is complete (docs/design.md#partial-pages).

A worker that is killed or stopped in the middle of a long scan leaves them; the next run of the same content and
variant continues after the last one. Each object has a reservation in the ledger: completing, failing or cancelling the
run and purging the document make it due, and otherwise it expires after a day.
"""

import struct
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

import structlog
import zstandard

from muniment.artifacts.repository import ArtifactKey
from muniment.processing.pipeline.context import RunContext
from muniment.processing.readers.contract import ExtractedPage
from muniment.processing.sandbox.protocol.decoding import ProtocolViolation, decode_page
from muniment.processing.sandbox.protocol.frames import encode_page
from muniment.storage.db.base import new_id
from muniment.storage.db.principal import Service
from muniment.storage.db.work import Work
from muniment.storage.deletions.ledger import LedgerRepository, reserve
from muniment.storage.objects.port import ObjectNotFound

log = structlog.get_logger()

_LENGTH = struct.Struct(">I")
_LEVEL = 3


@dataclass
class PartialPages:
    """Stores and loads the pages of one content and variant, in the order in which they are read."""

    context: RunContext
    key: ArtifactKey
    step: str
    _stored_keys: Sequence[str] = ()
    _has_reservations: bool = True
    """Whether there may be reservations to discard. False once none was found, until a part is stored."""
    _unsaved: list[ExtractedPage] = field(default_factory=list)
    _saved_at: float = field(default_factory=time.monotonic)

    @property
    def prefix(self) -> str:
        """Return where the objects are, for every run of this content and variant."""
        variant = self.key.variant
        organization = self.key.organization_id or "shared"
        return (
            f"artifacts/{organization}/partial/{self.key.content_key}"
            f"/{variant.algorithm_version}-{variant.params_fingerprint}/"
        )

    async def find(self, work: Work[Service]) -> None:
        """Find what earlier runs of this organization have stored. The ledger knows, so that most runs need not ask the
        object store."""
        reserved = await LedgerRepository(work.session).list_reserved(self.prefix, self.context.run.document_id)
        self._has_reservations = bool(reserved)
        self._stored_keys = [key for key in reserved if key.startswith(self.prefix)]

    async def load(self) -> Sequence[ExtractedPage]:
        """Return the pages that were found, from page 1 on and without gaps."""
        objects, pages = self.context.services.objects, list[ExtractedPage]()
        for key in await self._list_keys():
            try:
                data = bytearray()
                async for piece in objects.read(key):
                    data += piece
                part = list(_unpack(bytes(data)))
            except (ObjectNotFound, ProtocolViolation):  # deleted meanwhile, or damaged: read its pages again
                log.warning("processing.partial_pages_unusable", run_id=str(self.context.run.run_id))
                continue
            # A worker that was overtaken may have stored some pages a second time.
            if [page.number for page in part] == list(range(len(pages) + 1, len(pages) + len(part) + 1)):
                pages += part
        return pages

    async def _list_keys(self) -> Sequence[str]:
        if self.key.organization_id is not None:
            return self._stored_keys
        # All organizations share this content, but the entries of others in the ledger are not visible.
        return [info.key async for info in self.context.services.objects.list(self.prefix)]

    async def add(self, page: ExtractedPage) -> None:
        """Keep a page, and store those that were kept since the last time if that is long enough ago."""
        self._unsaved.append(page)
        if time.monotonic() - self._saved_at >= self.context.services.partial_results_interval:
            await self.save()

    async def save(self) -> None:
        """Store the pages that are not stored yet, behind the fence."""
        if not self._unsaved:
            return
        run, record = self.context.run, self.context.record
        object_key = f"{self.prefix}{self._unsaved[0].number:07}-{new_id()}"
        self._has_reservations = True
        async with self.context.progress_transaction(self.step) as work:
            await reserve(work, object_key, kb_id=record.kb_id, document_id=run.document_id)
        await self.context.services.objects.put(object_key, _pack(self._unsaved))
        self._unsaved.clear()
        self._saved_at = time.monotonic()

    async def discard(self, work: Work[Service]) -> None:
        """Make the reservations of all parts due, in the transaction that ends the need for them.

        Also those of this document with another variant: its run may have begun before the options were changed.
        """
        if self._has_reservations:
            await LedgerRepository(work.session).release_below(self.prefix, self.context.run.document_id)


def _pack(pages: Sequence[ExtractedPage]) -> bytes:
    encoded = (encode_page(page) for page in pages)
    data = b"".join(_LENGTH.pack(len(page)) + page for page in encoded)
    return zstandard.ZstdCompressor(level=_LEVEL, write_checksum=True).compress(data)


def _unpack(data: bytes) -> Iterator[ExtractedPage]:
    """Yield the pages of a part, or raise `ProtocolViolation` if it is damaged."""
    unpacked = b""
    with suppress(zstandard.ZstdError):
        unpacked = zstandard.ZstdDecompressor().decompressobj().decompress(data)
    if not unpacked:
        raise ProtocolViolation("damaged part")
    position = 0
    while position < len(unpacked):
        (length,) = _LENGTH.unpack_from(unpacked, position)
        position += _LENGTH.size
        yield decode_page(unpacked[position : position + length])
        position += length
