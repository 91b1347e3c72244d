"""Where an annotation of a paragraph belongs after the document was read again. Pure: rows in, places out."""

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from uuid import UUID


@dataclass(frozen=True)
class Place:
    """A paragraph that is there now."""

    page_number: int
    paragraph_index: int
    sha256: str
    artifact_id: UUID

    @property
    def at(self) -> tuple[int, int]:
        return self.page_number, self.paragraph_index


@dataclass(frozen=True)
class Note:
    """A paragraph's row with what people wrote, found by the hash of the text it was written about."""

    page_number: int
    paragraph_index: int
    sha256: str

    @property
    def at(self) -> tuple[int, int]:
        return self.page_number, self.paragraph_index


@dataclass(frozen=True)
class Anchored:
    note: Note
    place: Place | None
    """`None`: the text is gone. The note is kept, and marked stale."""


class _Free:
    """Places of one text that no note has taken, in reading order."""

    def __init__(self, places: Iterable[Place]) -> None:
        self._places = sorted(places, key=lambda place: place.at)
        self._at = [place.at for place in self._places]

    def take(self, note: Note, *, only_there: bool) -> Place | None:
        """The nearest one, or only the one where the note was."""
        index = self._nearest(note)
        if index is None or (only_there and self._at[index] != note.at):
            return None
        del self._at[index]
        return self._places.pop(index)

    def _nearest(self, note: Note) -> int | None:
        behind = bisect_left(self._at, note.at)
        beside = [index for index in (behind - 1, behind) if 0 <= index < len(self._at)]
        return min(beside, key=lambda index: _distance(note, self._at[index]), default=None)


def anchor(notes: Sequence[Note], places: Iterable[Place]) -> list[Anchored]:
    """Give each note the paragraph with its text: at its old place if it is still there, else the nearest one.

    No paragraph takes two notes. Notes at their old place choose first, so that none is pushed away by another.
    """
    by_text: dict[str, list[Place]] = {}
    for place in places:
        by_text.setdefault(place.sha256, []).append(place)
    free = {sha256: _Free(of_text) for sha256, of_text in by_text.items()}
    found: dict[Note, Place | None] = dict.fromkeys(notes)
    for only_there in (True, False):
        for note in sorted(notes, key=lambda note: note.at):
            if found[note] is None and note.sha256 in free:
                found[note] = free[note.sha256].take(note, only_there=only_there)
    return [Anchored(note, place) for note, place in found.items()]


def _distance(note: Note, at: tuple[int, int]) -> tuple[int, int]:
    return abs(at[0] - note.page_number), abs(at[1] - note.paragraph_index)
