"""Reader of presentations: one page per slide, in reading order, with the speaker notes at its end."""

from collections.abc import Iterator
from typing import BinaryIO

from muniment.processing.readers.blocks import Block, clean_text, collapse_whitespace, make_page, make_table
from muniment.processing.readers.captions import assign_captions
from muniment.processing.readers.contract import (
    ExtractedPage,
    ExtractionMethod,
    OpenedDocument,
    ParagraphKind,
    ReaderResources,
    ReadingOptions,
)
from muniment.processing.readers.errors import Unreadable, UnreadableCode, parser_errors_as_unreadable
from muniment.processing.readers.office.images import EmbeddedImages
from muniment.processing.readers.office.package import OfficePackage
from muniment.processing.readers.office.pptx.positions import PlaceholderPositions, in_reading_order
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
    relationship_id,
)

_TITLES = ("title", "ctrTitle")


_BULLETS = frozenset({"buChar", "buAutoNum", "buBlip"})


_BULLETED_PLACEHOLDERS = ("body", "obj", "")


def is_placeholder(shape: Element, *kinds: str) -> bool:
    mark = next(descendants(shape, "ph"), None)
    return mark is not None and (attribute(mark, "type") or "") in kinds


class ShapeReader:
    def __init__(self, package: OfficePackage, relationships: Relationships, images: EmbeddedImages) -> None:
        self._package = package
        self._relationships = relationships
        self._images = images

    def read(self, shape: Element) -> Iterator[Block]:
        name = local_name(shape)
        if name == "pic":
            yield from self._image_block(shape)
        elif name == "graphicFrame":
            yield from self._frame(shape)
        elif not is_placeholder(shape, "sldNum"):
            yield from self._text(shape)

    def _text(self, shape: Element) -> Iterator[Block]:
        """Yield the paragraphs of a shape; a title is one heading, whatever its lines."""
        body = find(shape, "txBody")
        paragraphs = list(children(body, "p")) if body is not None else []
        if is_placeholder(shape, *_TITLES):
            yield Block(collapse_whitespace(" ".join(map(_paragraph_text, paragraphs))), ParagraphKind.HEADING)
            return
        is_list = is_placeholder(shape, *_BULLETED_PLACEHOLDERS)
        yield from (Block(_paragraph_text(each), _paragraph_kind(each, is_list=is_list)) for each in paragraphs)

    def read_notes(self, part: str) -> Iterator[Block]:
        """Return the speaker notes of a slide."""
        for shape in descendants(parse_part(self._package, part), "sp") if part in self._package else ():
            body = find(shape, "txBody") if is_placeholder(shape, "body") else None
            yield from (Block(_paragraph_text(each)) for each in (children(body, "p") if body is not None else ()))

    def _image_block(self, shape: Element) -> Iterator[Block]:
        extent = next(descendants(shape, "ext"), None)
        size = (_extent_emu(extent, "cx"), _extent_emu(extent, "cy")) if extent is not None else None
        blip = next(descendants(shape, "blip"), None)
        part = self._relationships.find_target(attribute(blip, "embed")) if blip is not None else None
        yield Block("", figures=self._images.figure_for(part, size))

    def _frame(self, frame: Element) -> Iterator[Block]:
        """Yield a table, or the content of a separate part: a chart or a diagram."""
        for table in descendants(frame, "tbl"):
            rows = [[_cell_text(cell) for cell in children(row, "tc")] for row in children(table, "tr")]
            yield Block(make_table(rows), ParagraphKind.TABLE)
        for reference in descendants(frame, "relIds", "chart"):
            part = self._relationships.find_target(attribute(reference, "dm") or attribute(reference, "id"))
            for paragraph in (
                descendants(parse_part(self._package, part), "p") if part and part in self._package else ()
            ):
                yield Block(_paragraph_text(paragraph))


def _paragraph_text(paragraph: Element) -> str:
    pieces = descendants(paragraph, "t", "br", "tab")
    return "".join(
        piece.text or "" if local_name(piece) == "t" else _SPECIAL_CHARACTERS[local_name(piece)] for piece in pieces
    )


_SPECIAL_CHARACTERS = {"br": "\n", "tab": "\t"}


def _cell_text(cell: Element) -> str:
    return " ".join(_paragraph_text(paragraph) for paragraph in descendants(cell, "p"))


def _paragraph_kind(paragraph: Element, *, is_list: bool) -> ParagraphKind:
    properties = find(paragraph, "pPr")
    marks = {local_name(child) for child in properties} if properties is not None else set()
    is_item = bool(marks & _BULLETS) or (is_list and "buNone" not in marks)
    return ParagraphKind.LIST_ITEM if is_item else ParagraphKind.TEXT


def _extent_emu(extent: Element, name: str) -> int:
    value = attribute(extent, name) or ""
    return int(value) if value.isdecimal() and len(value) < 12 else 0


def open_file(file: BinaryIO, media_type: str, options: ReadingOptions, resources: ReaderResources) -> OpenedDocument:
    with parser_errors_as_unreadable("PowerPoint"):
        package = OfficePackage(file, resources)
        slides = _list_slides(package)
        if len(slides) > resources.max_pages:
            raise Unreadable(UnreadableCode.TOO_MANY_PAGES, f"The file has more than {resources.max_pages:,} slides.")
    return OpenedDocument(max(len(slides), 1), _read_slides(package, slides, EmbeddedImages(package, options)))


def _list_slides(package: OfficePackage) -> list[str]:
    main = main_document_part(package, "ppt/presentation.xml")
    relationships = Relationships(package, main)
    order = find(parse_part(package, main), "sldIdLst")
    parts = [relationships.find_target(relationship_id(entry)) for entry in (order if order is not None else ())]
    return [part for part in parts if part]


def _read_slides(package: OfficePackage, slides: list[str], images: EmbeddedImages) -> Iterator[ExtractedPage]:
    with parser_errors_as_unreadable("PowerPoint"):
        for number, part in enumerate(slides, start=1):
            try:
                blocks = assign_captions(_read_slide(package, part, images))
            except Unreadable as error:  # other slides may be intact
                yield ExtractedPage(number, "", ExtractionMethod.NONE, problem=error.message)
                continue
            yield make_page(number, blocks)
    if not slides:
        yield make_page(1, ())


def _read_slide(package: OfficePackage, part: str, images: EmbeddedImages) -> Iterator[Block]:
    relationships = Relationships(package, part)
    shapes = ShapeReader(package, relationships, images)
    tree = find(parse_part(package, part), "cSld", "spTree")
    if tree is not None:
        for shape in in_reading_order(tree, PlaceholderPositions(package, relationships)):
            yield from map(_clean_block, shapes.read(shape))
    for notes in relationships.targets_of_type("notesSlide"):
        yield from map(_clean_block, shapes.read_notes(notes))


def _clean_block(block: Block) -> Block:
    return Block(clean_text(block.text).lstrip(), block.kind, block.figures)
