import hashlib
import io

import docx
import pytest
from docx.enum.section import WD_SECTION
from docx.enum.text import WD_BREAK

from muniment.documents.media_types.types import DOCX
from muniment.processing.readers.contract import Figure, FigureKind, ReadingOptions
from muniment.processing.readers.errors import Unreadable, UnreadableCode
from tests.processing.readers.office_files import STRICT_W, a_docx, a_png, paragraphs, read, w


def saved(document: "docx.document.Document") -> bytes:
    file = io.BytesIO()
    document.save(file)
    return file.getvalue()


def test_headings_items_and_nested_tables_come_in_their_order() -> None:
    document = docx.Document()
    document.sections[0].header.paragraphs[0].text = "Letterhead"
    document.add_heading("Head", 1)
    document.add_paragraph("item", style="List Bullet")
    table = document.add_table(2, 2)
    table.cell(0, 0).text = "a"
    table.cell(0, 1).add_table(1, 1).cell(0, 0).text = "nested"
    table.cell(1, 1).text = "d"
    document.add_paragraph("end")
    (page,) = read(saved(document), DOCX)
    assert paragraphs(page) == [
        ("text", "Letterhead"),
        ("heading", "Head"),
        ("list_item", "item"),
        ("table", "a\tnested\n\td"),
        ("text", "end"),
    ]


def test_pages_begin_at_breaks_and_at_sections_that_ask_for_one() -> None:
    document = docx.Document()
    document.add_paragraph("one").add_run().add_break(WD_BREAK.PAGE)
    document.add_paragraph("two")
    document.add_section(WD_SECTION.NEW_PAGE)
    document.add_paragraph("three")
    document.add_section(WD_SECTION.CONTINUOUS)
    document.add_paragraph("still three")
    assert [page.text for page in read(saved(document), DOCX)] == ["one", "two", "three\n\nstill three"]


def test_a_break_that_is_marked_twice_is_one() -> None:
    body = (
        '<w:p><w:r><w:t>a</w:t><w:br w:type="page"/></w:r></w:p>'
        "<w:p><w:r><w:lastRenderedPageBreak/><w:t>b</w:t></w:r></w:p>"
    )
    assert [page.text for page in read(a_docx(body), DOCX)] == ["a", "b"]


def test_a_long_page_is_cut_between_paragraphs() -> None:
    pages = read(a_docx(w("x" * 60) * 5), DOCX, ReadingOptions(text_page_characters=100))
    assert [len(page.text) for page in pages] == [122, 122, 60]


def test_a_picture_is_a_figure_with_its_caption() -> None:
    document = docx.Document()
    document.add_picture(io.BytesIO(a_png()))
    document.add_paragraph("Figure 1: a red thing")
    (page,) = read(saved(document), DOCX)
    sha256 = hashlib.sha256(a_png()).hexdigest()
    expected = Figure(FigureKind.PICTURE, sha256, 200, 100, None, "Figure 1: a red thing", "word/media/image1.png")
    assert page.figures == (expected,)
    assert paragraphs(page) == [("caption", "Figure 1: a red thing")]


BEGIN, SEPARATE, END = (f'<w:fldChar w:fldCharType="{move}"/>' for move in ("begin", "separate", "end"))
BOX = f"<w:txbxContent>{w('box')}</w:txbxContent>"
CHOICE = (
    f"<mc:AlternateContent><mc:Choice><w:drawing>{BOX}</w:drawing></mc:Choice>"
    f"<mc:Fallback><w:pict>{BOX}</w:pict></mc:Fallback></mc:AlternateContent>"
)
INLINE = [
    ("<w:ins><w:r><w:t>new</w:t></w:r></w:ins><w:del><w:r><w:delText>old</w:delText></w:r></w:del>", "new"),
    ('<w:hyperlink r:id="x"><w:r><w:t>link</w:t></w:r></w:hyperlink>', "link"),
    ("<w:r><w:t>soft</w:t><w:softHyphen/><w:t>ly\u00ad</w:t><w:noBreakHyphen/></w:r>", "softly-"),
    (f"<w:r>{BEGIN}<w:instrText>DATE</w:instrText><w:t>no</w:t>{SEPARATE}<w:t>today</w:t>{END}</w:r>", "today"),
    ("<w:r><w:rPr><w:vanish/></w:rPr><w:t>hidden</w:t></w:r><w:r><w:t>seen</w:t></w:r>", "seen"),
    (f"<w:r>{CHOICE}<w:t>text</w:t></w:r>", "text\n\nbox"),
]


@pytest.mark.parametrize(("runs", "text"), INLINE)
def test_a_paragraph_reads_as_a_person_sees_it(runs: str, text: str) -> None:
    assert read(a_docx(f"<w:p>{runs}</w:p>"), DOCX)[0].text == text


def test_notes_stand_at_the_end_with_their_marks() -> None:
    body = '<w:p><w:r><w:t>Text</w:t><w:footnoteReference w:id="2"/></w:r></w:p>' + w("more")
    notes = f'<w:footnote w:id="2">{w("the note")}</w:footnote>'
    assert read(a_docx(body, footnotes=notes), DOCX)[0].text == "Text[1]\n\nmore\n\n[1] the note"


def test_the_strict_dialect_is_read_too() -> None:
    assert read(a_docx(w("strict"), namespace=STRICT_W), DOCX)[0].text == "strict"


ENTITIES = [
    '<!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/passwd">]>',
    '<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;"><!ENTITY e "&b;&b;&b;&b;&b;&b;">]>',
]


@pytest.mark.parametrize("declared", ENTITIES)
def test_entities_are_refused(declared: str) -> None:
    with pytest.raises(Unreadable) as refused:
        read(a_docx(w("&e;"), before=declared), DOCX)
    assert refused.value.code is UnreadableCode.CORRUPT


def test_a_document_nested_without_end_is_refused() -> None:
    body = "<w:tbl><w:tr><w:tc>" * 5000 + "</w:tc></w:tr></w:tbl>" * 5000
    with pytest.raises(Unreadable):
        read(a_docx(body), DOCX)
