"""A whole installation in one process that can crash and restart: application, stores, users and sweeps."""

import asyncio
from collections.abc import AsyncIterator, Awaitable
from contextlib import asynccontextmanager
from copy import copy
from dataclasses import dataclass, field, replace
from pathlib import Path
from uuid import UUID

import httpx
from fastapi import FastAPI

from muniment.accounts.credentials import Passwords
from muniment.api import create_app, with_middleware
from muniment.audit.service import AuditMaintenance
from muniment.bootstrap.installation import build_heads, build_sealer, build_verification
from muniment.bootstrap.maintenance import build_purge_prover, build_upload_sweep
from muniment.bootstrap.services import build_services
from muniment.bootstrap.stores import Stores, build_ledger, build_stores
from muniment.http.services import Services
from muniment.lifecycle.proof.prover import ReceiptSweep
from muniment.processing.pipeline.processor import RunProcessor
from muniment.processing.pipeline.publishing import mark_started
from muniment.processing.runs.repository import ClaimedRun, DocumentRecord, RunRepository
from muniment.search.external_index.intent_sweep import IntentSweep
from muniment.search.query.service import SearchService
from muniment.settings import Settings
from muniment.storage.db.principal import Service
from muniment.storage.deletions.sweep import LedgerSweep
from muniment.storage.vectors.pgvector.search import PgvectorSearch
from muniment.storage.vectors.qdrant.index import QdrantIndex
from tests.faults.moves.faults import Faults
from tests.faults.moves.recording import FaultyObjectStore, FaultyQdrant
from tests.faults.moves.snapshots import InstallationSnapshot
from tests.reconcile.harness import IndexedHarness, ReconcileHarness
from tests.support.effects import SimulatedCrash
from tests.support.external_index import with_vectors
from tests.support.seed import CHEAP_HASHER, Person, Seed

DUE = """
    UPDATE deletions SET next_attempt_at = now() WHERE done_at IS NULL;
    UPDATE index_intents SET next_attempt_at = now();
    UPDATE receipts SET next_attempt_at = now();
    UPDATE uploads SET expires_at = now()
"""
"""Makes every sweep due."""


@dataclass(frozen=True)
class LateWorker:
    """A worker's claim of a run, continued only after everything else is over."""

    run: ClaimedRun
    record: DocumentRecord


_APPS: list[FastAPI] = []


def the_app(parts: Services) -> FastAPI:
    """Return an application with the same routes for every process: only its services differ."""
    if not _APPS:
        _APPS.append(create_app(parts))
    _APPS[0].state.services = parts
    return _APPS[0]


@dataclass
class InProcessInstallation:
    settings: Settings
    stores: Stores
    """Only the compiled statements of the database survive a restart: compiling them is slow."""
    qdrant: FaultyQdrant | None
    reconcile_env: ReconcileHarness
    people: dict[str, Person]
    """By their role in the knowledge base."""
    worker: RunProcessor
    parts: Services = field(init=False)
    keeping: InstallationSnapshot = field(init=False)

    def __post_init__(self) -> None:
        self.keeping = InstallationSnapshot(self.seed, self.folder, self.qdrant)
        self._begin()

    @property
    def seed(self) -> Seed:
        return self.reconcile_env.seed

    @property
    def kb_id(self) -> UUID:
        return self.reconcile_env.kb_id

    @property
    def owner(self) -> Person:
        return self.people["owner"]

    @property
    def organization_id(self) -> UUID:
        return self.owner.organization_id

    @property
    def folder(self) -> Path:
        return self.settings.server.data_dir / "blobs"

    def _begin(self) -> None:
        """Create the parts of a new process."""
        index = QdrantIndex(self.qdrant) if self.qdrant else PgvectorSearch(self.stores.database)
        objects = FaultyObjectStore(self.folder, sync=lambda _: None)
        ledger = build_ledger(self.stores.database, objects, self.stores.handover)
        self.stores = replace(with_vectors(self.stores, index), objects=objects, ledger=ledger)
        worker_env = self.reconcile_env.worker_env
        assert isinstance(worker_env, IndexedHarness)
        self.reconcile_env.stores, worker_env.objects, worker_env.index = self.stores, objects, index
        self.reconcile_env._workers[worker_env.reading] = self.worker = replace_tools(self.worker, worker_env)
        embedder = worker_env.embedder
        searching = SearchService(self.stores.database, index, embedders={embedder.model: embedder})
        self.parts = replace(build_services(self.settings, self.stores, Passwords(CHEAP_HASHER)), search=searching)

    async def restart(self) -> None:
        """Close the connections of the old process and create a new one."""
        for engine in (self.stores.database.app_engine, self.stores.database.service_engine, self.stores.locks._engine):
            await engine.dispose()
        self._begin()

    @asynccontextmanager
    async def client(self, who: str = "owner") -> AsyncIterator[httpx.AsyncClient]:
        transport = httpx.ASGITransport(with_middleware(the_app(self.parts), self.settings), raise_app_exceptions=False)
        headers = self.people[who].headers
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1", headers=headers) as client:
            yield client

    @asynccontextmanager
    async def disturbed(self, faults: Faults) -> AsyncIterator[None]:
        """Count the effects of the application within the block and apply the faults."""
        stores, database = self.stores, self.stores.database
        assert isinstance(stores.objects, FaultyObjectStore)
        stores.objects.faults = faults
        if self.qdrant:
            self.qdrant.faults = faults
        try:
            with faults.watch(database.app_engine, database.service_engine, stores.locks._engine):
                yield
        finally:
            stores.objects.faults = Faults()
            if self.qdrant:
                self.qdrant.faults = Faults()

    async def claim(self, document_id: UUID) -> "LateWorker":
        """Claim the newest run of the document for a worker that then hangs."""
        run_id = self.reconcile_env.worker_env.job(document_id).run_id
        async with self.stores.database.service_work(Service(self.organization_id)) as work:
            claimed = await RunRepository(work.session).claim(run_id)
            assert claimed is not None
            await mark_started(work, claimed[0])
        return LateWorker(*claimed)

    async def sweep(self) -> None:
        """Run the worker's periodic jobs with everything due."""
        self.seed.execute(DUE)
        settings, stores = self.settings, self.stores
        await build_upload_sweep(settings, stores).run()
        await LedgerSweep(stores.database, stores.ledger).run()
        await IntentSweep(stores.database, stores.external_index).sweep()
        await ReceiptSweep(build_purge_prover(settings, stores)).run()
        audit = AuditMaintenance(stores.database, build_sealer(settings, stores), build_heads(settings, stores))
        await audit.seal()
        await audit.sign()

    async def is_chain_intact(self) -> bool:
        verification = build_verification(self.settings, self.stores)
        return (await verification.verify(self.organization_id)).is_intact

    async def found_by(self, who: str) -> set[UUID]:
        async with self.client(who) as client:
            answer = await client.get("/api/v1/search", params={"q": "contracts", "limit": 50})
        assert answer.status_code == 200, answer.text
        return {UUID(item["document_id"]) for item in answer.json()["items"]}


@asynccontextmanager
async def installed(settings: Settings, seed: Seed, engine: str) -> AsyncIterator[InProcessInstallation]:
    stores = build_stores(settings)
    qdrant = FaultyQdrant() if engine == "qdrant" else None
    worker_env = IndexedHarness(seed, stores.database, stores.objects, stores.locks)
    worker_env.index = stores.vectors
    installation = InProcessInstallation(
        settings,
        stores,
        qdrant,
        ReconcileHarness(settings, stores, worker_env),
        _people(seed, worker_env),
        worker_env.worker(),
    )
    yield installation
    await installation.parts.images.close()
    await installation.stores.close()


def _people(seed: Seed, worker_env: IndexedHarness) -> dict[str, Person]:
    people = {"owner": worker_env.owner, "admin": seed.person(worker_env.owner.organization_id, is_admin=True)}
    for role in ("editor", "viewer"):
        people[role] = seed.person(worker_env.owner.organization_id)
        seed.member(worker_env.kb_id, people[role], role)
    return {**people, "colleague": seed.person(worker_env.owner.organization_id)}


def replace_tools(worker: RunProcessor, worker_env: IndexedHarness) -> RunProcessor:
    """Return a new worker that reuses the graph: building it is slow, and it holds no state."""
    worker = copy(worker)
    worker._services = worker_env.services
    return worker


async def survives(call: Awaitable[httpx.Response]) -> httpx.Response | None:
    """Return the response, or None if the process crashed."""
    try:
        answer: httpx.Response = await call
    except SimulatedCrash:
        # Concurrent tasks crash at their own next effect.
        others = asyncio.all_tasks() - {asyncio.current_task()}
        await asyncio.gather(*others, return_exceptions=True)
        return None
    return answer
