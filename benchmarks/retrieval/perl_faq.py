"""Real questions with their answers: the FAQ of Perl, and the manual around it.

They come with Debian's package `perl-doc` (free under the terms of Perl itself).
"""

import re
from collections.abc import Iterator

from benchmarks.retrieval.collection import Collection, Section, collection_of_sections, find_installed

NAME = "Perl"
_FIRST_PAGE = "usr/share/perl/*/pod/perlfaq1.pod"
_MANUAL = ("perldata", "perlipc", "perlop", "perlopentut", "perlre", "perlref", "perlsub", "perlsyn", "perlvar")
"""Related pages in other words: passages that could be mistaken for the answer."""
_LEAST_WORDS = 15
_BLANK_LINES = re.compile(r"\n[ \t]*\n")
_HEADING = re.compile(r"=head[1-4]\s+(?P<title>.+)", re.DOTALL)
_PLAIN_CODE = re.compile(r"(?P<sign>[A-Z])<(?P<inside>[^<>]*)>")
_WIDE_CODE = re.compile(r"[A-Z](?P<open><{2,})\s+(?P<inside>.*?)\s+>{2,}", re.DOTALL)
_ENTITIES = {"lt": "<", "gt": ">", "verbar": "|", "sol": "/", "eacute": "é", "nbsp": " "}


def find_perl_faq() -> Collection | None:
    """Return None if the package is neither unpacked nor installed."""
    first = list(find_installed(_FIRST_PAGE))
    if not first:
        return None
    faq = sorted(first[-1].parent.glob("perlfaq[1-9].pod"))  # the last of them: the others are links to it
    sections = [section for file in faq for section in read_sections(file.read_text())]
    asked = [section for section in sections if "?" in section.title]
    manual = [faq[0].with_name(f"{name}.pod") for name in _MANUAL]
    around = [section for file in manual for section in read_sections(file.read_text())]
    return collection_of_sections(NAME, asked, [*(other for other in sections if "?" not in other.title), *around])


def read_sections(pod: str) -> Iterator[Section]:
    """Yield the sections between headings, except nearly empty ones."""
    title, paragraphs = "", list[str]()
    for paragraph in [*_BLANK_LINES.split(pod), "=head1 end"]:
        if heading := _HEADING.match(paragraph.strip()):
            text = "\n\n".join(paragraphs).replace(title, "") if title else ""
            if len(text.split()) >= _LEAST_WORDS:
                yield Section(title, text)
            title, paragraphs = " ".join(_plain(heading["title"]).split()), []
        elif shown := _shown(paragraph.strip("\n")):
            paragraphs.append(shown)


def _shown(paragraph: str) -> str:
    if paragraph.startswith("=item"):
        return _plain(paragraph.removeprefix("=item").strip(" *"))
    if paragraph.startswith("="):
        return ""
    return paragraph if paragraph[:1].isspace() else _plain(paragraph)


def _plain(text: str) -> str:
    text, count = _WIDE_CODE.sub(lambda code: code["inside"].replace("<", "\0").replace(">", "\1"), text), 1
    while count:
        text, count = _PLAIN_CODE.subn(lambda code: _inside(code["sign"], code["inside"]), text)
    return text.replace("\0", "<").replace("\1", ">")


def _inside(sign: str, inside: str) -> str:
    if sign in "XZ":
        return ""
    if sign == "E":
        return _ENTITIES.get(inside, "").replace("<", "\0").replace(">", "\1")
    return inside.split("|")[0] if sign == "L" else inside
