"""Reader of Word documents: the body in order, headers and footers once, notes at the end."""

from collections.abc import Iterator
from itertools import chain
from typing import BinaryIO

from muniment.processing.readers.blocks import PAGE_BREAK, Block, collapse_whitespace, limit_blocks, make_row, paginate
from muniment.processing.readers.captions import assign_captions
from muniment.processing.readers.contract import OpenedDocument, ParagraphKind, ReaderResources, ReadingOptions
from muniment.processing.readers.errors import parser_errors_as_unreadable
from muniment.processing.readers.office.docx.runs import NoteMarks, RunReader
from muniment.processing.readers.office.docx.styles import DocxStyles
from muniment.processing.readers.office.images import EmbeddedImages
from muniment.processing.readers.office.package import OfficePackage
from muniment.processing.readers.office.xml import (
    Element,
    Relationships,
    attribute,
    children,
    descendants,
    find,
    local_name,
    main_document_part,
    parse_part,
)

_WRAPPERS = frozenset({"sdt", "sdtContent", "customXml", "smartTag", "ins", "moveTo", "Choice"})


def open_file(file: BinaryIO, media_type: str, options: ReadingOptions, resources: ReaderResources) -> OpenedDocument:
    with parser_errors_as_unreadable("Word"):
        document = _Document(OfficePackage(file, resources), options)
        blocks = assign_captions(limit_blocks(document.blocks(), resources))
    return paginate("Word", lambda: blocks, options, resources, has_pages=True)


class _Document:
    def __init__(self, package: OfficePackage, options: ReadingOptions) -> None:
        self._package = package
        self._part = main_document_part(package, "word/document.xml")
        self._root = parse_part(package, self._part)
        self._relationships = Relationships(package, self._part)
        self._images = EmbeddedImages(package, options)
        self._styles = DocxStyles(self._parse_related("styles"))
        self._notes = NoteMarks()

    def blocks(self) -> Iterator[Block]:
        yield from self._headers_or_footers("headerReference")
        yield from self._story(self._part, find(self._root, "body"))
        yield from self._headers_or_footers("footerReference")
        yield from self._list_notes()

    def _story(self, part: str, container: Element | None) -> Iterator[Block]:
        if container is not None:
            story = _Story(RunReader(Relationships(self._package, part), self._images, self._notes), self._styles)
            yield from story.blocks(container)

    def _headers_or_footers(self, reference: str) -> Iterator[Block]:
        """Return headers or footers, each text once however many sections show it, without plain page numbers."""
        seen: set[str] = set()
        for element in descendants(self._root, reference):
            part = self._relationships.find_target(attribute(element, "id"))
            for block in self._story(part, parse_part(self._package, part)) if part and part in self._package else ():
                text = collapse_whitespace(block.text)
                if block.figures or (text not in seen and any(map(str.isalpha, text))):
                    yield Block(block.text.replace(PAGE_BREAK, ""), block.kind, block.figures)
                seen.add(text)

    def _list_notes(self) -> Iterator[Block]:
        """Return footnotes and endnotes in the order of their references."""
        found: dict[tuple[str, str], tuple[str, Element]] = {}
        for kind in ("footnote", "endnote"):
            for part in self._relationships.targets_of_type(kind + "s"):
                root = parse_part(self._package, part) if part in self._package else ()
                found.update({(kind, attribute(note, "id") or ""): (part, note) for note in root})
        for (kind, note_id), mark in list(self._notes.marks.items()):
            part, note = found.get((kind, note_id), ("", None))
            for number, block in enumerate(self._story(part, note)):
                yield Block(block.text if number else f"{mark} {block.text.lstrip()}", block.kind, block.figures)

    def _parse_related(self, kind: str) -> Element | None:
        part = next(iter(self._relationships.targets_of_type(kind)), None)
        return parse_part(self._package, part) if part and part in self._package else None


class _Story:
    """One flow of text: the body, a header, a note."""

    def __init__(self, runs: RunReader, styles: DocxStyles) -> None:
        self._runs = runs
        self._styles = styles

    def blocks(self, container: Element) -> Iterator[Block]:
        breaks = _section_breaks(container)
        for element in unwrap(container):
            name = local_name(element)
            if name == "tbl":
                yield from self._table(element)
            elif name == "p":
                yield from self._paragraph(element)
                if find(element, "pPr", "sectPr") is not None and next(breaks, False):
                    yield Block(PAGE_BREAK)

    def _paragraph(self, element: Element) -> Iterator[Block]:
        properties = find(element, "pPr")
        content = self._runs.read(unwrap(element))
        kind = self._styles.kind_of(properties)
        text = heading_text(content.text) if kind is ParagraphKind.HEADING else content.text
        yield Block(PAGE_BREAK * self._styles.begins_page(properties) + text, kind, content.figures)
        yield from chain.from_iterable(map(self.blocks, content.text_boxes))

    def _table(self, table: Element) -> Iterator[Block]:
        rows = [list(children_of(row, "tc")) for row in children_of(table, "tr") if not _is_deleted(row)]
        if len(rows) == 1 and len(rows[0]) == 1:
            yield from self.blocks(rows[0][0])  # a frame around text
            return
        figures = []
        lines = []
        for row in rows:
            cells = [list(self.blocks(cell)) for cell in row]
            figures += [figure for blocks in cells for block in blocks for figure in block.figures]
            texts = [" ".join(block.text for block in blocks) for blocks in cells]
            begins_page = any(PAGE_BREAK in text for text in texts)
            lines.append(PAGE_BREAK * begins_page + make_row(texts))
        yield Block("\n".join(line for line in lines if line), ParagraphKind.TABLE, tuple(figures))


def unwrap(container: Element) -> Iterator[Element]:
    """Yield the children without wrappers and deleted content."""
    for child in container:
        name = local_name(child)
        if name in _WRAPPERS:
            yield from unwrap(child)
        elif name == "AlternateContent":
            # The same content twice, for new and for old programs.
            choice = find(child, "Choice")
            choice = find(child, "Fallback") if choice is None else choice
            yield from unwrap(choice) if choice is not None else ()
        elif name not in {"del", "moveFrom"}:
            yield child


def children_of(container: Element, name: str) -> Iterator[Element]:
    return (child for child in unwrap(container) if local_name(child) == name)


def heading_text(text: str) -> str:
    return PAGE_BREAK.join(collapse_whitespace(part) for part in text.split(PAGE_BREAK))


def _is_deleted(row: Element) -> bool:
    return find(row, "trPr", "del") is not None


def _section_breaks(body: Element) -> Iterator[bool]:
    """Return for each section but the last whether the next one, by its own properties, begins on a new page."""
    sections = [find(child, "pPr", "sectPr") if local_name(child) == "p" else child for child in unwrap(body)]
    ends = [section for section in sections if section is not None and local_name(section) == "sectPr"]
    kinds = [next((attribute(kind, "val") for kind in children(end, "type")), None) for end in ends]
    return iter([kind not in {"continuous", "nextColumn"} for kind in kinds[1:]])
