"""Detect the media type of a file from its bytes. The name a client gives it decides only where bytes cannot.

Written by hand, because the available libraries do not answer the question. `filetype` does not detect text, HTML or
mail, takes a text that begins with `BM` for a picture and any ZIP file with a folder `word` for a Word document, and
does not find a PDF behind a blank line. `puremagic` gives all office types the same confidence and detects no text.

Text has almost no control characters, while binary formats are full of them: in random bytes every ninth is one. Which
encoding a text has exactly is for its reader to find out.
"""

import codecs
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import PurePosixPath
from unicodedata import category

from muniment.documents.media_types.types import (
    BMP,
    DOCX,
    EML,
    GIF,
    HTML,
    JPEG,
    MARKDOWN,
    ODT,
    PDF,
    PNG,
    PPTX,
    RTF,
    TEXT,
    TIFF,
    WEBP,
    XLSX,
    MediaType,
)
from muniment.documents.media_types.zip_directory import LOCAL_SIGNATURE, list_entries, read_entry_start

HEAD_BYTES = 64 * 1024


TAIL_BYTES = 64 * 1024


_SIGNATURES = (
    (re.compile(rb"\x89PNG\r\n\x1a\n"), PNG),
    (re.compile(rb"\xff\xd8\xff"), JPEG),
    (re.compile(rb"II[*+]\0|MM\0[*+]"), TIFF),
    (re.compile(rb"RIFF....WEBP", re.DOTALL), WEBP),
    (re.compile(rb"GIF8[79]a"), GIF),
    # Two letters prove nothing. The size of the header that follows and its single plane do.
    (re.compile(rb"BM.{12}(?:\x0c\0\0\0.{4}|[(48@l|]\0\0\0.{8})\x01\0", re.DOTALL), BMP),
    (re.compile(rb"\{\\rtf"), RTF),
)


# A file with macros counts as its plain type: its text is read, and nothing in it is run.
_MAIN_PARTS = (
    (re.compile(r"word/document\d*\.xml"), DOCX),
    (re.compile(r"ppt/presentation\d*\.xml"), PPTX),
    (re.compile(r"xl/workbook\d*\.xml"), XLSX),
)


_PDF_HEADER_MAX_OFFSET = 1024


_HTML_START = re.compile(
    r"(?>\s|<!--.*?-->|<\?.*?\?>)*+<(?:!doctype\s+html|html|head|body)\b", re.IGNORECASE | re.DOTALL
)


_MAIL_HEADER = re.compile(r"([!-9;-~]+)[ \t]*:")


_MAIL_ONLY_HEADERS = frozenset({"date", "received", "message-id", "mime-version", "return-path"})


_BY_EXTENSION = {".md": MARKDOWN, ".markdown": MARKDOWN, ".html": HTML, ".htm": HTML, ".xhtml": HTML}


def detect_media_type(head: bytes, tail: bytes, size_bytes: int, *, name: str = "") -> MediaType | None:
    """Return the type of a file with these first `HEAD_BYTES` and last `TAIL_BYTES`, or None if it is not supported.

    The two overlap in a small file. `name` only decides between plain text, Markdown and HTML fragments.
    """
    if found := _detect_by_signature(head):
        return found
    if _may_be_pdf(head) and (head.startswith(b"%PDF-") or b"%%EOF" in tail):
        return PDF
    if head.startswith(LOCAL_SIGNATURE):
        return _detect_in_zip(head, tail)
    text = decode_sample(head, tail, size_bytes)
    return _detect_in_text(text, name) if text else None


def is_surely_unsupported(head: bytes) -> bool:
    """Return whether a file that begins like this is unsupported, whatever follows. Needs at most `HEAD_BYTES`."""
    may_be_supported = _detect_by_signature(head) or _may_be_pdf(head) or head.startswith(LOCAL_SIGNATURE)
    return not may_be_supported and not decode_sample(head, b"", len(head))


def _detect_by_signature(head: bytes) -> MediaType | None:
    return next((kind for signature, kind in _SIGNATURES if signature.match(head)), None)


def _may_be_pdf(head: bytes) -> bool:
    """Return whether a PDF header is near the start. A stray line or printer command may precede it, but no program."""
    at = head.find(b"%PDF-", 0, _PDF_HEADER_MAX_OFFSET)
    return at >= 0 and b"\0" not in head[:at]


def _detect_in_zip(head: bytes, tail: bytes) -> MediaType | None:
    entries = list_entries(head, tail)
    for entry in entries:
        if entry.name == "mimetype" and read_entry_start(head, entry, 100).strip() == ODT.media_type.encode():
            return ODT
        for main_part, kind in _MAIN_PARTS:
            if main_part.fullmatch(entry.name):
                return kind
    return None


def _detect_in_text(text: str, name: str) -> MediaType:
    if _HTML_START.match(text):
        return HTML
    if _looks_like_mail(text):
        return EML
    return _BY_EXTENSION.get(PurePosixPath(name).suffix.lower(), TEXT)


def _looks_like_mail(text: str) -> bool:
    headers: set[str] = set()
    for line in text.splitlines():
        if not line:
            break
        header = _MAIL_HEADER.match(line)
        if header:
            headers.add(header[1].lower())
        elif not headers or line[0] not in " \t":
            return False
    return "from" in headers and not headers.isdisjoint(_MAIL_ONLY_HEADERS)


_BOMS = (  # UTF-32 first, because its mark begins with that of UTF-16
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)


# Stands for every 8-bit and East Asian encoding: it defines all bytes, and its only controls are those of ASCII.
_FALLBACK_ENCODING = "cp437"


# Includes the end mark of DOS, and the escape and shift characters of terminals and of Japanese and Korean encodings.
_ALLOWED_CONTROLS = frozenset("\t\n\v\f\r\x0e\x0f\x1a\x1b\x85")


_CHARACTERS_PER_STRAY = 200


def decode_sample(head: bytes, tail: bytes, size_bytes: int) -> str | None:
    """Return the text of `head`, or None if it is not text. Outside Unicode, only its ASCII part is exact.

    `tail` must be text in the same encoding, because an installer may begin with a script and continue with an archive.
    """
    aligned = tail[(len(tail) - size_bytes) % 4 :]
    for encoding, needs_proof in _candidate_encodings(head):
        # A character that is cut in two at the edge becomes one stray character, which is allowed.
        text = head.decode(encoding, errors="replace").removeprefix("\ufeff")
        is_text = _is_plausible(text) and _is_plausible(aligned.decode(encoding, errors="replace"))
        if is_text and (not needs_proof or _is_alphabetic(text)):
            return text
    return None


def _candidate_encodings(head: bytes) -> Iterator[tuple[str, bool]]:
    """Yield the encodings to try, and whether plausible characters alone are not enough proof."""
    for mark, encoding in _BOMS:
        if head.startswith(mark):
            yield encoding, False
            return
    if b"\0" in head:
        yield "utf-16-le", True
        yield "utf-16-be", True
    else:
        yield "utf-8", False
        yield _FALLBACK_ENCODING, False


def _is_plausible(text: str) -> bool:
    counts = Counter(text)
    strays = sum(count for character, count in counts.items() if _is_stray(character))
    return "\0" not in counts and strays * _CHARACTERS_PER_STRAY <= len(text)


def _is_stray(character: str) -> bool:
    if character in _ALLOWED_CONTROLS:
        return False
    # Unassigned characters of the basic plane indicate binary data. Above it they may be new emoji.
    is_unassigned = category(character) == "Cn" and character <= "\uffff"
    return is_unassigned or character == "\ufffd" or category(character) == "Cc"


def _is_alphabetic(text: str) -> bool:
    """Return whether the text looks alphabetic. Without a byte order mark, any two bytes are a Chinese character."""
    ascii_count = sum(character.isascii() for character in text)
    low_count = sum(character < "\u2100" for character in text)
    return ascii_count >= 0.05 * len(text) and low_count >= 0.9 * len(text)
