import io
import tempfile

import pytest

from muniment.processing.readers.contract import ExtractionMethod, FigureKind, ReaderResources, ReadingOptions
from muniment.processing.readers.errors import Unreadable, UnreadableCode
from muniment.processing.readers.ocr.engine import find_engine
from muniment.processing.readers.pdf.reader import open_file
from tests.processing.readers import pdf_files
from tests.processing.readers.image_files import a_pdf, a_photo, for_canvas
from tests.processing.readers.pdf.pdf_reading import page, pages
from tests.processing.readers.pdf_files import PROSE, mapped, page_of, pdf, picture, repeated, scan, together


def refusal(file: bytes) -> Unreadable:
    with pytest.raises(Unreadable) as refused:
        open_file(io.BytesIO(file), "application/pdf", ReadingOptions(), ReaderResources())
    return refused.value


@pytest.fixture(scope="module")
def with_ocr() -> ReaderResources:
    engine = find_engine()
    assert engine is not None
    return ReaderResources(tesseract=engine.path, tessdata=engine.data_folder)


def test_a_password_that_is_needed_is_asked_for() -> None:
    refused = refusal(pdf_files.encrypted(pdf(page_of("secret")), user="needed"))
    assert refused.code is UnreadableCode.ENCRYPTED
    assert "password" in refused.message


def test_a_file_that_opens_without_a_password_opens() -> None:
    assert page(pdf_files.encrypted(pdf(page_of("open to all")), user="")).text == "open to all"


@pytest.mark.parametrize("share", [0.5, 0.1, 0.01, 0.0])
def test_a_file_that_is_cut_off_is_corrupt(share: float) -> None:
    file = pdf(*[page_of(f"page {number}") for number in range(20)])
    refused = refusal(file[: int(len(file) * share)])
    assert refused.code is UnreadableCode.CORRUPT
    assert "damaged" in refused.message


def test_a_file_without_pages_says_so() -> None:
    refused = refusal(repeated(0))
    assert refused.code is UnreadableCode.CORRUPT
    assert "no pages" in refused.message


def test_too_many_pages_are_refused_before_any_is_read() -> None:
    refused = refusal(repeated(5000))
    assert refused.code is UnreadableCode.TOO_MANY_PAGES
    assert "5000" in refused.message
    assert "3000" in refused.message


def test_a_file_on_disk_is_read_as_well_as_one_in_memory() -> None:
    file = pdf(page_of("one"), page_of("two"))
    with tempfile.TemporaryFile() as on_disk:
        on_disk.write(file)
        on_disk.flush()
        reading = open_file(on_disk, "application/pdf", ReadingOptions(), ReaderResources())
        assert list(reading.pages) == pages(file)


def test_a_broken_page_keeps_no_other_from_being_read() -> None:
    first, broken, last = pages(pdf_files.with_broken_page(pdf(*map(page_of, ("one", "two", "three"))), 1))
    assert (first.text, last.text) == ("one", "three")
    assert (broken.text, broken.method) == ("", ExtractionMethod.NONE)
    assert broken.problem is not None
    assert "damaged" in broken.problem


def test_an_empty_page_is_no_case_for_ocr(with_ocr: ReaderResources) -> None:
    empty = page(repeated(1), with_ocr)
    assert (empty.text, empty.method, empty.problem) == ("", ExtractionMethod.NONE, None)


@pytest.mark.parametrize("file", [scan("a scanned line"), mapped(["abc def ghi"], unmapped=True)])
def test_without_an_engine_a_page_that_needs_one_says_so(file: bytes) -> None:
    read = page(file)
    assert (read.text, read.method) == ("", ExtractionMethod.NONE)
    assert read.problem is not None
    assert "OCR is not installed" in read.problem


def test_each_page_of_a_mixed_document_is_read_in_its_own_way(with_ocr: ReaderResources) -> None:
    drawn = [picture("Scanned words"), page_of(*PROSE), picture("Further words"), page_of("The end")]
    read = pages(pdf(*drawn), with_ocr)
    assert [each.method for each in read] == [
        ExtractionMethod.OCR,
        ExtractionMethod.TEXT,
        ExtractionMethod.OCR,
        ExtractionMethod.TEXT,
    ]
    assert [each.text for each in read] == ["Scanned words", " ".join(PROSE), "Further words", "The end"]


def test_a_scan_of_text_is_no_figure(with_ocr: ReaderResources) -> None:
    scanned = page(scan("\n".join(PROSE)), with_ocr)
    assert (scanned.method, scanned.figures) == (ExtractionMethod.OCR, ())


def test_a_page_that_is_a_photo_is_a_figure(with_ocr: ReaderResources) -> None:
    photo = a_pdf(lambda canvas: canvas.drawImage(for_canvas(a_photo()), 0, 0, 595, 842)).getvalue()
    assert [figure.kind for figure in page(photo, with_ocr).figures] == [FigureKind.PICTURE]


def test_more_scans_than_processes_keep_their_order(with_ocr: ReaderResources) -> None:
    names = ("First", "Second", "Third", "Fourth", "Fifth")
    read = pages(pdf(*[picture(f"{name} page") for name in names]), with_ocr)
    assert [each.text for each in read] == [f"{name} page" for name in names]


def test_shapes_without_meaning_are_recognised_by_ocr(with_ocr: ReaderResources) -> None:
    assert page(mapped(["abc def"], unmapped=True), with_ocr).method is ExtractionMethod.OCR


def test_a_stamp_on_a_scan_does_not_keep_it_from_ocr(with_ocr: ReaderResources) -> None:
    read = page(pdf(together(picture("Scanned words"), page_of("17"))), with_ocr)
    assert read.method is ExtractionMethod.OCR
    assert "Scanned words" in read.text


def test_a_scan_that_was_recognised_before_keeps_its_text(with_ocr: ReaderResources) -> None:
    read = page(pdf(together(picture("Scanned words"), pdf_files.invisible("Scanned wards"))), with_ocr)
    assert (read.method, read.text) == (ExtractionMethod.TEXT, "Scanned wards")


def test_reading_may_end_early(with_ocr: ReaderResources) -> None:
    file = io.BytesIO(pdf(*[picture("Some words")] * 4))
    reading = open_file(file, "application/pdf", ReadingOptions(), with_ocr)
    assert next(reading.pages).text == "Some words"
    reading.pages.close()  # type: ignore[attr-defined]
    assert list(reading.pages) == []
