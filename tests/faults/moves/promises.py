"""What must hold wherever a move was cut off: at once, after all has recovered, and when it is asked for again."""

import json
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from uuid import UUID

import httpx

from muniment.processing.process import Processing
from muniment.processing.runs import Superseded
from tests.faults.moves.faults import Fault, Faults, Part
from tests.faults.moves.installation import Installation
from tests.faults.moves.looks import left_of, seen, step_of
from tests.faults.moves.moves import MAY_STOP_HALFWAY, PROVES, Prepared, Seen

COMPLETED = "SELECT id FROM documents WHERE status = 'completed' AND knowledge_base_id = ANY(%s)"
UNSIGNED = "SELECT count(*) FROM receipts WHERE signed_at IS NULL"
PENDING = "SELECT id FROM documents WHERE status = 'pending'"


@dataclass
class Promises:
    installation: Installation
    move: str
    prepared: Prepared

    def steps(self) -> list[int]:
        """Of each way; every one of them is at a step that is allowed, with the lines of the audit trail up to it."""
        found = seen(self.installation, self.prepared)
        steps = [step_of(found, way) for way in self.prepared.ways]
        assert None not in steps, found
        return [step for step in steps if step is not None]

    @property
    def first(self) -> list[int]:
        return [0 for _ in self.prepared.ways]

    @property
    def last(self) -> list[int]:
        return [len(way) - 1 for way in self.prepared.ways]

    def check_answer(self, answer: httpx.Response | None, steps: list[int], faults: Faults) -> None:
        """No answer is a lie: 2xx is done, 5xx has changed nothing."""
        if answer is None:
            return
        told = f"{answer.status_code} {answer.text} at {steps}"
        if answer.status_code >= 500:
            # Of a commit that nobody answered, nobody can know.
            is_unknown = faults.struck == (Part.COMMIT, "commit") and faults._fault is Fault.GETS_NO_ANSWER
            assert steps == self.first or is_unknown or self.move in MAY_STOP_HALFWAY, told
        elif self.move == "bulk purge":
            self._check_each(answer, steps)
        elif answer.status_code == 202:
            assert json.loads(answer.text).get("receipt_id") is None, told
            assert steps == self.last or self.move in MAY_STOP_HALFWAY, told
        else:
            assert answer.status_code in (200, 201), told
            assert steps == self.last, told
            if self.move in PROVES:
                self.check_gone()

    def _check_each(self, answer: httpx.Response, steps: list[int]) -> None:
        body = answer.json()
        assert answer.status_code == 200, answer.text
        assert not body["skipped_ids"], body
        names = [name for way in self.prepared.ways for name in way[0]]
        by_step = {UUID(int=0): -1} | {
            self.prepared.documents[name]: step for name, step in zip(names, steps, strict=True) if name != "bystander"
        }
        pending, failed = ({UUID(one) for one in body[kind]} for kind in ("pending_ids", "failed_ids"))
        assert body["purged"] == len(by_step) - 1 - len(pending) - len(failed), body
        assert {one for one, step in by_step.items() if step == 0} <= failed, body
        for one, step in by_step.items():
            if one in pending or (step >= 0 and one not in failed):
                assert step == 1, body
        if not pending and not failed:
            self.check_gone()

    def check_gone(self) -> None:
        """Nothing is left anywhere of what is gone: by names that we know, and by names that nobody has (I3)."""
        rows = {row[0] for row in self.installation.seed.rows("SELECT id FROM documents")}
        gone = [one for one in self.prepared.documents.values() if one not in rows]
        left = left_of(self.installation, gone)
        assert not left, left

    async def check_found(self, *people: str, exactly: bool = True) -> None:
        """By each of them, only what is completed and theirs to see (I2); and, once all has recovered, all of it."""
        seed, kb_id = self.installation.seed, self.installation.kb_id
        every_kb = [row[0] for row in seed.rows("SELECT id FROM knowledge_bases")]
        for who in people:
            kb_ids = {"stranger": [], "editor": [kb_id], "viewer": [kb_id]}.get(who, every_kb)
            expected = {row[0] for row in seed.rows(COMPLETED, kb_ids)}
            found = await self.installation.found_by(who, "hybrid")
            assert found == expected if exactly else found <= expected, (who, found, expected)

    async def check_recovery(self, steps: list[int]) -> None:
        """Everything recovers by itself, and nothing moves by that."""
        installation = self.installation
        installation.seed.execute("DELETE FROM request_times")
        await self.check_found("owner", "viewer", exactly=False)
        await installation.restart()
        await self._recover()
        assert self.steps() == steps
        assert installation.seed.one(UNSIGNED) == 0
        self.check_gone()
        await self.check_found(*installation.people)
        await self._check_late_workers(steps)
        await self._get_through(steps)

    async def _recover(self) -> None:
        """I10 and I7."""
        await self.installation.sweep()
        await self.installation.floor.reconcile(repair=True)
        assert await self.installation.floor.drift() == {}
        assert await self.installation.is_chain_intact()

    async def _check_late_workers(self, steps: list[int]) -> None:
        """A worker that had begun before the move goes on now, and can write nothing, in any store (I4)."""
        if steps == self.first:
            return
        keeping, worker = self.installation.keeping, Processing(self.installation.floor.desk.tools)
        for late in self.prepared.late:
            run, before = late.run, keeping.whole()
            with suppress(Superseded):
                await worker._carry_out(run, late.record)
            assert keeping.whole() == before
            epoch = self.installation.seed.rows("SELECT epoch FROM documents WHERE id = %s", run.document_id)
            assert not epoch or epoch[0][0] > run.epoch

    async def _get_through(self, steps: list[int]) -> None:
        """Who asks again gets what they wanted; what is to be read is read, once, and found (I1, I5)."""
        if steps != self.last:
            async with self.installation.client() as client:
                answer = await self.prepared.request(client)
            assert answer.status_code in (200, 201), answer.text
            assert self.steps() == self.last
            self.check_answer(answer, self.last, Faults())
        await self._read_what_waits()
        await self._check_downloads()
        await self.installation.sweep()
        assert await self.installation.floor.drift() == {}
        await self.check_found("owner")

    async def _read_what_waits(self) -> None:
        seed, reader = self.installation.seed, self.installation.floor.desk.reader
        reader.opened = 0
        waiting = [row[0] for row in seed.rows(PENDING)]
        for document_id in waiting:
            await self.installation.floor.process(document_id)
        assert seed.rows(PENDING) == []
        assert reader.opened <= len(waiting)

    async def _check_downloads(self) -> None:
        seed, expected = self.installation.seed, self._contents()
        async with self.installation.client() as client:
            for document_id, kb_id, sha256 in seed.rows("SELECT id, knowledge_base_id, sha256 FROM documents"):
                answer = await client.get(f"/api/v1/knowledge-bases/{kb_id}/documents/{document_id}/download")
                assert answer.status_code == 200, answer.text
                assert answer.content in expected, sha256

    def _contents(self) -> set[bytes]:
        last: Mapping[str, Seen] = {name: one for way in self.prepared.ways for name, one in way[-1].items()}
        return {one.content for one in last.values() if one.content is not None}
