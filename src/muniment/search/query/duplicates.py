"""Recognize passages of one document that say the same, so that each is shown once. Pure.

Two passages are near-identical if their texts share nine tenths of their word triples, like a clause on many pages, or
if they overlap and their snippets begin with the same sentence.
"""

from typing import Protocol
from uuid import UUID

from muniment.search.query.snippets import ELLIPSIS, WORD

SHINGLE_WORDS = 3
MIN_SIMILARITY = 0.9

Shingles = frozenset[tuple[str, ...]]


class ShownPassage(Protocol):
    """What decides whether two passages are the same to a reader."""

    @property
    def document_id(self) -> UUID: ...

    @property
    def page_number(self) -> int: ...

    @property
    def chunk_index(self) -> int: ...

    @property
    def text(self) -> str: ...


def shingles(text: str) -> Shingles:
    """Return all runs of three words; a shorter text is one run."""
    words = [match.group().lower() for match in WORD.finditer(text)]
    count = max(1, len(words) - SHINGLE_WORDS + 1)
    return frozenset(tuple(words[start : start + SHINGLE_WORDS]) for start in range(count))


def resemblance(first: Shingles, second: Shingles) -> float:
    """Return the share of all runs that both texts have."""
    return len(first & second) / len(first | second)


def containment(first: Shingles, second: Shingles) -> float:
    """Return the share of the shorter text's runs that the longer one has."""
    return len(first & second) / min(len(first), len(second))


def is_repeated(first: ShownPassage, first_snippet: str, second: ShownPassage, second_snippet: str) -> bool:
    """Return whether two passages are near-identical passages of one document."""
    if first.document_id != second.document_id:
        return False
    if resemblance(shingles(first.text), shingles(second.text)) >= MIN_SIMILARITY:
        return True
    # Consecutive chunks repeat two sentences. If those match best, both snippets show them.
    is_overlapping = first.page_number == second.page_number and abs(first.chunk_index - second.chunk_index) == 1
    pair = [shingles(snippet.strip(ELLIPSIS)) for snippet in (first_snippet, second_snippet)]
    return is_overlapping and containment(*pair) >= MIN_SIMILARITY
