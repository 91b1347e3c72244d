"""Reader of workbooks: sheet by sheet, each on its own pages, with rows as lines of a table."""

from collections.abc import Iterator
from typing import BinaryIO

from muniment.processing.readers.blocks import PAGE_BREAK, Block, collapse_whitespace, limit_blocks, paginate
from muniment.processing.readers.captions import assign_captions
from muniment.processing.readers.contract import (
    PARAGRAPH_BREAK,
    OpenedDocument,
    ParagraphKind,
    ReaderResources,
    ReadingOptions,
)
from muniment.processing.readers.errors import parser_errors_as_unreadable
from muniment.processing.readers.office.images import EmbeddedImages
from muniment.processing.readers.office.package import OfficePackage
from muniment.processing.readers.office.xlsx.number_formats import NumberFormats
from muniment.processing.readers.office.xml import (
    Element,
    Relationships,
    attribute,
    children,
    descendants,
    find,
    iterate_part,
    local_name,
    main_document_part,
    parse_part,
    relationship_id,
)

_BOOLEANS = {"0": "FALSE", "1": "TRUE"}


_MAX_DIGITS = 10


Row = dict[int, str]
"""Texts by column, from 1, without empty cells."""


class RowReader:
    def __init__(self, strings: list[str], formats: NumberFormats) -> None:
        self._strings = strings
        self._formats = formats

    def read(self, row: Element) -> Row:
        texts: Row = {}
        column = 0
        for cell in children(row, "c"):
            column = _column_index(cell.get("r") or "") or column + 1
            if text := collapse_whitespace(self._read_cell(cell)):
                texts[column] = text
        return texts

    def _read_cell(self, cell: Element) -> str:
        kind = cell.get("t") or "n"
        if kind == "inlineStr":
            inline = find(cell, "is")
            return rich_text(inline) if inline is not None else ""
        element = find(cell, "v")
        value = (element.text or "").strip() if element is not None else ""
        if kind == "s":
            index = int(value) if value.isdecimal() and len(value) < _MAX_DIGITS else len(self._strings)
            return self._strings[index] if index < len(self._strings) else ""
        if kind == "b":
            return _BOOLEANS.get(value, value)
        return self._formats.format_value(value, cell.get("s")) if kind == "n" else value


def rich_text(item: Element) -> str:
    """Return the text of all runs, without phonetic hints (`rPh`)."""
    runs = [item, *children(item, "r")]
    return "".join(piece.text or "" for run in runs for piece in run if local_name(piece) == "t")


class RowBatch:
    """Rows that become one table. Columns that are empty in all of them are omitted."""

    def __init__(self) -> None:
        self._rows: list[Row] = []
        self._columns: set[int] = set()
        self._characters = 0

    def add(self, row: Row) -> None:
        if row:
            self._rows.append(row)
            self._columns.update(row)
            self._characters += sum(map(len, row.values()))

    def size_with(self, row: Row) -> int:
        """Return an upper bound of the text's length with this row: a few distant cells make a text of many tabs."""
        new_columns = sum(1 for column in row if column not in self._columns)
        cells = (len(self._rows) + 1) * (len(self._columns) + new_columns)
        return self._characters + sum(map(len, row.values())) + cells

    def text(self) -> str:
        columns = sorted(self._columns)
        return "\n".join("\t".join(row.get(column, "") for column in columns).rstrip("\t") for row in self._rows)


def _column_index(reference: str) -> int:
    """Return the column of a reference (28 for `AB12`), or 0 if it has none."""
    number = 0
    for letter in reference[:3].upper():
        if not "A" <= letter <= "Z":
            break
        number = number * 26 + ord(letter) - ord("A") + 1
    return number


def open_file(file: BinaryIO, media_type: str, options: ReadingOptions, resources: ReaderResources) -> OpenedDocument:
    with parser_errors_as_unreadable("Excel"):
        workbook = _Workbook(OfficePackage(file, resources), options)
        blocks = assign_captions(limit_blocks(workbook.blocks(), resources))
    return paginate("Excel", lambda: blocks, options, resources)


class _Workbook:
    def __init__(self, package: OfficePackage, options: ReadingOptions) -> None:
        self._package = package
        self._part = main_document_part(package, "xl/workbook.xml")
        self._root = parse_part(package, self._part)
        self._relationships = Relationships(package, self._part)
        self._images = EmbeddedImages(package, options)
        self._page_characters = options.text_page_characters
        self._rows = RowReader(self._read_strings(), self._read_formats())

    def blocks(self) -> Iterator[Block]:
        """Yield all sheets, including hidden ones, because users search for their content."""
        sheets = find(self._root, "sheets")
        for sheet in sheets if sheets is not None else ():
            part = self._relationships.find_target(relationship_id(sheet))
            part = part if part and part in self._package else None
            drawings = list(self._drawings(part)) if part else []
            figures = tuple(figure for block in drawings for figure in block.figures)
            heading = collapse_whitespace(sheet.get("name") or "")
            yield Block(PAGE_BREAK + heading, ParagraphKind.HEADING, figures)
            yield from self._tables(part, self._page_characters - len(heading + PARAGRAPH_BREAK)) if part else ()
            yield from (Block(block.text) for block in drawings if block.text)

    def _tables(self, part: str, available_characters: int) -> Iterator[Block]:
        """Yield tables with as many rows as fit on a page. `available_characters` is what the heading leaves of the
        first page."""
        chunk = RowBatch()
        with self._package.open(part) as stream:
            for row in iterate_part(stream, part, ("row",)):
                texts = self._rows.read(row)
                if chunk.size_with(texts) > available_characters:
                    yield Block(chunk.text(), ParagraphKind.TABLE)
                    chunk, available_characters = RowBatch(), self._page_characters
                chunk.add(texts)
        yield Block(chunk.text(), ParagraphKind.TABLE)

    def _drawings(self, part: str) -> Iterator[Block]:
        """Yield images and text boxes that float above the cells."""
        for drawing in Relationships(self._package, part).targets_of_type("drawing"):
            if drawing not in self._package:
                continue
            relationships = Relationships(self._package, drawing)
            root = parse_part(self._package, drawing)
            for blip in descendants(root, "blip"):
                yield Block("", figures=self._images.figure_for(relationships.find_target(attribute(blip, "embed"))))
            for paragraph in descendants(root, "p"):
                yield Block(collapse_whitespace("".join(piece.text or "" for piece in descendants(paragraph, "t"))))

    def _read_strings(self) -> list[str]:
        strings: list[str] = []
        for part in self._relationships.targets_of_type("sharedStrings"):
            if part in self._package:
                with self._package.open(part) as stream:
                    strings += [rich_text(item) for item in iterate_part(stream, part, ("si",))]
        return strings

    def _read_formats(self) -> NumberFormats:
        parts = [part for part in self._relationships.targets_of_type("styles") if part in self._package]
        properties = find(self._root, "workbookPr")
        is_1904 = properties is not None and properties.get("date1904") in {"1", "true"}
        return NumberFormats(parse_part(self._package, parts[0]) if parts else None, is_1904=is_1904)
