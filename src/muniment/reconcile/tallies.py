"""One document's passages in the index, counted against what its row says. No I/O."""

from dataclasses import dataclass, field

from muniment.documents.tables import Status
from muniment.reconcile.drift import Kind
from muniment.reconcile.said import DocumentIndexState
from muniment.storage.vectors.port import Held


@dataclass
class Tally:
    said: DocumentIndexState
    found: int = 0
    """Of those that count."""
    wrong_status: int = 0
    stale_epochs: set[int] = field(default_factory=set)

    def add(self, held: Held) -> None:
        said = self.said
        if held.epoch in said.kept_epochs:
            return
        if held.epoch != said.index_epoch or (said.is_shown and not self._is_expected(held)):
            self.stale_epochs.add(held.epoch)
            return
        self.found += 1
        # Of a document that is neither, nobody asks the index: it says whatever was said last.
        if said.is_shown and held.is_visible != (said.status == Status.COMPLETED):
            self.wrong_status += 1

    def _is_expected(self, held: Held) -> bool:
        return held.fingerprint is not None and held.chunk_index < self.said.expected.get(held.fingerprint, 0)

    @property
    def is_missing(self) -> bool:
        return self.said.is_shown and self.found < sum(self.said.expected.values())

    @property
    def kinds(self) -> set[Kind]:
        """What is wrong with it; nothing, where somebody is at it."""
        if not self.said.is_settled:
            return set()
        wrong = {Kind.STALE: self.stale_epochs, Kind.WRONG_STATUS: self.wrong_status, Kind.MISSING: self.is_missing}
        return {kind for kind, is_so in wrong.items() if is_so}
