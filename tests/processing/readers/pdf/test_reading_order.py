from functools import partial

import pytest
from reportlab.pdfgen.canvas import Canvas

from muniment.processing.readers.contract import ParagraphKind
from tests.processing.readers.pdf.pdf_reading import kinds, page, paragraphs
from tests.processing.readers.pdf_files import PROSE, column, mapped, page_of, pdf, table, together, write

PRICES = (("Item", "Quantity", "Price"), ("Apples", "12", "3.50"), ("Pears", "7", "2.10"), ("Plums", "120", "14.00"))
PRICES_TEXT = "Item\tQuantity\tPrice\nApples\t12\t3.50\nPears\t7\t2.10\nPlums\t120\t14.00"
LONG_LINE = "This line is long enough to go across every column of the table that follows it here."


def read_through(name: str) -> str:
    return " ".join(f"{name} {line}" for line in PROSE)


def narrow(name: str, left: float) -> partial[None]:
    lines = [
        f"{name} {words}"
        for words in ("keeps all of those", "papers that we have", "sent to it since the", "very first day here")
    ]
    return partial(write, left=left, top=140, lines=lines, size=10)


def test_two_columns_are_read_one_after_the_other() -> None:
    read = page(pdf(together(column("Left", 60), column("Right", 320))))
    assert paragraphs(read) == [read_through("Left"), read_through("Right")]


def test_columns_that_were_drawn_line_by_line_across_are_still_columns() -> None:
    def across(canvas: Canvas) -> None:
        for place, line in enumerate(PROSE):
            for name, left in (("Left", 60), ("Right", 320)):
                write(canvas, left, 140 + 13.5 * place, [f"{name} {line}"])

    assert paragraphs(page(pdf(across))) == [read_through("Left"), read_through("Right")]


def test_three_columns_are_read_one_after_the_other() -> None:
    read = page(pdf(together(narrow("M", 225), narrow("R", 390), narrow("L", 60))))
    assert [text[0] for text in paragraphs(read)] == ["L", "M", "R"]


def test_a_heading_over_two_columns_comes_first_and_the_footer_last() -> None:
    heading = partial(write, left=60, top=90, lines=["A heading as wide as both of the columns are together"], size=18)
    footer = partial(write, left=60, top=800, lines=["Footer"])
    read = page(pdf(together(footer, column("Left", 60), column("Right", 320), heading)))
    assert [text.split()[0] for text in paragraphs(read)] == ["A", "Left", "Right", "Footer"]
    assert kinds(read)[0] is ParagraphKind.HEADING


@pytest.mark.parametrize("ruled", [False, True])
def test_a_table_is_one_paragraph_with_a_line_per_row(ruled: bool) -> None:
    after = partial(write, left=72, top=280, lines=[LONG_LINE])
    read = page(pdf(together(page_of(LONG_LINE), table(PRICES, (72, 200, 300), top=160, ruled=ruled), after)))
    assert paragraphs(read) == [LONG_LINE, PRICES_TEXT, LONG_LINE]
    assert kinds(read)[1] is ParagraphKind.TABLE


def test_an_empty_cell_keeps_its_place() -> None:
    rows = (("", "2023", "2024"), ("Income", "10", "12"), ("Costs", "", "9"), ("Staff", "4", "5"))
    assert (
        page(pdf(table(rows, (72, 200, 300), top=160))).text == "\t2023\t2024\nIncome\t10\t12\nCosts\t\t9\nStaff\t4\t5"
    )


def test_a_cell_of_two_lines_stays_one_cell() -> None:
    rows = (("No", "Description", "Price"), ("1", "Advice on how", "20.00"), ("2", "Licence", "9.00"))
    more = partial(write, left=150, top=191, lines=["to keep papers"])
    last = partial(write, left=150, top=211, lines=["for a year"])
    read = page(pdf(together(table(rows, (72, 150, 300), top=160), more, last)))
    rest = "1\tAdvice on how to keep papers\t20.00\n2\tLicence for a year\t9.00"
    assert read.text == f"No\tDescription\tPrice\n{rest}"


def test_a_table_between_two_columns_of_text_stays_in_its_column() -> None:
    below = partial(write, left=60, top=240, lines=[f"Left {line}" for line in PROSE])
    small = table((("ours", "3"), ("theirs", "17"), ("others", "41")), (340, 440), top=240)
    read = page(pdf(together(column("Left", 60), column("Right", 320), below, small)))
    assert [text.split()[0] for text in paragraphs(read)] == ["Left", "Left", "Right", "ours"]
    assert paragraphs(read)[-1] == "ours\t3\ntheirs\t17\nothers\t41"


def test_spaced_out_lines_are_no_table() -> None:
    def justified(canvas: Canvas) -> None:
        for place, line in enumerate(
            ("Internationalisation, characteristically,", "straightforwardly, nevertheless,") * 2
        ):
            text = canvas.beginText(72, 700 - 13 * place)
            text.setFont("Helvetica", 11)
            text.setWordSpace(28 + 31 * (place % 2))
            text.textOut(line)
            canvas.drawText(text)

    assert kinds(page(pdf(justified))) == [ParagraphKind.TEXT]


def test_hebrew_is_read_from_the_right_in_the_order_of_its_letters() -> None:
    lines = ("שלום עולם טוב", "שורה שניה כאן")
    assert page(mapped([line[::-1] for line in lines])).text == " ".join(lines)


def test_a_latin_name_within_hebrew_keeps_its_own_order() -> None:
    assert page(mapped(["םלוע New York םולש"])).text == "שלום New York עולם"


def test_right_hand_column_of_a_hebrew_page_comes_first() -> None:
    left, right = "שמאל של הדף הזה כאן", "ימין של הדף הזה כאן"
    lines = [left[::-1] + " " * 8 + right[::-1]] * 4
    text = page(mapped(lines)).text
    assert text == " ".join([right] * 4) + "\n\n" + " ".join([left] * 4)
