import io
from datetime import date, datetime, time, timedelta

import pytest
from openpyxl import Workbook

from muniment.documents.media_types.types import XLSX
from muniment.processing.readers.contract import ReaderResources, ReadingOptions
from muniment.processing.readers.errors import Unreadable, UnreadableCode
from tests.processing.readers.office_files import R, a_zip, paragraphs, read


def saved(book: Workbook) -> bytes:
    file = io.BytesIO()
    book.save(file)
    return file.getvalue()


def a_sheet(inside: str) -> bytes:
    return a_zip({
        "xl/workbook.xml": f'<workbook xmlns:r="{R}"><sheets><sheet name="S" r:id="s"/></sheets></workbook>',
        "xl/_rels/workbook.xml.rels": '<Relationships><Relationship Id="s" Type="x" Target="s.xml"/></Relationships>',
        "xl/s.xml": f"<worksheet>{inside}</worksheet>",
    })  # fmt: skip


SHOWN: list[tuple[object, str, str]] = [
    (1234.5, '#,##0.00 "€"', "1,234.50 €"),
    (-1234.5, "[$€-407] #,##0.00;[Red]-#,##0.00", "€ -1,234.50"),
    (0.125, "0.0%", "12.5%"),
    (7, "00000", "00007"),
    (0.1 + 0.2, "General", "0.3"),
    (date(2024, 3, 1), "d. mmmm yyyy", "2024-03-01"),
    (datetime(2024, 1, 2, 13, 45), "dd/mm/yy hh:mm", "2024-01-02 13:45:00"),  # noqa: DTZ001
    (time(13, 45), "h:mm AM/PM", "13:45:00"),
    (timedelta(hours=30), "[h]:mm:ss", "30:00:00"),
    (True, "General", "TRUE"),
]


@pytest.mark.parametrize(("value", "number_format", "shown"), SHOWN)
def test_a_value_is_shown_as_in_its_cell(value: object, number_format: str, shown: str) -> None:
    book = Workbook()
    cell = book.worksheets[0].cell(1, 1)
    cell.value, cell.number_format = value, number_format  # type: ignore[assignment]
    assert read(saved(book), XLSX)[0].text == f"Sheet\n\n{shown}"


def test_sheets_come_in_order_without_empty_rows_and_columns_and_the_hidden_ones_too() -> None:
    book = Workbook()
    book.worksheets[0]["C3"], book.worksheets[0]["XFD9"] = "near", "far"
    book.worksheets[0]["C9"] = "x"
    hidden = book.create_sheet("Hidden")
    hidden.sheet_state = "hidden"
    hidden["A1"] = "secret"
    first, second = read(saved(book), XLSX)
    assert paragraphs(first) == [("heading", "Sheet"), ("table", "near\nx\tfar")]
    assert paragraphs(second) == [("heading", "Hidden"), ("table", "secret")]


def test_the_cached_value_of_a_formula_is_read() -> None:
    row = '<row><c r="A1"><f>1+1</f><v>2</v></c><c r="B1" t="str"><f>x</f><v>text</v></c></row>'
    assert read(a_sheet(f"<sheetData>{row}</sheetData>"), XLSX)[0].text == "S\n\n2\ttext"


def test_a_big_sheet_is_cut_between_rows() -> None:
    rows = "".join(f'<row><c t="str"><v>row {number:04}</v></c></row>' for number in range(100))
    pages = read(a_sheet(f"<sheetData>{rows}</sheetData>"), XLSX, ReadingOptions(text_page_characters=200))
    assert all(len(page.text) <= 200 for page in pages)
    assert "\n".join(page.text for page in pages).count("row ") == 100
    assert all(len(line) == 8 for page in pages[1:] for line in page.text.split("\n"))


def test_declared_dimensions_cost_nothing() -> None:
    inside = '<dimension ref="A1:XFD1048576"/><sheetData><row r="1048576"/></sheetData>'
    assert read(a_sheet(inside), XLSX)[0].text == "S"


def test_few_cells_far_from_each_other_do_not_make_a_text_of_tabs() -> None:
    rows = "".join(f'<row><c r="{chr(65 + n // 26)}{chr(65 + n % 26)}1"><v>1</v></c></row>' for n in range(600))
    pages = read(a_sheet(f"<sheetData>{rows}</sheetData>"), XLSX)
    assert sum(len(page.text) for page in pages) < 100_000


def test_the_pages_of_a_long_sheet_are_limited() -> None:
    row = f'<row><c t="inlineStr"><is><t>{"x" * 5000}</t></is></c></row>'
    assert len(read(a_sheet(row * 10), XLSX)) > 3
    with pytest.raises(Unreadable) as refused:
        read(a_sheet(row * 10), XLSX, resources=ReaderResources(max_pages=3))
    assert refused.value.code is UnreadableCode.TOO_MANY_PAGES
