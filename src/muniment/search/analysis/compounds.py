"""Find the parts of compounds, so that `Kündigungsfrist` is found by `Frist` and by `Kündigung`.

A split needs evidence on both sides of the seam. The last part must be a word of the vocabulary in `data/compounds`,
which holds the words that compounds of letters, contracts and accounts end with; the rest must be made of words of the
vocabulary or be a derived noun (`…ung`, `…heit`, `…sjon`). A derived noun with its linking `s` (`Kündigungs-`) also
proves a seam, whatever follows. A word whose parts are not known stays whole.
"""

import re
from collections.abc import Callable
from functools import cache
from importlib.resources import files

_MIN_WORD = 6
_MIN_PART = 3
_MAX_WORD = 50
_MAX_PARTS = 4
_LINKS = {
    "german": ("", "s", "es", "n", "en", "er", "e"),
    "dutch": ("", "s", "en", "e", "n"),
    "norwegian": ("", "s", "e"),
    "danish": ("", "s", "e"),
    "swedish": ("", "s", "e", "o", "u"),
}
_DERIVED = {
    "german": "ung|heit|keit|schaft|ion|tat|ling|tum",
    "dutch": "ing|heid|schap|iteit|tie",
    "norwegian": "else|het|sjon|ing|skap|dom|tet",
    "danish": "else|hed|tion|ing|skab|dom|tet",
    "swedish": "else|het|tion|ning|ing|skap|dom|tet",
}
"""Endings of derived nouns, which take a linking `s`."""


class CompoundSplitter:
    """Finds the parts of the compounds of one language."""

    def __init__(self, language: str, words: frozenset[str], stem: Callable[[str], str]) -> None:
        self._stem = stem
        self._links = _LINKS[language]
        self._words = {stem(word) for word in words} | words
        self._lengths = sorted({len(word) for word in self._words if len(word) >= _MIN_PART}, reverse=True)
        self._seam = re.compile(rf"(.{{2,}}?(?:{_DERIVED[language]}))s(.{{{_MIN_PART},}})")
        self._derived = re.compile(rf".{{2,}}(?:{_DERIVED[language]})")

    def parts(self, stem: str) -> tuple[str, ...]:
        """Return the terms of the parts of a word, given its stem. A word that is no compound has none."""
        if not _MIN_WORD <= len(stem) <= _MAX_WORD or not stem.isalpha():
            return ()
        parts = self._split(stem) or self._split_at_seam(stem)
        terms = dict.fromkeys(self._stem(part) for part in parts)
        terms.pop(stem, None)
        return tuple(terms)[:_MAX_PARTS]

    def _split(self, word: str) -> list[str]:
        """Return the words that the word is made of, from the last one, with every known group of words."""
        for length in self._lengths:
            head = len(word) - length
            if head >= _MIN_PART and word[head:] in self._words:
                rest = self._modifier(word[:head])
                if rest:
                    return [word[head:], *rest]
        return []

    def _modifier(self, rest: str) -> list[str]:
        for link in self._links:
            base = rest.removesuffix(link)
            if len(base) < _MIN_PART or (link and base == rest):
                continue
            inner = self._split(base)
            if inner or base in self._words:
                return [base, *inner]
            if self._derived.fullmatch(base) and (link == "s" or len(base) >= _MIN_WORD):
                return [base]
        return []

    def _split_at_seam(self, word: str) -> list[str]:
        match = self._seam.fullmatch(word)
        return [match[2], match[1]] if match else []


@cache
def _vocabulary(language: str) -> frozenset[str]:
    file = files(__package__).joinpath("data", "compounds", f"{language}.txt")
    return frozenset(file.read_text(encoding="utf-8").split()) if file.is_file() else frozenset()


def compound_splitter(language: str, stem: Callable[[str], str]) -> CompoundSplitter | None:
    """Return the splitter of a language, or None if it writes compounds as separate words."""
    if language not in _LINKS:
        return None
    return CompoundSplitter(language, _vocabulary(language), stem)
