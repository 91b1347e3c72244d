"""Turn a tombstone into a signed receipt: delete, verify every store, seal, sign.

The sweep retries what could not be verified in the time of a request.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple
from uuid import UUID

import structlog

from muniment.audit.receipts.record import InventoryResult, sign_receipt
from muniment.audit.receipts.repository import ReceiptRepository
from muniment.audit.receipts.tables import Receipt
from muniment.audit.sealing import Sealer
from muniment.errors import MunimentError
from muniment.lifecycle.proof.deletion import TraceDeletion
from muniment.lifecycle.proof.inventory import (
    ARTIFACTS,
    INDEX,
    JOBS,
    OBJECTS,
    QUEUE,
    ROWS,
    Inventory,
    StoreInventory,
    retained_items,
)
from muniment.storage.db.advisory_locks import AdvisoryLocks, document_lock_name
from muniment.storage.db.base import now
from muniment.storage.db.principal import Service
from muniment.storage.db.work import Database, PendingWork, list_organizations_with
from muniment.storage.deletions.ledger import LedgerRepository, NewLedgerEntry
from muniment.storage.deletions.tables import LedgerStore
from muniment.telemetry.metrics import RECEIPTS_OLDEST_SECONDS, RECEIPTS_UNFINISHED

log = structlog.get_logger()


LOCK_TIMEOUT_SECONDS = 2.0
"""How long to wait for a worker that holds the document's lock (docs/design.md#document-lock)."""


RECEIPT = "receipt"


ALL_STORES = (ARTIFACTS, OBJECTS, INDEX, JOBS, QUEUE)
"""Reported as pending if nothing is known about any store."""


class Tombstone(NamedTuple):
    """The unsigned receipt of a purged document."""

    receipt_id: UUID
    document_id: UUID


PendingStores = Mapping[UUID, Sequence[str]]
"""By receipt: the stores that could not be verified as empty. Empty for a signed receipt."""


@dataclass(frozen=True)
class PurgeProver:
    """Proves that purged documents are gone, and signs their receipts."""

    database: Database
    deletion: TraceDeletion
    inventory: StoreInventory
    locks: AdvisoryLocks
    sealer: Sealer
    lock_timeout_seconds: float = LOCK_TIMEOUT_SECONDS

    async def prove(self, organization_id: UUID, tombstones: Sequence[Tombstone]) -> PendingStores:
        """Sign as many receipts as can be proven now. A repeated call continues with the rest."""
        try:
            return await self._prove_all(organization_id, tombstones) if tombstones else {}
        except MunimentError as error:  # the documents are gone already; the sweep finishes the rest
            log.warning("receipts.proof_deferred", organization_id=str(organization_id), error=error.message)
            return {receipt_id: ALL_STORES for receipt_id, _ in tombstones}

    async def _prove_all(self, organization_id: UUID, tombstones: Sequence[Tombstone]) -> PendingStores:
        locks = {document_lock_name(document_id): receipt_id for receipt_id, document_id in tombstones}
        pending: dict[UUID, Sequence[str]] = dict.fromkeys(locks.values(), ())
        async with self.locks.try_acquire_many(list(locks), within_seconds=self.lock_timeout_seconds) as acquired:
            receipts = await self._list_unsigned(organization_id, [locks[name] for name in acquired])
            pending |= await self._prove_locked(organization_id, receipts) if receipts else {}
        if busy := [receipt_id for name, receipt_id in locks.items() if name not in acquired]:
            # Locked by a worker, or by another prover that may have signed the receipt by now.
            pending |= {receipt.id: ALL_STORES for receipt in await self._list_unsigned(organization_id, busy)}
        await self._store_pending(organization_id, {key: stores for key, stores in pending.items() if stores})
        return pending

    async def _list_unsigned(self, organization_id: UUID, receipt_ids: Sequence[UUID]) -> Sequence[Receipt]:
        async with self.database.service_work(Service(organization_id), durable=False) as work:
            receipts = await ReceiptRepository(work.session).list_(receipt_ids)
        return [receipt for receipt in receipts if receipt.signed_at is None]

    async def _prove_locked(self, organization_id: UUID, receipts: Sequence[Receipt]) -> PendingStores:
        await self.deletion.run(organization_id, receipts)
        inventories = await self.inventory.take(organization_id, receipts)
        await self._add_missing_entries(organization_id, receipts, inventories)
        pending = {receipt.id: _remaining_stores(inventories[receipt.document_id]) for receipt in receipts}
        proven = [receipt for receipt in receipts if not pending[receipt.id]]
        unsigned = await self._sign(organization_id, proven, inventories)
        return {**pending, **dict.fromkeys(unsigned, (RECEIPT,))}

    async def _add_missing_entries(
        self, organization_id: UUID, receipts: Sequence[Receipt], inventories: Mapping[UUID, Inventory]
    ) -> None:
        """Add a new ledger entry for what a late worker or upload wrote after the old entry was done."""
        entries = [
            entry for receipt in receipts for entry in _missing_entries(receipt, inventories[receipt.document_id])
        ]
        if entries:
            async with self.database.service_work(Service(organization_id), durable=False) as work:
                await LedgerRepository(work.session).add(entries)

    async def _sign(
        self, organization_id: UUID, receipts: Sequence[Receipt], inventories: Mapping[UUID, Inventory]
    ) -> Sequence[UUID]:
        """Seal the audit events of the purges, then sign. Return the receipts whose event is not sealed yet."""
        if not receipts:
            return ()
        await self.sealer.seal(organization_id)
        signer = self.sealer.signer.current()
        async with self.database.service_work(Service(organization_id)) as work:
            repository = ReceiptRepository(work.session)
            positions = await repository.find_positions([receipt.event_id for receipt in receipts])
            await repository.store_signed(
                [
                    sign_receipt(
                        receipt,
                        _inventory_result(receipt, inventories[receipt.document_id]),
                        positions[receipt.event_id],
                        signer,
                    )
                    for receipt in receipts
                    if receipt.event_id in positions
                ]
            )
        return [receipt.id for receipt in receipts if receipt.event_id not in positions]

    async def _store_pending(self, organization_id: UUID, pending: PendingStores) -> None:
        if pending:
            async with self.database.service_work(Service(organization_id), durable=False) as work:
                await ReceiptRepository(work.session).store_pending(pending)


def _remaining_stores(inventory: Inventory) -> Sequence[str]:
    return sorted(store for store, count in inventory.remaining.items() if count)


def _inventory_result(receipt: Receipt, inventory: Inventory) -> InventoryResult:
    artifacts = receipt.found["artifacts"]
    looked_for = {
        ROWS: sum(receipt.found["rows"].values()),
        OBJECTS: len(inventory.keys),
        ARTIFACTS: len(artifacts) + sum(artifact["passages"] for artifact in artifacts),
        INDEX: receipt.points or 0,
        JOBS: len(receipt.found["jobs"]),
        QUEUE: len((receipt.found.get("hand_over") or {}).get("copies", ())),
    }
    return InventoryResult(now(), looked_for, inventory.remaining, retained_items(receipt, inventory))


def _missing_entries(receipt: Receipt, inventory: Inventory) -> list[NewLedgerEntry]:
    if inventory.object_entries or inventory.artifact_entries:  # they will be tried again anyway
        return []
    targets = [(LedgerStore.OBJECTS, key) for key in inventory.remaining_keys or ()]
    prefix = f"{receipt.kb_id}/{receipt.document_id}"
    targets += [(LedgerStore.ARTIFACTS, f"{prefix}/{key}") for key in sorted(inventory.unused_content_keys)]
    return [
        NewLedgerEntry(receipt.organization_id, receipt.kb_id, receipt.document_id, store, target, receipt.move)
        for store, target in targets
    ]


BATCH = 50


class ReceiptSweep:
    """Proves receipts that could not be proven in the request."""

    def __init__(self, prover: PurgeProver) -> None:
        self._prover = prover

    async def run(self) -> None:
        """Prove the receipts that are due, and update the gauges of what is left."""
        unsigned, oldest_seconds = 0, 0.0
        for organization_id in await list_organizations_with(self._prover.database, PendingWork.RECEIPTS):
            await self.prove_due(organization_id)
            async with self._prover.database.service_work(Service(organization_id)) as work:
                count, age = await ReceiptRepository(work.session).count_unsigned()
            unsigned, oldest_seconds = unsigned + count, max(oldest_seconds, age)
        RECEIPTS_UNFINISHED.set(unsigned)
        RECEIPTS_OLDEST_SECONDS.set(oldest_seconds)

    async def prove_due(self, organization_id: UUID) -> Sequence[UUID]:
        """Prove the due receipts of one organization. Return the ids of those that are signed now."""
        async with self._prover.database.service_work(Service(organization_id)) as work:
            receipts = await ReceiptRepository(work.session).claim_due(limit=BATCH)
        if not receipts:
            return []
        due = [Tombstone(receipt.id, receipt.document_id) for receipt in receipts]
        pending = await self._prover.prove(organization_id, due)
        signed = [receipt_id for receipt_id, _ in due if not pending[receipt_id]]
        log.info("receipts.sweep_finished", organization_id=str(organization_id), signed=len(signed), tried=len(due))
        return signed
