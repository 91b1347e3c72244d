"""Join the lines of a paragraph into running text; a word split at a line end becomes one word again."""

from collections.abc import Sequence
from itertools import zip_longest

SOFT_HYPHEN = "\u00ad"
HYPHENS = ("-", "\u2010")

# "Vor-" + "und Nachteile": the hyphen stands for a part left out, the words stay two.
_CONJUNCTIONS = frozenset({"und", "oder", "bzw.", "bis", "sowie", "and", "or", "to"})


def join_at_line_end(line: str, following: str) -> tuple[str, str]:
    """The line as it goes into running text, and what comes between it and the following one: "" or a space."""
    if line.endswith(SOFT_HYPHEN):
        return line.rstrip(SOFT_HYPHEN), ""
    if not line.endswith(HYPHENS) or not line[-2:-1].isalnum() or not following[:1].isalnum():
        return line, " "
    if following.split(maxsplit=1)[0] in _CONJUNCTIONS:
        return line, " "
    return (line[:-1], "") if _is_soft_break(line, following) else (line, "")


def join_lines(lines: Sequence[str]) -> str:
    """The lines as running text."""
    parts: list[str] = []
    for line, following in zip_longest(lines, lines[1:], fillvalue=""):
        parts.extend(join_at_line_end(line, following) if following else (line,))
    return "".join(parts)


def _is_soft_break(line: str, following: str) -> bool:
    """Whether the hyphen is there for the line end only. That of "Baden-Württemberg", "2024-25" or "E-Mail-" is not."""
    head = line[:-1].split()[-1]
    return following[0].islower() and head[-1].islower() and not any(hyphen in head for hyphen in HYPHENS)
