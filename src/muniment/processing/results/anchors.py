"""Where an annotation of a paragraph belongs after the document was read again. Pure: rows in, places out."""

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


@dataclass(frozen=True)
class Note:
    """A paragraph's row with what people wrote, found by the hash of the text it was written about."""

    page_number: int
    paragraph_index: int
    sha256: str


@dataclass(frozen=True)
class Anchored:
    note: Note
    place: Place | None
    """`None`: the text is gone. The note is kept, and marked stale."""


def anchor(notes: Sequence[Note], places: Iterable[Place]) -> list[Anchored]:
    """Give each note the paragraph with its text: at its old place if it is still there, else the nearest one.

    No paragraph takes two notes. Notes at their old place choose first, so that none is pushed away by another.
    """
    free: dict[str, list[Place]] = {}
    for place in places:
        free.setdefault(place.sha256, []).append(place)
    by_distance = sorted(
        notes, key=lambda note: (_distance_to_nearest(note, free), note.page_number, note.paragraph_index)
    )
    return [Anchored(note, _take_nearest(note, free)) for note in by_distance]


def _take_nearest(note: Note, free: dict[str, list[Place]]) -> Place | None:
    candidates = free.get(note.sha256, [])
    if not candidates:
        return None
    nearest = min(candidates, key=lambda place: _distance(note, place))
    candidates.remove(nearest)
    return nearest


def _distance_to_nearest(note: Note, free: dict[str, list[Place]]) -> tuple[int, int]:
    return min((_distance(note, place) for place in free.get(note.sha256, [])), default=(0, 0))


def _distance(note: Note, place: Place) -> tuple[int, int]:
    return abs(place.page_number - note.page_number), abs(place.paragraph_index - note.paragraph_index)
