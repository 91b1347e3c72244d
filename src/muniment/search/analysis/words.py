"""Analyze words: stop words, stems, and spellings with and without diacritics."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

import Stemmer

from muniment.search.analysis.compounds import CompoundSplitter, compound_splitter
from muniment.search.analysis.folding import fold, spellings, to_latin

MAX_TERM_CHARACTERS = 255
"""A longer term is cut. PostgreSQL stores up to 2,046 bytes, and a character has at most four."""
_MAX_STEMMED = 60
"""Longer words are not words of a language; stemming them costs time and tells nothing."""
_MAX_CACHED = 20_000
_ELISION = re.compile(
    r"(?:qu|jusqu|lorsqu|puisqu|[cdjlmnst]|dell|nell|all|sull|dall|quell|un|l|d)'(?=..)", re.IGNORECASE
)
_ELIDING = frozenset({"french", "italian", "catalan"})
_SPELLED_OUT = (re.compile(r"a[ae]|oe"), lambda match: match[0][0])
_REFINEMENTS: dict[str, Sequence[tuple[re.Pattern[str], str | Callable[[re.Match[str]], str]]]] = {
    "danish": [_SPELLED_OUT],
    "norwegian": [_SPELLED_OUT],  # `blåbær` and `blaabaer`
    "serbian": [
        (re.compile(r"(?<=...)[oe]v$"), ""),  # `rok` and `rokovi`, `broj` and `brojevi`
        (re.compile(r"(?<=....)am$"), ""),  # `faktura` and `fakturama`
        (re.compile(r"(?<=...n)em$"), ""),  # `stanje` and `stanjem`
        (re.compile(r"(?<=[nl])j$|(?<=[aeo])j$"), ""),  # `godišnji` and `godišnjeg`, `izveštaj` and `izveštaja`
        (re.compile(r"(?<=....)(?:an|a)$"), ""),  # `potpisan` and `potpisana`
        (re.compile(r"(?<=...i)s$"), ""),  # `potpis` and `potpisa`
        (re.compile(r"(?<=[ae])ta?k$"), "c"),  # `podatak`, `podatka` and `podaci`
        (re.compile(r"(?<=..)ac$"), "c"),  # `kupac` and `kupca`
        (re.compile(r"zc$"), "sc"),  # `obrazac` and `obrasca`
        (re.compile(r"(?<=..)c$"), "k"),  # `radnik` and `radnici`, `odluka` and `odluci`
        (re.compile(r"(?<=...)z$"), "g"),  # `knjiga` and `knjizi`
    ],
    "swedish": [_SPELLED_OUT],
}
"""What is done to folded stems, so that forms which the stemmer leaves apart become one term."""


@dataclass(frozen=True, slots=True)
class WordTerms:
    """The terms of a word: all of its spellings, and the parts of a compound. A stop word has none."""

    spellings: tuple[str, ...]
    parts: tuple[str, ...] = ()


_STOP_WORD = WordTerms(())


class WordAnalyzer:
    """Analyzes the words of one language. Results are cached."""

    def __init__(self, language: str) -> None:
        self.language = language
        self.stop_words = _load_stop_words(language)
        # The stemmer's own cache is off: with it, an instance could not be shared between threads.
        self._stemmer = Stemmer.Stemmer(language, 0) if language in _ALGORITHMS else None
        self._refinements = _REFINEMENTS.get(language, ())
        self._compounds: CompoundSplitter | None = compound_splitter(language, self._stem)
        self._cache: dict[str, WordTerms] = {}

    def terms(self, word: str) -> WordTerms:
        """Return the terms of a normalized word, which is in lower case."""
        known = self._cache.get(word)
        if known is None:
            if len(self._cache) >= _MAX_CACHED:
                self._cache.clear()
            known = self._cache[word] = self._analyze(word)
        return known

    def without_elision(self, word: str) -> str:
        """Return a word without the article or pronoun that some languages join to it: `l'eau` as `eau`."""
        if self.language not in _ELIDING:
            return word
        return _ELISION.sub("", word, count=1) if _ELISION.match(word) else word

    def _analyze(self, word: str) -> WordTerms:
        if word in self.stop_words or (self.language == "serbian" and to_latin(word) in self.stop_words):
            return _STOP_WORD
        stems = tuple(dict.fromkeys(self._stem(spelling)[:MAX_TERM_CHARACTERS] for spelling in spellings(word)))
        parts = self._compounds.parts(word) if self._compounds else ()
        return WordTerms(stems, tuple(part for part in parts if part not in stems))

    def _stem(self, word: str) -> str:
        if self._stemmer is None or len(word) > _MAX_STEMMED:
            return fold(word)
        stem = self._stemmer.stemWord(word)
        if (
            self.language == "norwegian"
        ):  # once for the article or plural, once for the word: `fakturaene` and `faktura`
            stem = self._stemmer.stemWord(stem)
        stem = fold(stem)
        for pattern, replacement in self._refinements:
            stem = pattern.sub(replacement, stem)
        return stem


@cache
def word_analyzer(language: str) -> WordAnalyzer:
    """Return the analyzer of a language, named as PostgreSQL's text search configuration."""
    return WordAnalyzer(language)


_ALGORITHMS = frozenset(Stemmer.algorithms())


def _load_stop_words(language: str) -> frozenset[str]:
    file = files(__package__).joinpath("data", "stop_words", f"{language}.txt")
    if not file.is_file():
        return frozenset()
    words = file.read_text(encoding="utf-8").split()
    return frozenset(spelling for word in words for spelling in spellings(word))
