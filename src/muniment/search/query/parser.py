"""Parse a query as typed: words, "phrases", -exclusions, and `or` between alternatives. Pure."""

import re
from dataclasses import dataclass

_TOKEN = re.compile(r'(?P<minus>-?)"(?P<phrase>[^"]*)"?|(?P<word>\S+)')


_HAS_LETTER = re.compile(r"[^\W_]")


@dataclass(frozen=True)
class ParsedQuery:
    """The words, phrases and exclusions of a query as typed."""

    raw: str
    words: tuple[str, ...]
    """Words outside quotes."""
    phrases: tuple[str, ...]
    """Quoted phrases that must match exactly. Empty if the query contains `or`, which makes all terms optional."""
    excluded: tuple[str, ...]
    is_choice: bool = False
    """Whether the query contains `or`."""

    @property
    def terms(self) -> tuple[str, ...]:
        """All words and phrases that are not excluded."""
        return self.words + self.phrases

    @property
    def plain_text(self) -> str:
        """The terms without quotes and operators, as they are embedded. Empty if there are only exclusions."""
        return " ".join(self.terms)


def parse_query(raw: str) -> ParsedQuery:
    """Parse a query: words, "phrases", -exclusions, and `or` between alternatives."""
    words: list[str] = []
    phrases: list[str] = []
    excluded: list[str] = []
    is_choice = False
    for token in _TOKEN.finditer(raw):
        phrase, word = token["phrase"], token["word"]
        if word is not None and word.lower() == "or":
            is_choice = True
            continue
        is_excluded = bool(token["minus"]) if word is None else word.startswith("-")
        term = " ".join(phrase.split()) if word is None else word.lstrip("-").replace('"', "")
        if not _HAS_LETTER.search(term):
            continue
        terms = excluded if is_excluded else words if word is not None else phrases
        terms.append(term)
    if is_choice:
        words, phrases = words + phrases, []
    return ParsedQuery(raw, tuple(words), tuple(phrases), tuple(excluded), is_choice)
