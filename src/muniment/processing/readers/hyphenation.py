"""Join the lines of a paragraph into running text, including words split at line ends."""

SOFT_HYPHEN = "\u00ad"
HYPHENS = ("-", "\u2010")

# "Vor-" + "und Nachteile": the hyphen stands for an omitted part, and the words stay separate.
_CONJUNCTIONS = frozenset({"und", "oder", "bzw.", "bis", "sowie", "and", "or", "to"})


def join_at_line_end(line: str, following: str) -> tuple[str, str]:
    """Return the line as part of running text, and the separator before the next line: "" or a space."""
    if line.endswith(SOFT_HYPHEN):
        return line.rstrip(SOFT_HYPHEN), ""
    if not line.endswith(HYPHENS) or not line[-2:-1].isalnum() or not following[:1].isalnum():
        return line, " "
    if following.split(maxsplit=1)[0] in _CONJUNCTIONS:
        return line, " "
    return (line[:-1], "") if _is_soft_break(line, following) else (line, "")


def _is_soft_break(line: str, following: str) -> bool:
    """Whether the hyphen only marks the line end, unlike in "Baden-Württemberg", "2024-25" or "E-Mail-"."""
    head = line[:-1].split()[-1]
    return following[0].islower() and head[-1].islower() and not any(hyphen in head for hyphen in HYPHENS)
