"""Find the parts of compounds, so that `Kündigungsfrist` is found by `Frist` and by `Kündigung`.

A split needs evidence on both sides of the seam. The last part must be a word of the vocabulary in `data/compounds`,
which holds the words that compounds of letters, contracts and accounts are made of. The rest must be made of words of
the vocabulary, or be a derived noun (`…ung`, `…heit`, `…sjon`); a long last part proves the seam alone. A derived noun
with its linking `s` (`Kündigungs-`) also does, whatever follows. A word whose parts are not known stays whole.
"""

import re
from collections.abc import Callable
from functools import cache
from importlib.resources import files

from muniment.search.analysis.folding import fold

_MIN_PART = 3
_MIN_PART_ALONE = 6
"""Letters of a last part that is accepted after an unknown word, such as `Urkunde` in `Heiratsurkunde`."""
_MIN_UNKNOWN = 4
_MAX_WORD = 50
_MAX_PARTS = 5
_LINKS = {
    "german": ("", "s", "es", "n", "en", "er", "e"),
    "dutch": ("", "s", "en", "e", "n"),
    "norwegian": ("", "s", "e"),
    "danish": ("", "s", "e"),
    "swedish": ("", "s", "e", "o", "u"),
}
_INFLECTIONS = {
    "german": ("", "e", "en", "n", "er", "ern", "s", "es"),
    "dutch": ("", "en", "s", "n", "e"),
    "norwegian": ("", "e", "en", "et", "a", "er", "ene", "ens", "ets", "s", "n", "r", "ne", "t", "enes"),
    "danish": ("", "e", "en", "et", "er", "erne", "ens", "ets", "s", "n", "r", "ne", "t"),
    "swedish": ("", "en", "et", "n", "t", "ar", "er", "or", "arna", "erna", "orna", "na", "ens", "ets", "s"),
}
_DERIVED = {
    "german": "ung|heit|keit|schaft|ion|tat|ling|tum",
    "dutch": "ing|heid|schap|iteit|tie",
    "norwegian": "else|het|sjon|ing|skap|dom|tet",
    "danish": "else|hed|tion|ing|skab|dom|tet",
    "swedish": "else|het|tion|ning|ing|skap|dom|tet",
}
"""Endings of derived nouns, which take a linking `s`."""
_VOWEL = re.compile(r"[aeiouy]")


class CompoundSplitter:
    """Finds the parts of the compounds of one language."""

    def __init__(self, language: str, words: frozenset[str], stem: Callable[[str], str]) -> None:
        self._stem = stem
        self._links = _LINKS[language]
        self._terms = {fold(word): stem(word) for word in words if len(word) >= _MIN_PART}
        self._inflected: dict[str, str] = {}
        for ending in reversed(_INFLECTIONS[language]):  # a word itself comes before a form of another
            self._inflected |= {word + ending: word for word in self._terms}
        self._seam = re.compile(rf"(.{{2,}}?(?:{_DERIVED[language]}))s(.{{{_MIN_PART},}})")
        self._derived = re.compile(rf".{{2,}}(?:{_DERIVED[language]})")

    def parts(self, word: str) -> tuple[str, ...]:
        """Return the terms of the parts of a lower-case word. A word that is no compound has none."""
        word = fold(word)
        if not 2 * _MIN_PART <= len(word) <= _MAX_WORD or not word.isalpha():
            return ()
        terms = self._split(word, is_inflected=True) or self._split_at_seam(word) or self._split_off_last(word)
        return tuple(dict.fromkeys(terms))[:_MAX_PARTS]

    def _split(self, word: str, *, is_inflected: bool = False) -> list[str]:
        """Return the terms of the words that a word is made of, the last one first, with the known groups of words."""
        for seam in range(_MIN_PART, len(word) - _MIN_PART + 1):
            last = self._inflected.get(word[seam:]) if is_inflected else word[seam:]
            if last in self._terms and (rest := self._modifier(word[:seam])):
                return [self._terms[last], *self._split(last), *rest]
        return []

    def _modifier(self, rest: str) -> list[str]:
        for link in self._links:
            base = rest.removesuffix(link)
            if len(base) < _MIN_PART or (link and base == rest):
                continue
            inner = self._split(base)
            if inner or base in self._terms:
                return [self._terms.get(base) or self._stem(base), *inner]
            if self._derived.fullmatch(base) and (link == "s" or len(base) >= _MIN_PART_ALONE):
                return [self._stem(base)]
        return []

    def _split_at_seam(self, word: str) -> list[str]:
        match = self._seam.fullmatch(word)
        return [self._stem(match[2]), self._stem(match[1])] if match else []

    def _split_off_last(self, word: str) -> list[str]:
        for seam in range(_MIN_UNKNOWN, len(word) - _MIN_PART_ALONE + 1):
            last = self._inflected.get(word[seam:])
            if last and len(last) >= _MIN_PART_ALONE and _VOWEL.search(word[:seam]):
                return [self._terms[last], *self._split(last)]
        return []


@cache
def _vocabulary(language: str) -> frozenset[str]:
    file = files(__package__).joinpath("data", "compounds", f"{language}.txt")
    return frozenset(file.read_text(encoding="utf-8").split()) if file.is_file() else frozenset()


def compound_splitter(language: str, stem: Callable[[str], str]) -> CompoundSplitter | None:
    """Return the splitter of a language, or None if it writes compounds as separate words."""
    if language not in _LINKS:
        return None
    return CompoundSplitter(language, _vocabulary(language), stem)
