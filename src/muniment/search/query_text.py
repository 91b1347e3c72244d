"""What somebody typed: words, "phrases in quotes" and -excluded ones. The same signs as `websearch_to_tsquery`."""

import re
from dataclasses import dataclass

_TOKEN = re.compile(r'(?P<minus>-?)"(?P<phrase>[^"]*)"?|(?P<word>\S+)')
_HAS_LETTER = re.compile(r"[^\W_]")


@dataclass(frozen=True)
class QueryText:
    typed: str
    words: tuple[str, ...]
    """Wanted, outside of quotes."""
    phrases: tuple[str, ...]
    """Wanted exactly; none where an `or` makes everything a choice."""
    excluded: tuple[str, ...]

    @property
    def terms(self) -> tuple[str, ...]:
        """Everything that is wanted, each a word or a phrase."""
        return self.words + self.phrases

    @property
    def spoken(self) -> str:
        """What a model is asked: the wanted words without any signs. Empty when nothing is wanted."""
        return " ".join(self.terms)


def parse(typed: str) -> QueryText:
    words: list[str] = []
    phrases: list[str] = []
    excluded: list[str] = []
    is_choice = False
    for token in _TOKEN.finditer(typed):
        phrase, word = token["phrase"], token["word"]
        if word is not None and word.lower() == "or":
            is_choice = True
            continue
        is_excluded = bool(token["minus"]) if word is None else word.startswith("-")
        term = " ".join(phrase.split()) if word is None else word.lstrip("-").replace('"', "")
        if not _HAS_LETTER.search(term):
            continue
        place = excluded if is_excluded else words if word is not None else phrases
        place.append(term)
    if is_choice:
        words, phrases = words + phrases, []
    return QueryText(typed, tuple(words), tuple(phrases), tuple(excluded))
