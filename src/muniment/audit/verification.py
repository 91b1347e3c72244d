"""Verify a chain: against its own hashes, its signed heads, and the heads stored outside the database."""

from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass
from uuid import UUID

from sqlalchemy import exists, func, select
from sqlalchemy.ext.asyncio import AsyncSession

from muniment.audit.chain_check import ChainCheck, ChainLink, Problem, SealedEvent, StartPosition
from muniment.audit.hashing import INSTALLATION_CHAIN, chain_of, to_rfc3339
from muniment.audit.heads import Head, HeadRepository, StoredHeads, UnreadableHead, list_stored_chains
from muniment.audit.keys import KeyRepository, KeyRing
from muniment.audit.sealing import BATCH, SealRepository, envelope_of
from muniment.audit.signing import Signer
from muniment.audit.tables import AuditEvent, AuditSeal, AuditUnsealed
from muniment.storage.db.principal import Service
from muniment.storage.db.work import Database, list_organizations
from muniment.storage.objects.port import ObjectStore

KeepGoing = Callable[[], bool]
"""Return whether there is time for another batch."""
Progress = Callable[[int, int], None]
"""Callback with the number of checked links and their total."""


@dataclass(frozen=True)
class Verdict:
    chain: UUID
    events: int
    last_seq: int
    signed_seq: int
    """Number of the last link covered by a signed head; later links are signed within a minute."""
    unsealed: int
    """Number of events without a seal, if every link was checked."""
    problem_count: int
    problems: Sequence[Problem]
    """The first problems."""
    is_complete: bool = True
    """Whether every link was checked; a verification with a time limit may end before."""

    @property
    def is_intact(self) -> bool:
        return self.problem_count == 0


class VerificationRepository:
    """Queries of a verification within the session's organization, or the installation."""

    def __init__(self, session: AsyncSession) -> None:
        self._session = session

    async def list_sealed(
        self, chain: UUID, *, after: int, until: int
    ) -> Sequence[tuple[AuditSeal, AuditEvent | None]]:
        """Return the next seals, each with its event if it exists."""
        query = select(AuditSeal, AuditEvent).outerjoin(AuditEvent, AuditEvent.id == AuditSeal.event_id)
        query = query.where(AuditSeal.chain == chain, AuditSeal.seq > after, AuditSeal.seq <= until)
        rows = await self._session.execute(query.order_by(AuditSeal.seq).limit(BATCH))
        return [(seal, event) for seal, event in rows]

    async def count_unsealed(self) -> tuple[int, int]:
        """Return the number of events without a seal, and how many of them are not even queued for one."""
        sealed = exists().where(AuditSeal.event_id == AuditEvent.id)
        waiting = exists().where(AuditUnsealed.event_id == AuditEvent.id)
        counts = select(func.count(), func.count().filter(~waiting)).select_from(AuditEvent).where(~sealed)
        row = (await self._session.execute(counts)).one()
        return row[0], row[1]


class Verification:
    def __init__(self, database: Database, objects: ObjectStore, signer: Signer) -> None:
        self._database = database
        self._objects = objects
        self._signer = signer

    async def list_chains(self) -> Sequence[UUID | None]:
        """Return all chains: the installation's (`None`), the organizations', and any known only by stored heads."""
        return [chain async for chain in self.iter_chains()]

    async def iter_chains(self, *, keep_going: KeepGoing = lambda: True) -> AsyncIterator[UUID | None]:
        """Yield all chains. As long as `keep_going` returns True, stored heads are searched for unknown ones."""
        known = [INSTALLATION_CHAIN, *await list_organizations(self._database)]
        for chain in known:
            yield None if chain == INSTALLATION_CHAIN else chain
        async for chain in list_stored_chains(self._objects):
            if not keep_going():
                return
            if chain not in known:
                yield chain

    async def verify(
        self,
        organization_id: UUID | None,
        progress: Progress = lambda done, total: None,
        *,
        keep_going: KeepGoing = lambda: True,
    ) -> Verdict:
        """Verify the whole chain in batches; no transaction lasts longer than one batch.

        If `keep_going` returns False, the remaining links are left out, but the newest head is checked all the same.
        """
        walk = _ChainWalk(self._database, StoredHeads(self._objects, chain_of(organization_id)), organization_id)
        return await walk.verify(self._signer.current().public_key, progress, keep_going)


class _ChainWalk:
    def __init__(self, database: Database, stored_heads: StoredHeads, organization_id: UUID | None) -> None:
        self._database = database
        self._stored_heads = stored_heads
        self._service, self._chain = Service(organization_id), chain_of(organization_id)
        self._last_head = 0

    async def verify(self, trusted: bytes, progress: Progress, keep_going: KeepGoing) -> Verdict:
        self._chain_check = check = await self._start(trusted)
        while check.seq < self._until and keep_going() and await self._check_batch():
            progress(check.seq, self._until)
        is_complete = keep_going() or check.seq >= self._until
        await self._check_newest_head()
        await self._check_stored_head()
        unsealed = await self._check_unsealed() if is_complete else 0  # it reads every event
        return Verdict(
            chain=self._chain,
            events=check.events,
            last_seq=check.seq,
            signed_seq=check.signed_seq,
            unsealed=unsealed,
            problem_count=check.problem_count,
            problems=check.problems,
            is_complete=is_complete,
        )

    async def _start(self, trusted: bytes) -> ChainCheck:
        async with self._database.service_work(self._service) as work:
            known = await KeyRepository(work.session).list_()
            self._until, _ = await SealRepository(work.session).find_last(self._chain) or (0, b"")
        ring = KeyRing(known, trusted)
        check = ChainCheck(self._chain, ring, StartPosition.of(self._chain))
        if self._chain == INSTALLATION_CHAIN:
            for key_id in ring.untrusted(known):
                check.add_problem(None, f"The signing key {key_id} was added or changed without authorization")
        return check

    async def _check_batch(self) -> bool:
        """Check the next batch. Return False if there is none."""
        after = self._chain_check.seq
        async with self._database.service_work(self._service) as work:
            rows = await VerificationRepository(work.session).list_sealed(self._chain, after=after, until=self._until)
            until = rows[-1][0].seq if rows else after
            heads = await HeadRepository(work.session).list_(self._chain, after=after, until=until)
        signed = {head.seq: head for head in heads}
        for seal, event in rows:
            self._check_seal(seal, event)
            if head := signed.pop(seal.seq, None):
                await self._check_head(head, seal.hash)
        for head in signed.values():
            await self._check_head(head, None)
        return bool(rows)

    def _check_seal(self, seal: AuditSeal, event: AuditEvent | None) -> None:
        link = ChainLink(seal.seq, seal.event_hash, seal.hash)
        if event is None:
            self._chain_check.check_missing_event(link)
            return
        sealed = SealedEvent(
            envelope_of(event), event.payload, seal.salt, to_rfc3339(seal.sealed_at), seal.payload_hash
        )
        self._chain_check.check_event(link, sealed)

    async def _check_head(self, head: Head, found: bytes | None) -> None:
        self._chain_check.check_head(head, found)
        # The head after a removed one names it. Heads that two processes sign at the same time may name the same one.
        if head.previous_seq > self._last_head:
            between = f"between seq {self._last_head} and {head.seq}"
            self._chain_check.add_problem(head.seq, f"A signed head {between} was removed")
        self._last_head = head.seq
        if not await self._stored_heads.has(head.seq):
            self._chain_check.add_problem(
                head.seq, f"The signed head of seq {head.seq} is missing outside the database"
            )

    async def _check_newest_head(self) -> None:
        """Check the newest head, whose link may be missing."""
        async with self._database.service_work(self._service) as work:
            newest = await HeadRepository(work.session).find_newest(self._chain)
            # In this order, so that the link of a head signed during the walk exists.
            found = await SealRepository(work.session).find_hash(self._chain, newest.seq) if newest else None
        if newest and newest.seq > self._chain_check.seq:
            self._chain_check.check_head(newest, found)
            self._stored_heads.skip_to(newest.seq)  # there may be one for every minute of some years

    async def _check_stored_head(self) -> None:
        try:
            newest = await self._stored_heads.newest()
        except UnreadableHead as key:
            self._chain_check.add_problem(None, f"The object {key} outside the database is not a signed head")
            return
        if newest:
            async with self._database.service_work(self._service) as work:
                found = await SealRepository(work.session).find_hash(self._chain, newest.seq)
            self._chain_check.check_head(newest, found)

    async def _check_unsealed(self) -> int:
        async with self._database.service_work(self._service) as work:
            unsealed, unqueued = await VerificationRepository(work.session).count_unsealed()
        if unqueued:
            self._chain_check.add_problem(None, f"{unqueued} events are not sealed and not waiting to be sealed")
        return unsealed
