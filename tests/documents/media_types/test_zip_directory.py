import io
import struct
import zipfile
from collections.abc import Callable, Mapping
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from muniment.documents.media_types.detection import HEAD_BYTES, TAIL_BYTES, detect_media_type
from muniment.documents.media_types.types import DOCX, ODT, PPTX, XLSX, MediaType
from muniment.documents.media_types.zip_directory import list_entries

WORD = ["[Content_Types].xml", "_rels/.rels", "word/document.xml", "word/styles.xml"]
SHEETS = ["_rels/.rels", "docProps/app.xml", "xl/_rels/workbook.xml.rels", "xl/workbook.xml", "[Content_Types].xml"]
SLIDES = ["[Content_Types].xml", "ppt/presentation.xml", "ppt/slides/slide1.xml"]


class UnseekableFile(io.BytesIO):
    """A file that cannot seek, like a socket: ZIP writers then put the sizes after the data."""

    def seek(self, offset: int, whence: int = 0, /) -> int:
        raise io.UnsupportedOperation


def a_zip(contents: Mapping[str, bytes], *, into: io.BytesIO | None = None, stored: bool = False) -> bytes:
    file = into or io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED if stored else zipfile.ZIP_DEFLATED) as archive:
        for name, content in contents.items():
            archive.writestr(name, content)
    return file.getvalue()


def written_plainly(names: list[str]) -> bytes:
    return a_zip(dict.fromkeys(names, b"<xml/>" * 50))


def written_as_a_stream(names: list[str]) -> bytes:
    return a_zip(dict.fromkeys(names, b"<xml/>" * 50), into=UnseekableFile())


def written_for_large_files(names: list[str]) -> bytes:
    return in_the_form_for_large_files(written_plainly(names))


def in_the_form_for_large_files(plain: bytes) -> bytes:
    """Return the archive with the 64-bit form of its end, which some writers always use."""
    at = plain.rfind(b"PK\5\6")
    count, size, offset = struct.unpack_from("<10xHLL", plain, at)
    end64 = struct.pack("<4sQHHLLQQQQ", b"PK\6\6", 44, 45, 45, 0, 0, count, count, size, offset)
    locator = struct.pack("<4sLQL", b"PK\6\7", 0, at, 1)
    end = struct.pack("<4sHHHHLLH", b"PK\5\6", 0, 0, 0xFFFF, 0xFFFF, 0xFFFFFFFF, 0xFFFFFFFF, 0)
    return plain[:at] + end64 + locator + end


WRITERS = [written_plainly, written_as_a_stream, written_for_large_files]


def kind_of(data: bytes) -> MediaType | None:
    return detect_media_type(data[:HEAD_BYTES], data[-TAIL_BYTES:], len(data))


@pytest.mark.parametrize("write", WRITERS)
@pytest.mark.parametrize(
    ("names", "kind"), [(WORD, DOCX), (SHEETS, XLSX), (SLIDES, PPTX)], ids=["docx", "xlsx", "pptx"]
)
def test_an_office_document_is_known_in_whatever_order_it_was_written(
    write: Callable[[list[str]], bytes], names: list[str], kind: MediaType
) -> None:
    assert kind_of(write(names)) == kind
    assert kind_of(write(names[::-1])) == kind


@pytest.mark.parametrize("name", ["word/document2.xml", "Word/Document.xml", "word\\document.xml"])
def test_a_main_part_is_known_under_every_name_that_writers_give_it(name: str) -> None:
    assert kind_of(written_plainly(["[Content_Types].xml", name])) == DOCX


def test_a_document_with_macros_counts_as_its_plain_kind() -> None:
    assert kind_of(written_plainly([*WORD, "word/vbaProject.bin"])) == DOCX


def test_a_document_with_large_pictures_is_known_by_its_end() -> None:
    pictures = {f"word/media/{number}.png": Random(number).randbytes(50_000) for number in range(9)}
    assert kind_of(a_zip({**pictures, "word/document.xml": b""})) == DOCX


MANY = [f"ppt/slides/a-slide-with-a-rather-long-name-{number}.xml" for number in range(2000)]


@pytest.mark.parametrize("write", WRITERS)
@pytest.mark.parametrize("names", [[*SLIDES, *MANY], [*MANY, *SLIDES]], ids=["first", "last"])
def test_a_document_with_thousands_of_parts_is_known_by_either_end(
    write: Callable[[list[str]], bytes], names: list[str]
) -> None:
    assert kind_of(write(names)) == PPTX


ODT_PARTS = {"mimetype": ODT.media_type.encode(), "content.xml": b"<xml/>", "META-INF/manifest.xml": b"<xml/>"}


@pytest.mark.parametrize("stored", [True, False])
@pytest.mark.parametrize("into", [io.BytesIO, UnseekableFile])
def test_an_open_document_text_is_known_by_the_type_in_it(stored: bool, into: type[io.BytesIO]) -> None:
    assert kind_of(a_zip(ODT_PARTS, stored=stored, into=into())) == ODT
    assert kind_of(a_zip(dict(reversed(ODT_PARTS.items())), stored=stored, into=into())) == ODT


def test_an_open_document_with_thousands_of_pictures_is_known_by_its_beginning() -> None:
    assert kind_of(a_zip({**ODT_PARTS, **dict.fromkeys(MANY, b"")}, stored=True)) == ODT


@pytest.mark.parametrize("suffix", [b"-template", b"-master", b"s"])
def test_other_open_documents_are_not_known(suffix: bytes) -> None:
    assert kind_of(a_zip({**ODT_PARTS, "mimetype": ODT_PARTS["mimetype"] + suffix})) is None


@pytest.mark.parametrize("stored", [True, False])
@pytest.mark.parametrize("into", [io.BytesIO, UnseekableFile])
@pytest.mark.parametrize("others", [[], MANY], ids=["small", "large"])
def test_a_zip_that_contains_a_document_is_no_document(stored: bool, into: type[io.BytesIO], others: list[str]) -> None:
    attachment = {"inside.docx": a_zip(dict.fromkeys(WORD, b""), stored=True)}
    archive = a_zip({**attachment, **dict.fromkeys(others, b"")}, stored=stored, into=into())
    assert kind_of(archive) is None
    assert kind_of(in_the_form_for_large_files(archive)) is None


@pytest.mark.parametrize("name", ["META-INF/MANIFEST.MF", "word/notes.txt", "xl/workbook.bin", "old/word/document.xml"])
def test_a_zip_of_anything_else_is_not_known(name: str) -> None:
    assert kind_of(written_plainly([name])) is None


def test_a_document_that_was_cut_off_is_not_known() -> None:
    assert kind_of(written_plainly(WORD)[:-30]) is None


@settings(deadline=None)
@given(st.data())
def test_a_damaged_zip_gets_an_answer(data: st.DataObject) -> None:
    damaged = bytearray(a_zip(ODT_PARTS, into=data.draw(st.sampled_from([io.BytesIO, UnseekableFile]))()))
    for at in data.draw(st.lists(st.integers(0, len(damaged) - 1), max_size=20)):
        damaged[at] = data.draw(st.integers(0, 255))
    cut = data.draw(st.integers(0, len(damaged)))
    assert kind_of(bytes(damaged)) in (None, ODT)
    assert len(list_entries(bytes(damaged[:cut]), bytes(damaged[cut:]))) <= len(damaged)
