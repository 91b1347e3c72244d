import io

import pptx
from pptx.util import Inches

from muniment.documents.media_types.types import PPTX
from muniment.processing.readers.contract import ExtractionMethod
from tests.processing.readers.office_files import a_png, paragraphs, read


def saved(deck: "pptx.presentation.Presentation") -> bytes:
    file = io.BytesIO()
    deck.save(file)
    return file.getvalue()


def test_a_slide_is_a_page_read_from_top_to_bottom_with_its_notes_last() -> None:
    deck = pptx.Presentation()
    slide = deck.slides.add_slide(deck.slide_layouts[1])
    table = slide.shapes.add_table(2, 2, Inches(1), Inches(6), Inches(3), Inches(1)).table
    table.cell(0, 0).text, table.cell(1, 1).text = "a", "d"
    slide.shapes.title.text = "Title"
    slide.placeholders[1].text = "one\ntwo"
    slide.shapes.add_textbox(Inches(4), Inches(0.1), Inches(1), Inches(0.1)).text_frame.text = "right"
    slide.shapes.add_textbox(Inches(1), Inches(0.15), Inches(1), Inches(0.1)).text_frame.text = "left"
    slide.notes_slide.notes_text_frame.text = "note"
    deck.slides.add_slide(deck.slide_layouts[6])
    first, second = read(saved(deck), PPTX)
    assert paragraphs(first) == [
        ("text", "left"),
        ("text", "right"),
        ("heading", "Title"),
        ("list_item", "one"),
        ("list_item", "two"),
        ("table", "a\n\td"),
        ("text", "note"),
    ]
    assert second.method is ExtractionMethod.NONE


def test_shapes_of_a_group_stand_where_the_group_puts_them() -> None:
    deck = pptx.Presentation()
    slide = deck.slides.add_slide(deck.slide_layouts[6])
    slide.shapes.add_textbox(Inches(1), Inches(2), Inches(1), Inches(1)).text_frame.text = "second"
    group = slide.shapes.add_group_shape()
    group.shapes.add_textbox(Inches(1), Inches(5), Inches(1), Inches(1)).text_frame.text = "first"
    group.top = Inches(0.5)
    assert read(saved(deck), PPTX)[0].text == "first\n\nsecond"


def test_pictures_are_figures_and_ornaments_are_not() -> None:
    deck = pptx.Presentation()
    slide = deck.slides.add_slide(deck.slide_layouts[6])
    slide.shapes.add_picture(io.BytesIO(a_png()), 0, 0)
    slide.shapes.add_picture(io.BytesIO(a_png(20, 20)), 0, 0)
    (page,) = read(saved(deck), PPTX)
    assert [(figure.width_px, figure.source) for figure in page.figures] == [(200, "ppt/media/image1.png")]
