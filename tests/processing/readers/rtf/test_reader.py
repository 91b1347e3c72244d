import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from muniment.documents.media_types.types import RTF
from tests.processing.readers.office_files import paragraphs, read

HEAD = rb"{\rtf1\ansi\ansicpg1252\deff0{\fonttbl{\f0\fcharset0 Arial;}{\f1\fcharset204 Cyr;}}{\info{\title no}}"
SNIPPETS = [b"{", b"}", b"\\", b"par ", b"\\u-1 ", b"\\cell ", b"\\row ", b"\\*", b"\\footnote ", b"a"]


def test_text_tables_and_pages_are_read() -> None:
    body = (
        rb"\pard Gr\'fc\'dfe \u8364? {\b bold}{\v no}\par{\f1 \'cf\'f0\'e8}\par\pard\ls1 item\par"
        rb"\pard\intbl a\cell b\cell\row\intbl c\cell\cell\row\pard\outlinelevel0 Head{\footnote said}\par"
        rb"\pard\page next}"
    )
    first, second = read(HEAD + body, RTF)
    assert paragraphs(first) == [
        ("text", "Grüße € bold"),
        ("text", "При"),
        ("list_item", "item"),
        ("table", "a\tb\nc"),
        ("heading", "Head[1]"),
    ]
    assert paragraphs(second) == [("text", "next"), ("text", "[1] said")]


@pytest.mark.parametrize(
    "end", [b"", b"}}}}", b"{{{{", b"\\", b"\\'", b"\\'g", b"\\bin99999999", b"\\u", b"\\u99999999 "]
)
def test_a_damaged_file_gives_what_can_be_read(end: bytes) -> None:
    assert read(HEAD + rb"\pard begun\par " + end, RTF)[0].text.startswith("begun")


def test_raw_bytes_of_a_picture_are_skipped() -> None:
    assert read(HEAD + rb"{\pict\bin4 {{{{}text\par}", RTF)[0].text == "text"


@settings(deadline=None)
@given(st.lists(st.sampled_from(SNIPPETS)))
def test_nothing_breaks_it(parts: list[bytes]) -> None:
    assert read(b"{\\rtf1 " + b"".join(parts), RTF)
