"""Reader of presentations: one page per slide, in reading order, with the speaker's notes at its end."""

from collections.abc import Iterator
from typing import BinaryIO

from muniment.processing.readers.blocks import Block, in_one_line, make_page, make_table, tidy
from muniment.processing.readers.captions import name_figures
from muniment.processing.readers.contract import Means, Method, Options, Page, ParagraphKind, Reading
from muniment.processing.readers.errors import Code, Unreadable, damage_is_unreadable
from muniment.processing.readers.office.images import Pictures
from muniment.processing.readers.office.package import Package
from muniment.processing.readers.office.pptx.positions import Places, in_visual_order
from muniment.processing.readers.office.xml import (
    Element,
    Relations,
    attribute,
    children,
    descendants,
    find,
    local_name,
    main_part,
    parse_part,
    relation_id,
)

_TITLES = ("title", "ctrTitle")


_BULLETS = frozenset({"buChar", "buAutoNum", "buBlip"})


_BULLETED_PLACEHOLDERS = ("body", "obj", "")


def is_placeholder(shape: Element, *kinds: str) -> bool:
    mark = next(descendants(shape, "ph"), None)
    return mark is not None and (attribute(mark, "type") or "") in kinds


class ShapeReader:
    def __init__(self, package: Package, relations: Relations, pictures: Pictures) -> None:
        self._package = package
        self._relations = relations
        self._pictures = pictures

    def read(self, shape: Element) -> Iterator[Block]:
        name = local_name(shape)
        if name == "pic":
            yield from self._picture(shape)
        elif name == "graphicFrame":
            yield from self._frame(shape)
        elif not is_placeholder(shape, "sldNum"):
            yield from self._text(shape)

    def _text(self, shape: Element) -> Iterator[Block]:
        """The paragraphs of a shape; a title is one heading, whatever its lines."""
        body = find(shape, "txBody")
        paragraphs = list(children(body, "p")) if body is not None else []
        if is_placeholder(shape, *_TITLES):
            yield Block(in_one_line(" ".join(map(_text_of, paragraphs))), ParagraphKind.HEADING)
            return
        is_list = is_placeholder(shape, *_BULLETED_PLACEHOLDERS)
        yield from (Block(_text_of(each), _kind_of(each, is_list=is_list)) for each in paragraphs)

    def read_notes(self, part: str) -> Iterator[Block]:
        """What the speaker wrote below a slide."""
        for shape in descendants(parse_part(self._package, part), "sp") if part in self._package else ():
            body = find(shape, "txBody") if is_placeholder(shape, "body") else None
            yield from (Block(_text_of(each)) for each in (children(body, "p") if body is not None else ()))

    def _picture(self, shape: Element) -> Iterator[Block]:
        extent = next(descendants(shape, "ext"), None)
        size = (_emu(extent, "cx"), _emu(extent, "cy")) if extent is not None else None
        blip = next(descendants(shape, "blip"), None)
        part = self._relations.find(attribute(blip, "embed")) if blip is not None else None
        yield Block("", figures=self._pictures.show(part, size))

    def _frame(self, frame: Element) -> Iterator[Block]:
        """A table, or what stands in a part of its own: a chart, a diagram."""
        for table in descendants(frame, "tbl"):
            rows = [[_cell(cell) for cell in children(row, "tc")] for row in children(table, "tr")]
            yield Block(make_table(rows), ParagraphKind.TABLE)
        for reference in descendants(frame, "relIds", "chart"):
            part = self._relations.find(attribute(reference, "dm") or attribute(reference, "id"))
            for paragraph in (
                descendants(parse_part(self._package, part), "p") if part and part in self._package else ()
            ):
                yield Block(_text_of(paragraph))


def _text_of(paragraph: Element) -> str:
    pieces = descendants(paragraph, "t", "br", "tab")
    return "".join(piece.text or "" if local_name(piece) == "t" else _SIGNS[local_name(piece)] for piece in pieces)


_SIGNS = {"br": "\n", "tab": "\t"}


def _cell(cell: Element) -> str:
    return " ".join(_text_of(paragraph) for paragraph in descendants(cell, "p"))


def _kind_of(paragraph: Element, *, is_list: bool) -> ParagraphKind:
    properties = find(paragraph, "pPr")
    marks = {local_name(child) for child in properties} if properties is not None else set()
    is_item = bool(marks & _BULLETS) or (is_list and "buNone" not in marks)
    return ParagraphKind.LIST_ITEM if is_item else ParagraphKind.TEXT


def _emu(extent: Element, name: str) -> int:
    value = attribute(extent, name) or ""
    return int(value) if value.isdecimal() and len(value) < 12 else 0


def open_file(file: BinaryIO, media_type: str, options: Options, means: Means) -> Reading:
    with damage_is_unreadable("PowerPoint"):
        package = Package(file, means.max_unpacked_bytes)
        slides = _list_slides(package)
        if len(slides) > means.max_pages:
            raise Unreadable(Code.TOO_MANY_PAGES, f"The file has more than {means.max_pages:,} slides.")
    return Reading(max(len(slides), 1), _read_slides(package, slides, Pictures(package, options)))


def _list_slides(package: Package) -> list[str]:
    main = main_part(package, "ppt/presentation.xml")
    relations = Relations(package, main)
    order = find(parse_part(package, main), "sldIdLst")
    parts = [relations.find(relation_id(entry)) for entry in (order if order is not None else ())]
    return [part for part in parts if part]


def _read_slides(package: Package, slides: list[str], pictures: Pictures) -> Iterator[Page]:
    with damage_is_unreadable("PowerPoint"):
        for number, part in enumerate(slides, start=1):
            try:
                blocks = name_figures(_read_slide(package, part, pictures))
            except Unreadable as error:  # the others may be sound
                yield Page(number, "", Method.NONE, problem=error.message)
                continue
            yield make_page(number, blocks)
    if not slides:
        yield make_page(1, ())


def _read_slide(package: Package, part: str, pictures: Pictures) -> Iterator[Block]:
    relations = Relations(package, part)
    shapes = ShapeReader(package, relations, pictures)
    tree = find(parse_part(package, part), "cSld", "spTree")
    if tree is not None:
        for shape in in_visual_order(tree, Places(package, relations)):
            yield from map(_tidied, shapes.read(shape))
    for notes in relations.of_kind("notesSlide"):
        yield from map(_tidied, shapes.read_notes(notes))


def _tidied(block: Block) -> Block:
    return Block(tidy(block.text).lstrip(), block.kind, block.figures)
