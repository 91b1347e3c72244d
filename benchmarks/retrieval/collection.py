"""Test collections: texts, and questions with the texts that answer them.

The packages of Debian with two of them are unpacked by `tools/setup bench`, not installed: installing would leave out
documentation where the system excludes it, as container images do. Nothing is shipped.
"""

import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

_ROOTS = (Path(sys.prefix) / "collections", Path("/"))
"""Where the files of a package are: unpacked by `tools/setup bench`, or installed."""
_SIGNS = re.compile(r'"|(?<!\S)-+')


@dataclass(frozen=True)
class Question:
    text: str
    relevant: frozenset[int]
    """Positions of the texts that answer it."""


@dataclass(frozen=True)
class Collection:
    name: str
    texts: Sequence[str]
    """One for each document."""
    questions: Sequence[Question]


@dataclass(frozen=True)
class Section:
    """A section; `text` does not include the title."""

    title: str
    text: str


def collection_of_sections(name: str, asked: Sequence[Section], others: Sequence[Section]) -> Collection:
    """Return a collection in which each title that is a question is answered by the text below it."""
    questions = [Question(as_query(section.title), frozenset({n})) for n, section in enumerate(asked)]
    return Collection(name, [section.text for section in (*asked, *others)], questions)


def as_query(text: str) -> str:
    """Return the text without the characters that exclude a word or form a phrase."""
    return " ".join(_SIGNS.sub(" ", text).split())


def find_installed(pattern: str) -> Iterator[Path]:
    """Yield the files or folders of Debian packages that match a pattern, without those of a second place."""
    for root in _ROOTS:
        if found := sorted(root.glob(pattern)):
            yield from found
            return
