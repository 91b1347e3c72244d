import pytest

from muniment.documents.media_types.types import ODT
from muniment.processing.readers.errors import Unreadable, UnreadableCode
from tests.processing.readers.office_files import a_png, an_odt, paragraphs, read

BREAK = """<style:style style:name="B" style:family="paragraph">
    <style:paragraph-properties fo:break-before="page"/></style:style>"""
NOTE = """<text:note><text:note-citation>1</text:note-citation>
    <text:note-body><text:p>said</text:p></text:note-body></text:note>"""
ITEMS = """<text:list><text:list-item><text:p>one</text:p>
    <text:list><text:list-item><text:p>two</text:p></text:list-item></text:list></text:list-item></text:list>"""


def p(text: str) -> str:
    return f"<text:p>{text}</text:p>"


def test_headings_lists_tables_and_notes_are_read() -> None:
    cells = f"<table:table-cell>{p('a')}</table:table-cell><table:table-cell table:number-columns-repeated='16000'/>"
    body = (
        "<text:h>Head</text:h>" + p(f"Two<text:s text:c='2'/>spaces{NOTE}<text:tab/>end") + ITEMS
        + f"<table:table><table:table-row table:number-rows-repeated='1000000'>{cells}</table:table-row></table:table>"
    )  # fmt: skip
    (page,) = read(an_odt(body), ODT)
    heading, text, one, two, table, said = paragraphs(page)
    assert [heading, text, one, two] == [
        ("heading", "Head"),
        ("text", "Two  spaces[1]\tend"),
        ("list_item", "one"),
        ("list_item", "two"),
    ]
    assert table == ("table", "\n".join("a" * 100))
    assert said == ("text", "[1] said")


def test_pages_begin_where_the_file_says_so() -> None:
    body = p("one") + '<text:p text:style-name="B">two</text:p>' + p("th<text:soft-page-break/>ree")
    assert [page.text for page in read(an_odt(body, styles=BREAK), ODT)] == ["one", "two\n\nth", "ree"]


def test_pictures_are_figures() -> None:
    frame = '<draw:frame svg:width="5cm" svg:height="3cm"><draw:image xlink:href="Pictures/a.png"/></draw:frame>'
    (page,) = read(an_odt(p(frame) + p("Abbildung 1: rot"), parts={"Pictures/a.png": a_png()}), ODT)
    assert [(figure.source, figure.caption) for figure in page.figures] == [("Pictures/a.png", "Abbildung 1: rot")]


def test_an_encrypted_text_says_so() -> None:
    manifest = "<manifest><file-entry><encryption-data/></file-entry></manifest>"
    with pytest.raises(Unreadable) as refused:
        read(an_odt("", parts={"META-INF/manifest.xml": manifest}), ODT)
    assert refused.value.code is UnreadableCode.ENCRYPTED
