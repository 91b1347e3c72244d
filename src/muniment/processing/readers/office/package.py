"""ZIP container of office files (DOCX, PPTX, XLSX, ODT), each part read within limits."""

import posixpath
import zlib
from io import SEEK_END
from typing import IO, BinaryIO
from zipfile import ZIP_DEFLATED, ZIP_STORED, BadZipFile, LargeZipFile, ZipFile, ZipInfo

from muniment.processing.readers.contract import ReaderResources
from muniment.processing.readers.errors import Unreadable, UnreadableCode
from muniment.processing.readers.limits import expansion_error

_MAX_PARTS = 20_000
_IS_ENCRYPTED = 0x01
_XML_NAMES = (".xml", ".rels")
_ALWAYS_ALLOWED_BYTES = 32 << 20


class OfficePackage:
    """Parts by name. Names are case-insensitive, as the formats require."""

    def __init__(self, file: BinaryIO, resources: ReaderResources) -> None:
        try:
            self._archive = ZipFile(file)
        except (BadZipFile, LargeZipFile, NotImplementedError, ValueError, OSError, EOFError) as error:
            raise Unreadable(UnreadableCode.CORRUPT, "The file is incomplete or damaged.") from error
        self._parts = {_normalize_name(entry.filename): entry for entry in self._archive.infolist()}
        _check_limits(self._archive.infolist(), resources.max_unpacked_bytes)
        _check_expansion(self._archive.infolist(), file.seek(0, SEEK_END), resources.max_expansion)

    def __contains__(self, name: str) -> bool:
        return _normalize_name(name) in self._parts

    def read(self, name: str) -> bytes:
        """Return the bytes of a part. Raise `Unreadable` if it is missing or damaged."""
        with self.open(name) as part:
            try:
                return part.read()
            except (BadZipFile, EOFError, OSError, ValueError, zlib.error) as error:
                raise _damaged_error(name) from error

    def open(self, name: str) -> IO[bytes]:
        """Open a part as a stream, if it is too large for memory."""
        entry = self._parts.get(_normalize_name(name))
        if entry is None:
            raise Unreadable(UnreadableCode.CORRUPT, f"The file is incomplete ({name} is missing).")
        try:
            return self._archive.open(entry)
        except (BadZipFile, NotImplementedError, RuntimeError, ValueError, OSError, EOFError) as error:
            raise _damaged_error(name) from error


def resolve_target(part: str, target: str) -> str:
    """Return the name of the part that `target` refers to in `part`."""
    return posixpath.normpath(posixpath.join("/", posixpath.dirname(part), target)).lstrip("/")


def _check_limits(entries: list[ZipInfo], max_unpacked_bytes: int) -> None:
    if len(entries) > _MAX_PARTS:
        raise Unreadable(
            UnreadableCode.READER_MEMORY, f"The file has {len(entries):,} parts. The limit is {_MAX_PARTS:,}."
        )
    if sum(entry.file_size for entry in entries) > max_unpacked_bytes:
        raise Unreadable(UnreadableCode.READER_MEMORY, f"The file unpacks to more than {max_unpacked_bytes:,} bytes.")
    if any(entry.flag_bits & _IS_ENCRYPTED for entry in entries):
        raise Unreadable(
            UnreadableCode.ENCRYPTED, "The file is password-protected. Remove the password and upload it again."
        )
    # Other methods unpack without limits, and no office program uses them.
    if any(entry.compress_type not in (ZIP_STORED, ZIP_DEFLATED) for entry in entries):
        raise Unreadable(UnreadableCode.UNSUPPORTED, "The file uses an unsupported compression method.")


def _check_expansion(entries: list[ZipInfo], file_bytes: int, max_expansion: int) -> None:
    """Check the parts that become text. Images unpack far more, and have limits of their own."""
    unpacked = sum(entry.file_size for entry in entries if entry.filename.lower().endswith(_XML_NAMES))
    if unpacked > max(_ALWAYS_ALLOWED_BYTES, file_bytes * max_expansion):
        raise expansion_error(max_expansion)


def _damaged_error(name: str) -> Unreadable:
    return Unreadable(UnreadableCode.CORRUPT, f"The file is damaged ({name} cannot be unpacked).")


def _normalize_name(name: str) -> str:
    return name.replace("\\", "/").lstrip("/").lower()
