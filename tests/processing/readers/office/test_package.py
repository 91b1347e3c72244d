import io
import struct
import zipfile

import pytest

from muniment.documents.media_types.types import DOCX, ODT, PPTX, XLSX, MediaType
from muniment.processing.readers.contract import ReaderResources
from muniment.processing.readers.errors import Unreadable, UnreadableCode
from tests.processing.readers.office_files import a_docx, a_zip, read, w

PACKED = [DOCX, PPTX, XLSX, ODT]


def refusal(data: bytes, kind: MediaType = DOCX, resources: ReaderResources | None = None) -> UnreadableCode:
    with pytest.raises(Unreadable) as refused:
        read(data, kind, resources=resources)
    assert refused.value.message.endswith(".")
    return refused.value.code


def with_declared_size(data: bytes, size: int) -> bytes:
    """Return the ZIP file with a false size of its first part in the directory."""
    at = data.index(b"PK\x01\x02")
    return data[: at + 24] + struct.pack("<L", size) + data[at + 28 :]


def test_a_bomb_is_refused_before_it_is_unpacked() -> None:
    bomb = a_docx(w("x" * 3_000_000))
    assert refusal(bomb, resources=ReaderResources(max_unpacked_bytes=1_000_000)) is UnreadableCode.READER_MEMORY


def test_a_bomb_that_lies_about_its_size_is_refused() -> None:
    bomb = with_declared_size(a_docx(w("x" * 3_000_000)), 100)
    assert refusal(bomb, resources=ReaderResources(max_unpacked_bytes=1_000_000)) is UnreadableCode.CORRUPT


def test_too_many_parts_are_refused() -> None:
    assert refusal(a_zip({f"p{number}": "" for number in range(20_001)})) is UnreadableCode.READER_MEMORY


def test_an_encrypted_part_says_so() -> None:
    data = bytearray(a_docx(w("secret")))
    data[data.index(b"PK\x01\x02") + 8] |= 1
    assert refusal(bytes(data)) is UnreadableCode.ENCRYPTED


def test_other_ways_of_packing_are_refused() -> None:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_LZMA) as archive:
        archive.writestr("word/document.xml", "<x/>")
    assert refusal(file.getvalue()) is UnreadableCode.UNSUPPORTED


@pytest.mark.parametrize("kind", PACKED, ids=lambda kind: kind.name)
@pytest.mark.parametrize("data", [b"", b"PK\x03\x04 nonsense", a_zip({}), a_zip({"content.xml": "<no"})])
def test_damage_is_said_in_a_sentence(kind: MediaType, data: bytes) -> None:
    assert refusal(data, kind) is UnreadableCode.CORRUPT


def test_a_part_that_is_cut_or_changed_is_corrupt() -> None:
    data = bytearray(a_docx(w("some text " * 100)))
    data[60] ^= 0xFF
    assert refusal(bytes(data)) is UnreadableCode.CORRUPT
    assert refusal(bytes(data[: len(data) // 2])) is UnreadableCode.CORRUPT
