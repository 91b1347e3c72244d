import pytest

from muniment.documents.media_types.types import MARKDOWN, TEXT
from muniment.processing.readers.contract import ExtractionMethod, ReaderResources, ReadingOptions
from muniment.processing.readers.errors import Unreadable, UnreadableCode
from tests.processing.readers.office_files import paragraphs, read

ENCODED = [
    ("utf-8-sig", "Grüße"),
    ("utf-16", "Grüße aus Köln"),
    ("utf-16-le", "Grüße aus Köln"),
    ("utf-16-be", "Привет, как дела"),
    ("utf-32", "Grüße"),
    ("utf-32-le", "Grüße"),
    ("cp1252", "Grüße aus Köln – „schön“, 5 €"),
    ("iso8859-1", "Résumé: le garçon a mangé à la forêt"),
    ("iso8859-2", "Zażółć gęślą jaźń, piękny dzień w Łodzi"),
    ("shift_jis", "これは日本語のテキストです。文字コードを判定します。"),
    ("iso2022_jp", "これは日本語のテキストです。"),
    ("gb18030", "这是一个中文文本文件，用来测试编码识别。"),
    ("koi8-r", "Привет, это текстовый файл на русском языке."),
]


@pytest.mark.parametrize(("encoding", "text"), ENCODED)
def test_text_is_read_in_its_encoding(encoding: str, text: str) -> None:
    assert read(text.encode(encoding), TEXT)[0].text == text


def test_a_foreign_letter_far_behind_ascii_is_found() -> None:
    data = b"plain words\n" * 20_000 + "schöne Grüße".encode("cp1252")
    assert read(data, TEXT)[-1].text.endswith("schöne Grüße")


def test_paragraphs_end_at_blank_lines_and_pages_at_form_feeds() -> None:
    pages = read(b"\fone\n \ntwo\nlines\n\f\fthree\0\x07", TEXT)
    assert [page.text for page in pages] == ["one\n\ntwo\nlines", "three"]


def test_wrapped_prose_is_joined_and_an_address_is_not() -> None:
    line = "This is a line of prose that was broken by an editor at a width of well-"
    assert "\n" not in read(f"{line}\n{line}\nknown end".encode(), TEXT)[0].text
    assert read(b"Some Company\nSome Street 5\nSome Town", TEXT)[0].text.count("\n") == 2


def test_text_is_cut_at_paragraph_ends_and_a_giant_line_hard() -> None:
    pages = read(b"word " * 15 + b"\n\n" + b"x" * 350 + b"\n\nend", TEXT, ReadingOptions(text_page_characters=100))
    assert [len(page.text) for page in pages] == [74, 100, 100, 100, 55]
    assert pages[-1].text.endswith("x\n\nend")


def test_an_empty_file_is_one_page_without_text() -> None:
    (page,) = read(b"", TEXT)
    assert (page.text, page.method) == ("", ExtractionMethod.NONE)


@pytest.mark.parametrize("content", [b"x\f" * 5, b"x" * 1000], ids=["claimed", "split"])
def test_pages_that_a_file_claims_and_pieces_of_a_long_text_are_limited(content: bytes) -> None:
    few = ReaderResources(max_pages=3)
    with pytest.raises(Unreadable) as refused:
        read(content, TEXT, ReadingOptions(text_page_characters=100), few)
    assert refused.value.code is UnreadableCode.TOO_MANY_PAGES


def test_markdown_has_headings_items_tables_and_code() -> None:
    source = (
        "---\ntitle: x\n---\n# One **two**\n\nSet\next\n===\n\npara\ngoes [on](http://x) `a*b*` \\*\n- item\n  more\n"
        "2. two\n\n| a | b |\n|---|:-:|\n| 1 | 2\\|3 |\n\n```py\nx = **1**\n\n  y\n```\n> quoted snake_case_name"
    )
    (page,) = read(source.encode(), MARKDOWN)
    assert paragraphs(page) == [
        ("text", "title: x"),
        ("heading", "One two"),
        ("heading", "Set ext"),
        ("text", "para goes on a*b* *"),
        ("list_item", "item more"),
        ("list_item", "2. two"),
        ("table", "a\tb\n1\t2|3"),
        ("text", "x = **1**"),
        ("text", "  y"),
        ("text", "quoted snake_case_name"),
    ]
