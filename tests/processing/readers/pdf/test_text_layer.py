from functools import partial

import pytest
from reportlab.pdfgen.canvas import Canvas

from muniment.processing.readers.contract import ParagraphKind
from muniment.processing.readers.pdf.text.text_layer import normalize_text
from tests.processing.readers.pdf.pdf_reading import box_of, check_spans, kinds, page, pages, paragraphs
from tests.processing.readers.pdf_files import HEIGHT, PROSE, WIDTH, mapped, page_of, pdf, together, turned, write
from tests.support.corpus import FILES


def test_line_ends_within_a_paragraph_are_spaces() -> None:
    assert page(pdf(page_of(*PROSE))).text == " ".join(PROSE)


@pytest.mark.parametrize(
    ("lines", "text"),
    [
        (("It was hyphen-", "ated here"), "It was hyphenated here"),
        (("Meine E-Mail-", "Adresse steht hier"), "Meine E-Mail-Adresse steht hier"),
        (("In the years 2024-", "25 and later"), "In the years 2024-25 and later"),
        (("Alle Vor-", "und Nachteile"), "Alle Vor- und Nachteile"),
    ],
)
def test_a_word_that_a_line_end_split_is_one_word(lines: tuple[str, str], text: str) -> None:
    assert page(pdf(page_of(*lines))).text == text


def test_a_soft_hyphen_is_never_seen() -> None:
    assert page(mapped(["co\u00adoperate with Ar\u00ad", "beit"])).text == "cooperate with Arbeit"


def test_a_joined_word_has_the_box_of_its_first_part() -> None:
    read = page(pdf(page_of("It was hyphen-", "ated here")))
    assert box_of(read, "hyphenated")[1] == box_of(read, "was")[1]


def test_ligatures_are_resolved_and_powers_and_fractions_stay() -> None:
    assert page(mapped(["ﬁnal ﬂow oﬃce m² ½"])).text == "final flow office m² ½"


def test_a_ligature_that_pdfium_leaves_is_resolved() -> None:
    assert normalize_text("aﬀable oﬃce ﬅ x²½") == "affable office st x²½"


def test_characters_that_show_nothing_are_left_out() -> None:
    assert page(mapped(["wo\x01rd\u200b and\x00 \x02 more"])).text == "word and more"


def test_characters_beyond_the_basic_plane_keep_spans_right() -> None:
    assert page(mapped(["smile 😀 and 𝔘nicode goes on"])).text == "smile 😀 and 𝔘nicode goes on"


def test_a_bigger_or_bold_line_is_a_heading() -> None:
    big = partial(write, left=72, top=80, lines=["Big words"], size=18)
    bold = partial(write, left=72, top=220, lines=["Bold words"], font="Helvetica-Bold")
    more = partial(write, left=72, top=234, lines=PROSE)
    read = page(pdf(together(big, page_of(*PROSE), bold, more)))
    assert kinds(read) == [ParagraphKind.HEADING, ParagraphKind.TEXT, ParagraphKind.HEADING, ParagraphKind.TEXT]


def test_list_items_are_paragraphs_of_their_own() -> None:
    read = page(pdf(page_of("Things to do:", "• first", "• second which", "   goes on", "1. third")))
    assert paragraphs(read) == ["Things to do:", "• first", "• second which goes on", "1. third"]
    assert kinds(read) == [ParagraphKind.TEXT, *[ParagraphKind.LIST_ITEM] * 3]


@pytest.mark.parametrize("caption", ["Figure 3: What was found", "Abbildung 2. Ein Bild", "Table 1 Prices"])
def test_a_caption_is_known_by_its_first_words(caption: str) -> None:
    assert kinds(page(pdf(page_of(caption)))) == [ParagraphKind.CAPTION]


def test_a_gap_and_an_indent_begin_a_paragraph() -> None:
    indented = partial(write, left=90, top=181, lines=["Indented it begins and goes on for"])
    rest = partial(write, left=72, top=194.5, lines=PROSE[:2])
    apart = partial(write, left=72, top=240, lines=PROSE[:2])
    read = page(pdf(together(page_of(*PROSE), indented, rest, apart)))
    assert [text.split()[0] for text in paragraphs(read)] == ["The", "Indented", "The"]


@pytest.mark.parametrize(
    ("degrees", "box"),
    [
        (0, (72, 100 - 11, 100, 100)),
        (90, (HEIGHT - 100, 72, HEIGHT - 100 + 11, 100)),
        (180, (WIDTH - 100, HEIGHT - 100, WIDTH - 72, HEIGHT - 100 + 11)),
        (270, (100 - 11, WIDTH - 100, 100, WIDTH - 72)),
    ],
)
def test_boxes_are_those_of_the_page_as_shown(degrees: int, box: tuple[float, float, float, float]) -> None:
    read = page(turned(pdf(page_of("Hello turned world")), degrees))
    assert read.text == "Hello turned world"
    assert (read.width, read.height) == (
        (round(HEIGHT, 2), round(WIDTH, 2)) if degrees % 180 else (round(WIDTH, 2), round(HEIGHT, 2))
    )
    assert read.rotation == degrees
    assert box_of(read, "Hello") == pytest.approx(box, abs=4)


@pytest.mark.parametrize("degrees", [90, 180, 270])
def test_text_that_was_drawn_turned_is_read_along_its_lines(degrees: int) -> None:
    def draw(canvas: Canvas) -> None:
        canvas.translate(WIDTH / 2, HEIGHT / 2)
        canvas.rotate(degrees)
        for place, line in enumerate(PROSE):
            canvas.drawString(0, -14 * place, line)

    read = page(pdf(draw))
    assert read.text == " ".join(PROSE)
    for word in read.words:
        left, top, right, bottom = word.box
        assert 0 <= left < right <= WIDTH
        assert 0 <= top < bottom <= HEIGHT


def test_a_page_turned_to_set_its_text_upright_has_upright_boxes() -> None:
    def draw(canvas: Canvas) -> None:
        canvas.rotate(90)
        canvas.drawString(100, -200, "sideways until the page is turned")

    left, top, right, bottom = box_of(page(turned(pdf(draw), 90)), "sideways")
    assert left == pytest.approx(100, abs=1)
    assert right - left > 2 * (bottom - top)
    assert bottom == pytest.approx(200, abs=5)


def test_a_watermark_across_the_page_stands_behind_its_text() -> None:
    def draw(canvas: Canvas) -> None:
        canvas.saveState()
        canvas.translate(200, 300)
        canvas.rotate(45)
        canvas.drawString(0, 0, "Draft only")
        canvas.restoreState()

    assert paragraphs(page(pdf(together(draw, page_of(*PROSE))))) == [" ".join(PROSE), "Draft only"]


def test_text_outside_of_the_page_is_not_read() -> None:
    assert page(pdf(together(page_of("inside"), partial(write, left=72, top=-40, lines=["outside"])))).text == "inside"


def test_what_was_filled_into_a_form_is_read() -> None:
    def form(canvas: Canvas) -> None:
        canvas.acroForm.textfield(name="name", value="Filled in by hand", x=72, y=600, width=200, height=20)
        canvas.acroForm.choice(name="pick", value="Two", options=["One", "Two"], x=72, y=500, width=90, height=20)

    assert paragraphs(page(pdf(together(page_of("Name:"), form)))) == ["Name:", "Filled in by hand", "Two"]


def test_equal_bytes_give_equal_pages() -> None:
    file = pdf(together(page_of(*PROSE), partial(write, left=320, top=100, lines=PROSE)))
    assert pages(file) == pages(file)


def test_real_files_keep_what_the_contract_promises() -> None:
    for path in FILES:
        if "password" not in path.name:
            for read in pages(path.read_bytes()):
                check_spans(read)
