from contextlib import closing

import pytest

from muniment.processing.readers.contract import ExtractedPage, ExtractionMethod, ParagraphKind, ReadingOptions
from muniment.processing.readers.ocr.page import build_page
from muniment.processing.readers.ocr.pool import OcrPool
from muniment.processing.readers.ocr.results import OcrResult, OcrWord
from tests.processing.readers.image_files import A4, a_pdf, draw_pages, resources_with_ocr


def a_recognised(*lines: str, height: int = 20, block: int = 1, paragraph: int = 1) -> list[OcrWord]:
    """Words 100 pixels wide, side by side."""
    return [
        OcrWord(text, (x * 100, y * 30, x * 100 + 90, y * 30 + height), 0.9, block, paragraph, y + 1)
        for y, line in enumerate(lines)
        for x, text in enumerate(line.split())
    ]


def a_page(*words: OcrWord) -> ExtractedPage:
    return build_page(1, OcrResult(words, 1000, 2000), width=500, height=1000)


def words_of(page: ExtractedPage) -> list[str]:
    return [page.text[word.start : word.end] for word in page.words]


def test_lines_of_a_paragraph_run_on_and_paragraphs_are_apart() -> None:
    page = a_page(*a_recognised("one two", "three"), *a_recognised("four", paragraph=2), *a_recognised("five", block=2))
    assert page.text == "one two three\n\nfour\n\nfive"
    assert [page.text[each.start : each.end] for each in page.paragraphs] == ["one two three", "four", "five"]
    assert words_of(page) == ["one", "two", "three", "four", "five"]


def test_a_word_split_by_a_line_end_is_one_word_with_the_box_of_its_first_part() -> None:
    page = a_page(*a_recognised("a long hyphen-", "ated word", "in Baden-", "Baden"))
    assert page.text == "a long hyphenated word in Baden-Baden"
    assert words_of(page) == ["a", "long", "hyphenated", "word", "in", "Baden-Baden"]
    assert page.words[2].box == (100.0, 0.0, 145.0, 10.0)


def test_a_word_split_over_three_lines_is_one_word() -> None:
    page = a_page(*a_recognised("very-", "long-", "ish word"))
    assert words_of(page)[-1] == "word"
    assert "".join(words_of(page)[:-1]) in page.text


def test_boxes_are_in_points_of_the_page() -> None:
    page = a_page(*a_recognised("one two", "three"))
    assert page.words[1].box == (50.0, 0.0, 95.0, 10.0)
    assert page.paragraphs[0].box == (0.0, 0.0, 95.0, 25.0)
    assert (page.width, page.height) == (500, 1000)


def test_confidence_is_the_mean_of_the_words() -> None:
    sure, unsure = a_recognised("one two")
    unsure = OcrWord(unsure.text, unsure.box, 0.5, 1, 1, 1)
    assert a_page(sure, unsure).confidence == pytest.approx(0.7)


def test_a_page_without_words_has_no_text_and_no_confidence() -> None:
    page = a_page()
    assert (page.text, page.method, page.confidence, page.paragraphs) == ("", ExtractionMethod.NONE, None, ())


@pytest.mark.parametrize(
    ("words", "kind"),
    [
        (a_recognised("Annual report", height=40), ParagraphKind.HEADING),
        (a_recognised("Annual report"), ParagraphKind.TEXT),
        (a_recognised("2. second item"), ParagraphKind.LIST_ITEM),
        (a_recognised("Abb. 3 Der Hafen"), ParagraphKind.CAPTION),
    ],
)
def test_paragraphs_are_told_apart_by_size_and_beginning(words: list[OcrWord], kind: ParagraphKind) -> None:
    body = a_recognised(*["words of the usual height"] * 5, block=2)
    assert a_page(*words, *body).paragraphs[0].kind is kind


def test_two_scanned_columns_are_read_one_after_the_other() -> None:
    def draw(canvas: object) -> None:
        for x, side in ((50, "left"), (320, "right")):
            for row in range(12):
                canvas.drawString(x, 750 - row * 16, f"Line {row} of the {side} hand column")  # type: ignore[attr-defined]

    (scan,) = draw_pages(a_pdf(draw), 150)
    with closing(OcrPool(resources_with_ocr(), ReadingOptions())) as pool:
        page = build_page(7, pool.wait_for_result(pool.submit(scan, 150)), width=A4[0], height=A4[1])
    assert page.number == 7
    assert page.method is ExtractionMethod.OCR
    assert page.text.rindex("left") < page.text.index("right")
    for word in page.words:
        assert word.box[2] < 300 or word.box[0] > 300
