"""What a file may become is limited in every format, with a code and a sentence that says what to do."""

from collections.abc import Callable
from typing import Any

import pytest

from muniment.documents.media_types.types import DOCX, EML, HTML, MARKDOWN, ODT, RTF, TEXT, MediaType
from muniment.processing.readers import limits
from muniment.processing.readers.contract import (
    ExtractedPage,
    ExtractionMethod,
    Figure,
    FigureKind,
    Paragraph,
    ReaderResources,
    Word,
)
from muniment.processing.readers.errors import Unreadable, UnreadableCode
from muniment.processing.readers.limits import LimitCounter
from tests.processing.readers.office_files import a_docx, a_zip, an_odt, read, w

PARAGRAPH = "word " * 1000
FORMATS: dict[str, tuple[MediaType, Callable[[str, int], bytes]]] = {
    "text": (TEXT, lambda text, times: f"{text}\n\n".encode() * times),
    "markdown": (MARKDOWN, lambda text, times: f"- {text}\n\n".encode() * times),
    "html": (HTML, lambda text, times: f"<li>{text}</li>".encode() * times),
    "mail": (EML, lambda text, times: b"Subject: Many\n\n" + f"{text}\n\n".encode() * times),
    "rtf": (RTF, lambda text, times: b"{\\rtf1 " + f"{text}\\par ".encode() * times + b"}"),
    "docx": (DOCX, lambda text, times: a_docx(w(text) * times)),
    "odt": (ODT, lambda text, times: an_odt(f"<text:p>{text}</text:p>" * times)),
}
each_format = pytest.mark.parametrize(("file_type", "build"), FORMATS.values(), ids=list(FORMATS))


def refusal(content: bytes, file_type: MediaType, resources: ReaderResources) -> Unreadable:
    with pytest.raises(Unreadable) as refused:
        read(content, file_type, resources=resources)
    return refused.value


@each_format
def test_pages_are_limited(file_type: MediaType, build: Callable[[str, int], bytes]) -> None:
    content = build(PARAGRAPH, 20)
    assert len(read(content, file_type, resources=ReaderResources(max_pages=20))) > 5
    refused = refusal(content, file_type, ReaderResources(max_pages=5))
    assert refused.code is UnreadableCode.TOO_MANY_PAGES
    assert refused.message == "This file has more than 5 pages. Split it and upload the parts."


@each_format
@pytest.mark.parametrize(
    ("limit", "what"),
    [
        ({"max_paragraphs": 50}, "50 paragraphs"),
        ({"max_characters": 300}, "300 characters"),
        ({"max_rows": 60}, "60 pages, paragraphs and figures"),
    ],
    ids=["paragraphs", "characters", "rows"],
)
def test_paragraphs_characters_and_rows_are_limited(
    file_type: MediaType, build: Callable[[str, int], bytes], limit: dict[str, Any], what: str
) -> None:
    content = build("some words", 100)
    assert read(content, file_type)
    refused = refusal(content, file_type, ReaderResources(**limit))
    assert refused.code is UnreadableCode.TOO_LARGE
    assert refused.message == f"This file has more than {what}. Split it and upload the parts."


def test_a_small_package_that_unpacks_to_much_text_is_refused_before_it_is_parsed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    bomb = a_zip({"word/document.xml": b"<w:p/>" * 8_000_000})
    refused = refusal(bomb, DOCX, ReaderResources())
    assert refused.code is UnreadableCode.TOO_LARGE
    assert "200 times as large as the file" in refused.message
    image = a_zip({"word/media/image1.bmp": b"\0" * (40 << 20), "word/document.xml": b"<w:document/>"})
    assert refusal(image, DOCX, ReaderResources()).code is not UnreadableCode.TOO_LARGE


FIGURE = Figure(FigureKind.PICTURE, "ab" * 32, 1, 1)


@pytest.mark.parametrize(
    ("page", "what"),
    [
        ({"text": "x" * 11}, "characters"),
        ({"paragraphs": (Paragraph(0, 1),) * 11}, "paragraphs"),
        ({"figures": (FIGURE,) * 21}, "figures"),
        ({"words": (Word(0, 1, (0, 0, 1, 1)),) * 31}, "words"),
        ({"text": "x " * 5, "words": (Word(0, 1, (0, 0, 1, 1)),) * 31}, "words"),
    ],
)
def test_pages_of_a_reader_are_counted(monkeypatch: pytest.MonkeyPatch, page: dict[str, Any], what: str) -> None:
    monkeypatch.setattr(limits, "MAX_WORDS", 30)
    counter = LimitCounter(ReaderResources(max_characters=10, max_paragraphs=10, max_rows=20))
    with pytest.raises(Unreadable, match=what) as refused:
        counter.add_page(ExtractedPage(**{"number": 1, "text": "", "method": ExtractionMethod.TEXT, **page}))
    assert refused.value.code is UnreadableCode.TOO_LARGE


def test_a_text_may_be_so_many_times_as_large_as_its_file(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "ALWAYS_ALLOWED_CHARACTERS", 100)
    counter = LimitCounter(ReaderResources(max_expansion=20), file_bytes=10)
    for number in (1, 2):
        counter.add_page(ExtractedPage(number, "x" * 100, ExtractionMethod.TEXT))
    with pytest.raises(Unreadable) as refused:
        counter.add_page(ExtractedPage(3, "x", ExtractionMethod.TEXT))
    assert refused.value.code is UnreadableCode.TOO_LARGE
