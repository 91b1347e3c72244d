"""What must hold wherever a move was interrupted: immediately, after recovery, and when the request is repeated."""

from contextlib import suppress
from dataclasses import dataclass

import httpx

from muniment.processing.pipeline.context import RunContext
from muniment.processing.runs.repository import RunSuperseded
from muniment.storage.tasks.port import UnlimitedTurn
from tests.faults.moves.answers import Answers
from tests.faults.moves.faults import Faults
from tests.faults.moves.inspection import said_to_be_erased, seen, step_of
from tests.faults.moves.installation import InProcessInstallation, LateWorker
from tests.faults.moves.moves import Prepared

COMPLETED = "SELECT id FROM documents WHERE status = 'completed' AND knowledge_base_id = ANY(%s)"
UNSIGNED = "SELECT count(*) FROM receipts WHERE signed_at IS NULL"
PENDING = "SELECT id FROM documents WHERE status = 'pending'"


@dataclass
class Promises:
    installation: InProcessInstallation
    move: str
    prepared: Prepared

    @property
    def first(self) -> list[int]:
        return [0 for _ in self.prepared.ways]

    @property
    def last(self) -> list[int]:
        return [len(way) - 1 for way in self.prepared.ways]

    @property
    def answers(self) -> Answers:
        return Answers(self.installation, self.move, self.prepared)

    def steps(self) -> list[int]:
        """Return the step of each part of the move, after checking that it is an allowed one with its audit events."""
        found = seen(self.installation, self.prepared)
        steps = [step_of(found, way) for way in self.prepared.ways]
        assert None not in steps, found
        assert not said_to_be_erased(self.installation)
        return [step for step in steps if step is not None]

    def check_answer(self, answer: httpx.Response | None, steps: list[int], faults: Faults) -> None:
        if answer is not None:
            self.answers.check(answer, steps, faults)

    async def check_recovery(self, steps: list[int]) -> None:
        """Check that everything recovers automatically, and that recovery moves no document."""
        installation = self.installation
        installation.seed.execute("DELETE FROM request_times")
        await self.check_found("owner", "viewer", exactly=False)
        await installation.restart()
        await self._recover()
        assert self.steps() == steps
        assert installation.seed.one(UNSIGNED) == 0
        self.answers.check_gone()
        await self.check_found(*installation.people)
        await self._check_late_workers(steps)
        await self._get_through(steps)

    async def _recover(self) -> None:
        """Run sweeps and repairs: no drift remains (docs/design.md#i10) and the audit log is intact
        (docs/design.md#i7)."""
        await self.installation.sweep()
        await self.installation.reconcile_env.reconcile(repair=True)
        assert await self.installation.reconcile_env.drift() == {}
        assert await self.installation.is_chain_intact()

    async def check_found(self, *people: str, exactly: bool = True) -> None:
        """Check that users find only completed documents they may see (docs/design.md#i2); all of them if `exactly`."""
        seed, kb_id = self.installation.seed, self.installation.kb_id
        every_kb = [row[0] for row in seed.rows("SELECT id FROM knowledge_bases")]
        for who in people:
            kb_ids = {"colleague": [], "editor": [kb_id], "viewer": [kb_id]}.get(who, every_kb)
            expected = {row[0] for row in seed.rows(COMPLETED, kb_ids)}
            found = await self.installation.found_by(who)
            assert found == expected if exactly else found <= expected, (who, found, expected)

    async def _check_late_workers(self, steps: list[int]) -> None:
        """Check that a worker that began before the move can write nothing in any store (docs/design.md#i4)."""
        keeping, worker = self.installation.keeping, self.installation.worker
        for late in self.prepared.late:
            if not self._has_moved(late, steps):
                continue
            run, before = late.run, keeping.whole()
            with suppress(RunSuperseded):
                await worker._run_graph(run, late.record, UnlimitedTurn())
            with suppress(RunSuperseded):  # and a worker that is further along
                async with RunContext(worker._services, run, late.record).transaction("SavePages"):
                    pass
            assert keeping.whole() == before
            epoch = self.installation.seed.rows("SELECT epoch FROM documents WHERE id = %s", run.document_id)
            assert not epoch or epoch[0][0] > run.epoch

    def _has_moved(self, late: LateWorker, steps: list[int]) -> bool:
        [name] = [name for name, one in self.prepared.documents.items() if one == late.run.document_id]
        return any(step for way, step in zip(self.prepared.ways, steps, strict=True) if name in way[0])

    async def _get_through(self, steps: list[int]) -> None:
        """Repeat the requests: they succeed, and documents are processed once and found (docs/design.md#i1, #i5)."""
        if steps != self.last:
            async with self.installation.client() as client:
                answer = await self.prepared.request(client)
            assert answer.status_code in (200, 201), answer.text
            assert self.steps() == self.last
            self.check_answer(answer, self.last, Faults())
        has_read = await self._read_what_waits()
        await self._check_downloads()
        if has_read or steps != self.last:
            await self.installation.sweep()
            assert await self.installation.reconcile_env.drift() == {}
            await self.check_found("owner")

    async def _read_what_waits(self) -> bool:
        seed, reader = self.installation.seed, self.installation.reconcile_env.worker_env.reader
        reader.opened = 0
        waiting = [row[0] for row in seed.rows(PENDING)]
        for document_id in waiting:
            await self.installation.reconcile_env.process(document_id)
        assert seed.rows(PENDING) == []
        assert reader.opened <= len(waiting)
        return bool(waiting)

    async def _check_downloads(self) -> None:
        last = {name: one.content for way in self.prepared.ways for name, one in way[-1].items()}
        names = {document_id: name for name, document_id in self.prepared.documents.items()}
        async with self.installation.client() as client:
            for document_id, kb_id in self.installation.seed.rows("SELECT id, knowledge_base_id FROM documents"):
                answer = await client.get(f"/api/v1/knowledge-bases/{kb_id}/documents/{document_id}/download")
                assert answer.content == last[names.get(document_id, "new")], answer.text
