"""Stream an audit log as JSON Lines or CSV.

It is read in batches, and no transaction is open while a client reads slowly.
"""

import csv
import io
import json
from collections.abc import AsyncIterator, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

import structlog

from muniment.audit.chain_check import ChainLink
from muniment.audit.export.format import (
    ExportFooter,
    event_line,
    filters_as_json,
    footer_line,
    head_line,
    header_line,
    stub_line,
)
from muniment.audit.hashing import INSTALLATION_CHAIN, genesis_hash, to_rfc3339
from muniment.audit.heads import ChainBroken, Head, HeadRepository, HeadSigner
from muniment.audit.keys import KeyRepository
from muniment.audit.repository import EventFilter, TrailRepository
from muniment.audit.sealing import BATCH, Sealer, SealRepository, envelope_of
from muniment.audit.tables import AuditEvent, AuditSeal
from muniment.errors import Forbidden
from muniment.storage.db.principal import Principal, Service
from muniment.storage.db.work import Database

log = structlog.get_logger()


COLUMNS = (
    "seq",
    "id",
    "at",
    "action",
    "actor",
    "organization_id",
    "kb_id",
    "document_id",
    "address",
    "payload",
    "hash",
)


@dataclass(frozen=True)
class ExportBatch:
    """A section of the chain: all links, the events among them that the reader may see, and the signed heads."""

    links: Sequence[ChainLink]
    visible: dict[int, tuple[AuditSeal, AuditEvent]]
    heads: dict[int, Head]


class TrailExport:
    """An export for one reader."""

    def __init__(
        self, database: Database, sealer: Sealer, heads: HeadSigner, principal: Principal, event_filter: EventFilter
    ) -> None:
        self._database = database
        self._sealer = sealer
        self._signer = sealer.signer.current()
        self._heads = heads
        self._principal = principal
        self._event_filter = event_filter
        self._organization_id = None if event_filter.is_installation else principal.organization_id
        self._chain = self._organization_id or INSTALLATION_CHAIN

    async def json_lines(self, at: datetime) -> AsyncIterator[bytes]:
        """Stream the export as JSON Lines (see `format.py`).

        Raise `Forbidden` if the reader may not read this chain.
        """
        before, until = await self._bounds()
        async with self._database.work(self._principal) as work:
            keys = await KeyRepository(work.session).list_()
        yield header_line(self._chain, before, self._signer, keys)
        last, events = before, 0
        async for batch in self._batches(before.seq, until):
            for link in batch.links:
                yield event_line(*batch.visible[link.seq]) if link.seq in batch.visible else stub_line(link)
                if link.seq in batch.heads:
                    yield head_line(batch.heads[link.seq])
            last, events = batch.links[-1], events + len(batch.visible)
        yield footer_line(self._build_footer(before, last, events, at).signed_by(self._signer))

    async def csv(self) -> AsyncIterator[bytes]:
        """Stream the export as CSV for spreadsheets. It cannot be verified."""
        before, until = await self._bounds()
        yield csv_row(COLUMNS)
        async for batch in self._batches(before.seq, until):
            for seal, event in batch.visible.values():
                # With some locales, spreadsheets treat a semicolon as a cell separator.
                payload = json.dumps(event.payload, ensure_ascii=False).replace(";", "\\u003b")
                row = {**envelope_of(event), "seq": seal.seq, "hash": seal.hash.hex(), "payload": payload}
                yield csv_row([row[column] for column in COLUMNS])

    async def _bounds(self) -> tuple[ChainLink, int]:
        """Return the position before the first visible event, and the end; everything up to it is sealed and signed."""
        async with self._database.work(self._principal) as work:
            if not await TrailRepository(work.session).may_read(self._chain):
                raise Forbidden
        await self._sealer.seal(self._organization_id)
        try:
            await self._heads.sign_chain(self._organization_id)
        except ChainBroken as error:  # an export is needed most when the chain is broken
            log.error("audit.chain_broken", chain=str(self._chain), error=error.message)
        async with self._database.work(self._principal) as work:
            first = await TrailRepository(work.session).find_first_seq(self._chain, self._event_filter)
        async with self._database.service_work(Service(self._organization_id)) as service:
            seals = SealRepository(service.session)
            until, _ = await seals.find_last(self._chain) or (0, b"")
            seq = until if first is None else first - 1
            return ChainLink(seq, b"", await seals.find_hash(self._chain, seq) or genesis_hash(self._chain)), until

    async def _batches(self, after: int, until: int) -> AsyncIterator[ExportBatch]:
        while after < until:
            batch = await self._batch(after, limit=min(BATCH, until - after))
            if not batch.links:
                return
            yield batch
            after = batch.links[-1].seq

    async def _batch(self, after: int, *, limit: int) -> ExportBatch:
        async with self._database.work(self._principal) as work:
            trail = TrailRepository(work.session)
            links = await trail.list_links(self._chain, after=after, limit=limit)
            until = links[-1].seq if links else after
            visible = await trail.list_sealed(self._chain, self._event_filter, after=after, until=until)
            heads = await HeadRepository(work.session).list_(self._chain, after=after, until=until)
        return ExportBatch(
            links, {seal.seq: (seal, event) for seal, event in visible}, {head.seq: head for head in heads}
        )

    def _build_footer(self, before: ChainLink, last: ChainLink, events: int, at: datetime) -> ExportFooter:
        return ExportFooter(
            chain=str(self._chain),
            filters=filters_as_json(self._event_filter),
            first_seq=before.seq + 1,
            previous_hash=before.hash.hex(),
            last_seq=last.seq,
            hash=last.hash.hex(),
            events=events,
            exported_at=to_rfc3339(at),
            key_id=self._signer.key_id,
        )


FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")


def csv_row(cells: Iterable[object]) -> bytes:
    """Return one row with every cell quoted; `None` becomes an empty cell."""
    written = io.StringIO()
    csv.writer(written, quoting=csv.QUOTE_ALL, lineterminator="\r\n").writerow(map(_cell, cells))
    return written.getvalue().encode()


def _cell(value: object) -> str:
    text = "" if value is None else str(value)
    return f"'{text}" if text.lstrip(" \u00a0").startswith(FORMULA_STARTS) else text
