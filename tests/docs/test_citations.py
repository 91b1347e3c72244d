"""Check that every reference to the documentation resolves: paths with anchors, decisions by number, and links."""

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from urllib.parse import unquote

ROOT = Path(__file__).parents[2]
FOLDERS = ("src", "tests", "benchmarks", "deploy", "web", "docs", "tools")
GENERATED = {"node_modules", ".next", "out", "static", "__pycache__"}
SUFFIXES = {"", ".css", ".md", ".mjs", ".py", ".sh", ".toml", ".ts", ".tsx", ".yaml", ".yml"}
ALSO = ("web/openapi.json",)

# `docs/design.md#i2, #i8` cites two anchors of one page.
CITATION = re.compile(r"\b(docs/[\w./-]+?\.md)((?:(?:, | and )?#[\w-]+)*)")
DECISION = re.compile(r"\bADRs? (\d+)")
# The brackets keep this file from matching itself.
UNSHIPPED = re.compile(r"\b(?:DESIGN|PARTS|PAPERLESS|NEXT|STYLE)(?:\.[m]d\b| [§\"])|\bspecs[/]\w")
LINK = re.compile(r"(?<!\\)\]\(([^()\s]+)(?:\s+\"[^\"]*\")?\)|<(?:img|a)\s[^>]*?(?:src|href)=\"([^\"]+)\"")
EXTERNAL = re.compile(r"[a-z][a-z0-9+.-]*:|//", re.IGNORECASE)
EXPLICIT_ANCHOR = re.compile(r"<a\s+(?:id|name)=\"([^\"]+)\"")
HEADING = re.compile(r"^#{1,6}\s+(.+?)\s*#*$")
FENCE = re.compile(r"^\s*(?:```|~~~)")


@dataclass(frozen=True)
class Line:
    file: Path
    number: int
    text: str

    def __str__(self) -> str:
        return f"{self.file.relative_to(ROOT)}:{self.number}: {self.text.strip()}"


def test_cited_pages_and_anchors_exist() -> None:
    broken = [
        f"{line} -> {citation}"
        for line in all_lines()
        for citation in citations(line.text)
        if not exists(ROOT, citation)
    ]
    assert broken == []


def test_cited_decisions_exist() -> None:
    known = decision_numbers()
    unknown = [str(line) for line in all_lines() for number in DECISION.findall(line.text) if int(number) not in known]
    assert unknown == []


def test_decisions_are_numbered_without_gaps_and_listed() -> None:
    numbers = sorted(decision_numbers())
    index = (ROOT / "docs/decisions/README.md").read_text(encoding="utf-8")
    assert numbers == list(range(1, len(numbers) + 1))
    assert [file.name for file in decision_files() if f"({file.name})" not in index] == []


def test_nothing_cites_a_document_that_is_not_in_the_repository() -> None:
    assert [str(line) for line in all_lines() if UNSHIPPED.search(line.text)] == []


def test_links_between_pages_resolve() -> None:
    broken = [
        f"{line} -> {target}"
        for page in pages()
        for line in prose(page)
        for target in links(line.text)
        if not exists(page.parent, target, page=page)
    ]
    assert broken == []


def test_anchors_are_unique_within_a_page() -> None:
    for page in pages():
        explicit = [anchor for line in prose(page) for anchor in EXPLICIT_ANCHOR.findall(line.text)]
        assert sorted(explicit) == sorted(set(explicit)), page


def citations(text: str) -> list[str]:
    """Return the pages cited in one line, once for each anchor."""
    return [
        f"{page}{anchor}"
        for page, anchors in CITATION.findall(text)
        for anchor in re.findall(r"#[\w-]+", anchors) or [""]
    ]


def exists(folder: Path, target: str, *, page: Path | None = None) -> bool:
    """Whether the file and, if one is given, its anchor exist. An empty path means `page` itself."""
    path, _, anchor = target.partition("#")
    file = (folder / unquote(path)).resolve() if path else page
    if file is None or not file.exists():
        return False
    return not anchor or file.suffix != ".md" or unquote(anchor) in anchors(file)


@cache
def anchors(page: Path) -> frozenset[str]:
    """Return the explicit anchors of a page and the slugs that GitHub derives from its headings."""
    found = set[str]()
    for line in prose(page):
        found.update(EXPLICIT_ANCHOR.findall(line.text))
        if heading := HEADING.match(line.text):
            found.add(next(slug for slug in numbered(slugify(heading[1])) if slug not in found))
    return frozenset(found)


def slugify(heading: str) -> str:
    """Return the slug of a heading: links become their text, and punctuation is dropped."""
    text = re.sub(r"<[^>]+>|[`*]", "", re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading))
    return re.sub(r"[^\w\- ]", "", text.lower()).strip().replace(" ", "-")


def numbered(slug: str) -> Iterator[str]:
    """Yield the slug, then the slug with a counter: GitHub numbers repeated headings."""
    yield slug
    yield from (f"{slug}-{count}" for count in range(1, 1000))


def links(text: str) -> list[str]:
    """Return the targets of relative links and images in one line."""
    targets = [inline or html for inline, html in LINK.findall(re.sub(r"`[^`]*`", "", text))]
    return [target for target in targets if not EXTERNAL.match(target) and not target.startswith("/")]


@cache
def decision_files() -> tuple[Path, ...]:
    return tuple(sorted((ROOT / "docs/decisions").glob("[0-9][0-9][0-9][0-9]-*.md")))


def decision_numbers() -> set[int]:
    return {int(file.name[:4]) for file in decision_files()}


def pages() -> list[Path]:
    return [file for file in files() if file.suffix == ".md"]


def prose(page: Path) -> Iterator[Line]:
    """Yield the lines of a page outside fenced code blocks."""
    is_code = False
    for line in lines(page):
        if FENCE.match(line.text):
            is_code = not is_code
        elif not is_code:
            yield line


def all_lines() -> Iterator[Line]:
    for file in files():
        yield from lines(file)


@cache
def lines(file: Path) -> tuple[Line, ...]:
    text = file.read_text(encoding="utf-8", errors="replace")
    return tuple(Line(file, number, line) for number, line in enumerate(text.split("\n"), start=1))


@cache
def files() -> tuple[Path, ...]:
    """Return every text file in which documentation can be cited."""
    found = [*ROOT.glob("*.md"), ROOT / "pyproject.toml", ROOT / "Makefile"]
    found += [ROOT / path for path in ALSO]
    for folder in FOLDERS:
        for parent, children, names in os.walk(ROOT / folder):
            children[:] = sorted(set(children) - GENERATED)
            found += [Path(parent, name) for name in sorted(names) if Path(name).suffix in SUFFIXES]
    return tuple(file for file in found if file.is_file())
