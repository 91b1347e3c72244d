"""The FAQs of Python and Debian, and the tutorials around them.

They come with Debian's packages `python3-doc` and `debian-faq` (free under their own terms).
"""

from collections.abc import Iterator
from pathlib import Path

from lxml import html

from benchmarks.retrieval.collection import Collection, Section, collection_of_sections, find_installed

NAME = "Python and Debian"
_PYTHON = "usr/share/doc/python3.*/html"
_DEBIAN = "usr/share/doc/debian/FAQ"
_AROUND = ("tutorial", "howto")
"""Related pages in other words: passages that could be mistaken for the answer."""
_LEAST_WORDS = 15


def find_python_and_debian_faq() -> Collection | None:
    """Return None if one of the packages is neither unpacked nor installed."""
    python, debian = list(find_installed(_PYTHON)), list(find_installed(_DEBIAN))
    if not python or not debian:
        return None
    faq = [*sorted((python[-1] / "faq").glob("*.html")), *sorted(debian[0].glob("*.en.html"))]
    sections = [section for file in faq for section in _sections(file)]
    manual = [file for folder in _AROUND for file in sorted((python[-1] / folder).glob("*.html"))]
    around = [section for file in manual for section in _sections(file)]
    asked = {section.title: section for section in sections if section.title.endswith("?")}
    others = [section for section in (*sections, *around) if section.title not in asked]
    return collection_of_sections(NAME, list(asked.values()), others)


def _sections(file: Path) -> Iterator[Section]:
    """Yield the innermost sections without headings, except nearly empty ones."""
    # Sphinx nests `section`, DocBook `div class="section"`.
    nested = '//section | //div[@class="section"]'
    for section in html.parse(str(file)).getroot().xpath(nested):
        headings = section.xpath('./h1 | ./h2 | ./h3 | ./h4 | ./div[@class="titlepage"]')
        if not headings or section.xpath('.//section | .//div[@class="section"]'):
            continue
        title = _plain(headings[0]).replace("¶", "")
        headings[0].drop_tree()
        text = "\n\n".join(block for child in section if (block := _plain(child))).replace(title, "")
        if len(text.split()) >= _LEAST_WORDS:
            yield Section(_without_number(title), text)


def _plain(element: html.HtmlElement) -> str:
    return " ".join(element.text_content().split())


def _without_number(title: str) -> str:
    """Return `7.1. What is a package?` as a user would ask it."""
    first, _, rest = title.partition(" ")
    return rest if first.replace(".", "").isdigit() else title
