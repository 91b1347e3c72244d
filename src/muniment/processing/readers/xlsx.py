"""Workbooks: sheet after sheet, each one on pages of its own, its rows as lines of a table."""

from collections.abc import Iterator
from typing import BinaryIO

from muniment.processing.readers.captions import name_figures
from muniment.processing.readers.contract import PARAGRAPH_BREAK, Means, Options, ParagraphKind, Reading
from muniment.processing.readers.damage import damage_is_unreadable
from muniment.processing.readers.packed import Package
from muniment.processing.readers.paging import read_pages
from muniment.processing.readers.part_pictures import Pictures
from muniment.processing.readers.part_xml import (
    Relations,
    attribute,
    descendants,
    find,
    main_part,
    parse_part,
    relation_id,
    stream_part,
)
from muniment.processing.readers.text_blocks import PAGE_BREAK, Block, in_one_line
from muniment.processing.readers.xlsx_numbers import Formats
from muniment.processing.readers.xlsx_rows import Chunk, RowReader, rich_text


def open_file(file: BinaryIO, media_type: str, options: Options, means: Means) -> Reading:
    with damage_is_unreadable("Excel"):
        workbook = _Workbook(Package(file, means.max_unpacked_bytes), options)
        blocks = name_figures(workbook.blocks())
    return read_pages("Excel", lambda: blocks, options, means)


class _Workbook:
    def __init__(self, package: Package, options: Options) -> None:
        self._package = package
        self._part = main_part(package, "xl/workbook.xml")
        self._root = parse_part(package, self._part)
        self._relations = Relations(package, self._part)
        self._pictures = Pictures(package, options)
        self._page_characters = options.text_page_characters
        self._rows = RowReader(self._read_strings(), self._read_formats())

    def blocks(self) -> Iterator[Block]:
        """All sheets, the hidden ones too: people search for what is in them."""
        sheets = find(self._root, "sheets")
        for sheet in sheets if sheets is not None else ():
            part = self._relations.find(relation_id(sheet))
            part = part if part and part in self._package else None
            drawings = list(self._drawings(part)) if part else []
            figures = tuple(figure for block in drawings for figure in block.figures)
            heading = in_one_line(sheet.get("name") or "")
            yield Block(PAGE_BREAK + heading, ParagraphKind.HEADING, figures)
            yield from self._tables(part, self._page_characters - len(heading + PARAGRAPH_BREAK)) if part else ()
            yield from (Block(block.text) for block in drawings if block.text)

    def _tables(self, part: str, room: int) -> Iterator[Block]:
        """As many rows as fit on a page together; `room` is what the heading leaves of the first one."""
        chunk = Chunk()
        with self._package.open(part) as stream:
            for row in stream_part(stream, part, ("row",)):
                texts = self._rows.read(row)
                if chunk.cost_with(texts) > room:
                    yield Block(chunk.text(), ParagraphKind.TABLE)
                    chunk, room = Chunk(), self._page_characters
                chunk.add(texts)
        yield Block(chunk.text(), ParagraphKind.TABLE)

    def _drawings(self, part: str) -> Iterator[Block]:
        """Pictures and text boxes that float above the cells."""
        for drawing in Relations(self._package, part).of_kind("drawing"):
            if drawing not in self._package:
                continue
            relations = Relations(self._package, drawing)
            root = parse_part(self._package, drawing)
            for blip in descendants(root, "blip"):
                yield Block("", figures=self._pictures.show(relations.find(attribute(blip, "embed"))))
            for paragraph in descendants(root, "p"):
                yield Block(in_one_line("".join(piece.text or "" for piece in descendants(paragraph, "t"))))

    def _read_strings(self) -> list[str]:
        strings: list[str] = []
        for part in self._relations.of_kind("sharedStrings"):
            if part in self._package:
                with self._package.open(part) as stream:
                    strings += [rich_text(item) for item in stream_part(stream, part, ("si",))]
        return strings

    def _read_formats(self) -> Formats:
        parts = [part for part in self._relations.of_kind("styles") if part in self._package]
        properties = find(self._root, "workbookPr")
        is_1904 = properties is not None and properties.get("date1904") in {"1", "true"}
        return Formats(parse_part(self._package, parts[0]) if parts else None, is_1904=is_1904)
