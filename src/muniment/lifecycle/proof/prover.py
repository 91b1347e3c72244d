"""Turn a tombstone into a signed receipt: delete, verify every store, seal, sign.

The sweep retries what could not be verified in the time of a request.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple
from uuid import UUID

import structlog

from muniment.audit.receipts.record import Seen, sign
from muniment.audit.receipts.repository import ReceiptRepository
from muniment.audit.receipts.tables import Receipt
from muniment.audit.sealing import Sealer
from muniment.errors import MunimentError
from muniment.lifecycle.proof.deletion import Erasing
from muniment.lifecycle.proof.inventory import ARTIFACTS, BLOBS, INDEX, JOBS, QUEUE, ROWS, Look, SecondLook, kept_of
from muniment.storage.db.advisory_locks import AdvisoryLocks, lock_of
from muniment.storage.db.base import now
from muniment.storage.db.principal import Service
from muniment.storage.db.work import Database, Waiting, list_waiting
from muniment.storage.deletions.ledger import DeletionRepository, Line
from muniment.storage.deletions.tables import Store
from muniment.telemetry.metrics import RECEIPTS_OLDEST_SECONDS, RECEIPTS_UNFINISHED

log = structlog.get_logger()


PATIENCE_SECONDS = 2.0
"""For a worker in the midst of the document (DESIGN §5.4)."""


RECEIPT = "receipt"


STORES = (ARTIFACTS, BLOBS, INDEX, JOBS, QUEUE)
"""Nothing is known about any of them."""


class Tombstone(NamedTuple):
    receipt_id: UUID
    document_id: UUID


Pending = Mapping[UUID, Sequence[str]]
"""By receipt: what could not be seen empty; nothing where it is signed."""


@dataclass(frozen=True)
class Finishing:
    database: Database
    erasing: Erasing
    second_look: SecondLook
    locks: AdvisoryLocks
    sealer: Sealer
    patience_seconds: float = PATIENCE_SECONDS

    async def finish(self, organization_id: UUID, tombstones: Sequence[Tombstone]) -> Pending:
        """Sign as many of these as can be proven now. Whoever calls it again goes on where it ended."""
        try:
            return await self._finish(organization_id, tombstones) if tombstones else {}
        except MunimentError as error:  # the documents are gone already; the sweep does the rest
            log.warning("receipts.unfinished", organization_id=str(organization_id), error=error.message)
            return {receipt_id: STORES for receipt_id, _ in tombstones}

    async def _finish(self, organization_id: UUID, tombstones: Sequence[Tombstone]) -> Pending:
        locks = {lock_of(document_id): receipt_id for receipt_id, document_id in tombstones}
        pending: dict[UUID, Sequence[str]] = dict.fromkeys(locks.values(), ())
        async with self.locks.attempt_all(list(locks), within_seconds=self.patience_seconds) as held:
            receipts = await self._unsigned(organization_id, [locks[name] for name in held])
            pending |= await self._prove(organization_id, receipts) if receipts else {}
        if busy := [receipt_id for name, receipt_id in locks.items() if name not in held]:
            # By a worker, or by somebody who proves the same, and may be done by now.
            pending |= {receipt.id: STORES for receipt in await self._unsigned(organization_id, busy)}
        await self._note(organization_id, {key: stores for key, stores in pending.items() if stores})
        return pending

    async def _unsigned(self, organization_id: UUID, receipt_ids: Sequence[UUID]) -> Sequence[Receipt]:
        async with self.database.service_work(Service(organization_id), lasting=False) as work:
            receipts = await ReceiptRepository(work.session).list_(receipt_ids)
        return [receipt for receipt in receipts if receipt.signed_at is None]

    async def _prove(self, organization_id: UUID, receipts: Sequence[Receipt]) -> Pending:
        await self.erasing.erase(organization_id, receipts)
        looks = await self.second_look.look(organization_id, receipts)
        await self._reopen(organization_id, receipts, looks)
        pending = {one.id: _open_stores(looks[one.document_id]) for one in receipts}
        proven = [receipt for receipt in receipts if not pending[receipt.id]]
        unsigned = await self._sign(organization_id, proven, looks)
        return {**pending, **dict.fromkeys(unsigned, (RECEIPT,))}

    async def _reopen(self, organization_id: UUID, receipts: Sequence[Receipt], looks: Mapping[UUID, Look]) -> None:
        """What came back after its line was carried out gets a new one: a worker was late, or an upload."""
        lines = [line for one in receipts for line in _lines_of_left(one, looks[one.document_id])]
        if lines:
            async with self.database.service_work(Service(organization_id), lasting=False) as work:
                await DeletionRepository(work.session).add(lines)

    async def _sign(
        self, organization_id: UUID, receipts: Sequence[Receipt], looks: Mapping[UUID, Look]
    ) -> Sequence[UUID]:
        """Seal the lines that say who did it, then sign; those whose line is not sealed."""
        if not receipts:
            return ()
        await self.sealer.seal(organization_id)
        async with self.database.service_work(Service(organization_id)) as work:
            repository = ReceiptRepository(work.session)
            places = await repository.find_places([receipt.event_id for receipt in receipts])
            await repository.keep(
                [
                    sign(one, _seen(one, looks[one.document_id]), places[one.event_id], self.sealer.signer)
                    for one in receipts
                    if one.event_id in places
                ]
            )
        return [receipt.id for receipt in receipts if receipt.event_id not in places]

    async def _note(self, organization_id: UUID, pending: Pending) -> None:
        if pending:
            async with self.database.service_work(Service(organization_id), lasting=False) as work:
                await ReceiptRepository(work.session).note_pending(pending)


def _open_stores(look: Look) -> Sequence[str]:
    return sorted(store for store, count in look.left.items() if count)


def _seen(receipt: Receipt, look: Look) -> Seen:
    artifacts = receipt.found["artifacts"]
    looked_for = {
        ROWS: sum(receipt.found["rows"].values()),
        BLOBS: len(look.keys),
        ARTIFACTS: len(artifacts) + sum(artifact["passages"] for artifact in artifacts),
        INDEX: receipt.points or 0,
        JOBS: len(receipt.found["jobs"]),
        QUEUE: len((receipt.found.get("hand_over") or {}).get("copies", ())),
    }
    return Seen(now(), looked_for, look.left, kept_of(receipt, look))


def _lines_of_left(receipt: Receipt, look: Look) -> list[Line]:
    if look.blob_lines or look.artifact_lines:  # they are being tried already
        return []
    targets = [(Store.BLOBS, key) for key in look.objects or ()]
    within = f"{receipt.kb_id}/{receipt.document_id}"
    targets += [(Store.ARTIFACTS, f"{within}/{key}") for key in sorted(look.unused_content_keys)]
    return [
        Line(receipt.organization_id, receipt.kb_id, receipt.document_id, store, target, receipt.move)
        for store, target in targets
    ]


BATCH = 50


class ReceiptSweep:
    def __init__(self, finishing: Finishing) -> None:
        self._finishing = finishing

    async def sweep(self) -> None:
        """Finish the receipts that are due, and say how many are left and how old the oldest is."""
        unsigned, oldest_seconds = 0, 0.0
        for organization_id in await list_waiting(self._finishing.database, Waiting.RECEIPTS):
            await self.finish_due(organization_id)
            async with self._finishing.database.service_work(Service(organization_id)) as work:
                count, age = await ReceiptRepository(work.session).count_unsigned()
            unsigned, oldest_seconds = unsigned + count, max(oldest_seconds, age)
        RECEIPTS_UNFINISHED.set(unsigned)
        RECEIPTS_OLDEST_SECONDS.set(oldest_seconds)

    async def finish_due(self, organization_id: UUID) -> Sequence[UUID]:
        """Those of one organization; the ids of what is signed now."""
        async with self._finishing.database.service_work(Service(organization_id)) as work:
            receipts = await ReceiptRepository(work.session).take_due(limit=BATCH)
        if not receipts:
            return []
        due = [Tombstone(receipt.id, receipt.document_id) for receipt in receipts]
        pending = await self._finishing.finish(organization_id, due)
        signed = [receipt_id for receipt_id, _ in due if not pending[receipt_id]]
        log.info("receipts.swept", organization_id=str(organization_id), signed=len(signed), tried=len(due))
        return signed
