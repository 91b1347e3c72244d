"""Check what a response promises at the moment it is sent."""

from dataclasses import dataclass
from uuid import UUID

import httpx

from tests.faults.moves.faults import Fault, Faults, Part
from tests.faults.moves.inspection import left_of
from tests.faults.moves.installation import InProcessInstallation
from tests.faults.moves.moves import MAY_STOP_HALFWAY, PROVES, Prepared
from tests.faults.moves.snapshots import points_of

TOLD = {"completed": "completed", "archived": "archived"}
"""Status in the index by status of the document."""


@dataclass(frozen=True)
class Answers:
    installation: InProcessInstallation
    move: str
    prepared: Prepared

    def check(self, answer: httpx.Response, steps: list[int], faults: Faults) -> None:
        """Check that the response is true: 2xx is done, 5xx has changed nothing."""
        told = f"{answer.status_code} {answer.text} at {steps}"
        if self.move == "bulk purge" and answer.status_code == 200:
            self._check_each(answer, steps)
        elif answer.status_code >= 500:
            self._check_refused(steps, faults, told)
        elif self.move in MAY_STOP_HALFWAY and answer.status_code == 202:
            return
        else:
            assert answer.status_code in (200, 201, 202), told
            assert steps == [len(way) - 1 for way in self.prepared.ways], told
            assert answer.status_code != 202 or answer.json()["pending"], told
            self._check_index()
            if self.move in PROVES and answer.status_code == 200:
                self.check_gone()

    def _check_refused(self, steps: list[int], faults: Faults, told: str) -> None:
        # The outcome of a commit without an answer is unknown.
        is_unknown = faults.struck == (Part.COMMIT, Fault.GETS_NO_ANSWER)
        assert not any(steps) or is_unknown or self.move in MAY_STOP_HALFWAY, told
        # Once the request is accepted, each document is purged separately.
        assert self.move != "bulk purge" or not faults.has_committed, told

    def _check_each(self, answer: httpx.Response, steps: list[int]) -> None:
        body, [*ours, _] = answer.json(), zip(self.prepared.ways, steps, strict=True)
        pending, failed = ({UUID(one) for one in body[kind]} for kind in ("pending_ids", "failed_ids"))
        unchanged = {self.prepared.documents[name] for way, step in ours if step == 0 for name in way[0]}
        assert unchanged <= failed, body
        assert not unchanged & pending, body
        assert len(failed) <= 1, body  # one fault stops only one document
        assert (body["purged"], body["skipped_ids"]) == (len(ours) - len(pending) - len(failed), []), body
        if not pending | failed:
            self.check_gone()

    def _check_index(self) -> None:
        """Check that the external index agrees with the rows."""
        if self.installation.qdrant is None:
            return
        rows = self.installation.seed.rows("SELECT id::text, status FROM documents")
        expected = {document_id: TOLD[status] for document_id, status in rows if status in TOLD}
        for point in points_of(self.installation.qdrant):
            assert point.status == expected.get(point.document_id, point.status), point

    def check_gone(self) -> None:
        """Check that no store holds anything of a purged document, under known or unknown names (docs/design.md#i3)."""
        rows = {row[0] for row in self.installation.seed.rows("SELECT id FROM documents")}
        gone = [one for one in self.prepared.documents.values() if one not in rows]
        left = left_of(self.installation, gone)
        assert not left, left
