"""Reader of OpenDocument texts: the body in order, headers and footers once, notes at the end."""

from collections.abc import Callable, Iterator
from itertools import chain
from typing import BinaryIO

from muniment.processing.readers.blocks import PAGE_BREAK, Block, collapse_whitespace, limit_blocks, make_row, paginate
from muniment.processing.readers.captions import assign_captions
from muniment.processing.readers.contract import Figure, OpenedDocument, ParagraphKind, ReaderResources, ReadingOptions
from muniment.processing.readers.errors import Unreadable, UnreadableCode, parser_errors_as_unreadable
from muniment.processing.readers.office.images import EmbeddedImages
from muniment.processing.readers.office.odt.inline import InlineContent, read_content
from muniment.processing.readers.office.odt.styles import OdtStyles
from muniment.processing.readers.office.package import OfficePackage
from muniment.processing.readers.office.xml import Element, attribute, descendants, find, local_name, parse_part

_MANIFEST = "META-INF/manifest.xml"
_SKIPPED = frozenset({"tracked-changes", "sequence-decls", "variable-decls", "user-field-decls", "forms", "annotation"})
_MAX_REPEATED = 100
"""Limit of repetitions: a cell or row may claim to repeat a million times, to the edge of the sheet."""


def open_file(file: BinaryIO, media_type: str, options: ReadingOptions, resources: ReaderResources) -> OpenedDocument:
    with parser_errors_as_unreadable("OpenDocument"):
        package = OfficePackage(file, resources)
        _reject_encrypted(package)
        blocks = assign_captions(limit_blocks(_Document(package, options).blocks(), resources))
    return paginate("OpenDocument", lambda: blocks, options, resources, has_pages=True)


def _reject_encrypted(package: OfficePackage) -> None:
    """Raise `Unreadable` for a protected text. Its parts are encrypted one by one; the file itself looks normal."""
    if _MANIFEST in package and next(descendants(parse_part(package, _MANIFEST), "encryption-data"), None) is not None:
        raise Unreadable(
            UnreadableCode.ENCRYPTED, "The file is password-protected. Remove the password and upload it again."
        )


class _Document:
    def __init__(self, package: OfficePackage, options: ReadingOptions) -> None:
        self._root = parse_part(package, "content.xml")
        self._common = parse_part(package, "styles.xml") if "styles.xml" in package else None
        self._styles = OdtStyles([root for root in (self._common, self._root) if root is not None])
        self._images = EmbeddedImages(package, options)
        self._notes: list[tuple[str, Element]] = []
        self._readers: dict[str, Callable[[Element], Iterator[Block]]] = {
            "p": self._paragraph,
            "h": self._paragraph,
            "list": self._list,
            "table": self._table,
            "soft-page-break": lambda _: iter((Block(PAGE_BREAK),)),
        }

    def blocks(self) -> Iterator[Block]:
        body = find(self._root, "body", "text")
        yield from self._headers_or_footers("header")
        yield from self._story(body) if body is not None else ()
        yield from self._headers_or_footers("footer")
        while self._notes:
            mark, note = self._notes.pop(0)
            for number, block in enumerate(self._story(note)):
                yield Block(block.text if number else f"{mark} {block.text}", block.kind, block.figures)

    def _story(self, container: Element) -> Iterator[Block]:
        for element in container:
            name = local_name(element)
            if reader := self._readers.get(name):
                yield from reader(element)
            elif name in {"frame", "a", "g"}:
                yield from self._finish_paragraph(read_content([element]), ParagraphKind.TEXT)
            elif name not in _SKIPPED:
                yield from self._story(element)

    def _paragraph(self, element: Element, kind: ParagraphKind = ParagraphKind.TEXT) -> Iterator[Block]:
        content = read_content([element])
        if local_name(element) == "h":
            kind = ParagraphKind.HEADING
        style = self._styles.get(attribute(element, "style-name"))
        if style.begins_page:
            yield Block(PAGE_BREAK)
        yield from self._finish_paragraph(content, style.kind or kind)
        if style.ends_page:
            yield Block(PAGE_BREAK)

    def _finish_paragraph(self, content: InlineContent, kind: ParagraphKind) -> Iterator[Block]:
        self._notes += content.notes
        figures: tuple[Figure, ...] = ()
        for part in content.images:
            figures += self._images.figure_for(part.name, part.size_emu)
        yield Block(content.text, kind, figures)
        yield from chain.from_iterable(map(self._story, content.text_boxes))

    def _list(self, element: Element) -> Iterator[Block]:
        for item in element:
            for child in item:
                if local_name(child) in {"p", "h"}:
                    yield from self._paragraph(child, ParagraphKind.LIST_ITEM)
                elif local_name(child) in self._readers:
                    yield from self._readers[local_name(child)](child)

    def _table(self, table: Element) -> Iterator[Block]:
        figures: list[Figure] = []
        lines: list[str] = []
        for row in _rows(table):
            if local_name(row) == "soft-page-break":
                lines.append(PAGE_BREAK)
                continue
            cells = [(list(self._story(cell)), _repeat_count(cell, "number-columns-repeated")) for cell in row]
            figures += [figure for blocks, _ in cells for block in blocks for figure in block.figures]
            texts = [
                collapse_whitespace(" ".join(block.text for block in blocks))
                for blocks, count in cells
                for _ in range(count)
            ]
            line = make_row(texts)
            lines += [line] * _repeat_count(row, "number-rows-repeated") if line else []
        yield Block("\n".join(lines), ParagraphKind.TABLE, tuple(figures))

    def _headers_or_footers(self, name: str) -> Iterator[Block]:
        seen: set[str] = set()
        for margin in descendants(self._common, name) if self._common is not None else ():
            for block in self._story(margin):
                text = collapse_whitespace(block.text)
                if block.figures or (text not in seen and any(map(str.isalpha, text))):
                    yield block
                seen.add(text)


def _rows(table: Element) -> Iterator[Element]:
    """Yield the rows of a table, whatever groups they are in, and the page breaks between them."""
    for child in table:
        name = local_name(child)
        if name in {"table-row", "soft-page-break"}:
            yield child
        elif name in {"table-header-rows", "table-rows", "table-row-group"}:
            yield from _rows(child)


def _repeat_count(element: Element, name: str) -> int:
    value = attribute(element, name) or "1"
    return min(int(value[:9]), _MAX_REPEATED) if value.isdecimal() else 1
