"""Read a PDF built in memory, as the sandbox does."""

import io

from muniment.processing.readers.contract import ExtractedPage, ParagraphKind, ReaderResources, ReadingOptions
from muniment.processing.readers.pdf.reader import open_file


def pages(file: bytes, resources: ReaderResources | None = None) -> list[ExtractedPage]:
    reading = open_file(io.BytesIO(file), "application/pdf", ReadingOptions(), resources or ReaderResources())
    read = list(reading.pages)
    assert [page.number for page in read] == list(range(1, reading.total_pages + 1))
    return read


def page(file: bytes, resources: ReaderResources | None = None) -> ExtractedPage:
    (only,) = pages(file, resources)
    check_spans(only)
    return only


def paragraphs(read: ExtractedPage) -> list[str]:
    return [read.text[each.start : each.end] for each in read.paragraphs]


def kinds(read: ExtractedPage) -> list[ParagraphKind]:
    return [each.kind for each in read.paragraphs]


def box_of(read: ExtractedPage, word: str) -> tuple[float, float, float, float]:
    return next(each.box for each in read.words if read.text[each.start : each.end] == word)


def check_spans(read: ExtractedPage) -> None:
    """Check the contract of spans: words are words, and only breaks are between paragraphs."""
    assert "\n\n".join(paragraphs(read)) == read.text
    for word in read.words:
        text = read.text[word.start : word.end]
        assert text
        assert not any(character.isspace() for character in text)
    assert "".join(read.text.split()) == "".join(read.text[word.start : word.end] for word in read.words)
