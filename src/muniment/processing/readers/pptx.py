"""Presentations: a slide is a page, read from its top to its bottom, with the speaker's notes at its end."""

from collections.abc import Iterator
from typing import BinaryIO

from muniment.processing.readers.captions import name_figures
from muniment.processing.readers.contract import Code, Means, Method, Options, Page, Reading, Unreadable
from muniment.processing.readers.damage import damage_is_unreadable
from muniment.processing.readers.packed import Package
from muniment.processing.readers.paging import make_page
from muniment.processing.readers.part_pictures import Pictures
from muniment.processing.readers.part_xml import Relations, find, main_part, parse_part, relation_id
from muniment.processing.readers.pptx_places import Places, in_visual_order
from muniment.processing.readers.pptx_shapes import ShapeReader
from muniment.processing.readers.text_blocks import Block, tidy


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
