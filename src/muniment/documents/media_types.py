"""What kind of file this is, by its bytes. What a client calls it is a claim and decides only where bytes cannot.

Written by hand, because the libraries were tried and do not answer the question. `filetype` knows no text, HTML or
mail, takes a text that begins with `BM` for a picture and any ZIP file with a folder `word` for a Word document, and
does not find a PDF behind a blank line. `puremagic` gives all office types the same confidence and knows no text.
"""

import re
from dataclasses import dataclass
from pathlib import PurePosixPath

from muniment.documents.text_samples import read_text
from muniment.documents.zip_entries import LOCAL_SIGNATURE, list_entries, read_beginning

HEAD_BYTES = 64 * 1024
TAIL_BYTES = 64 * 1024


@dataclass(frozen=True)
class MediaType:
    name: str
    """What people call it."""
    media_type: str
    extension: str
    """With its dot."""


_OPEN_XML = "application/vnd.openxmlformats-officedocument"

PDF = MediaType("PDF", "application/pdf", ".pdf")
PNG = MediaType("PNG", "image/png", ".png")
JPEG = MediaType("JPEG", "image/jpeg", ".jpg")
TIFF = MediaType("TIFF", "image/tiff", ".tif")
WEBP = MediaType("WebP", "image/webp", ".webp")
GIF = MediaType("GIF", "image/gif", ".gif")
BMP = MediaType("BMP", "image/bmp", ".bmp")
DOCX = MediaType("DOCX", f"{_OPEN_XML}.wordprocessingml.document", ".docx")
PPTX = MediaType("PPTX", f"{_OPEN_XML}.presentationml.presentation", ".pptx")
XLSX = MediaType("XLSX", f"{_OPEN_XML}.spreadsheetml.sheet", ".xlsx")
ODT = MediaType("ODT", "application/vnd.oasis.opendocument.text", ".odt")
RTF = MediaType("RTF", "application/rtf", ".rtf")
HTML = MediaType("HTML", "text/html", ".html")
MARKDOWN = MediaType("Markdown", "text/markdown", ".md")
EML = MediaType("EML", "message/rfc822", ".eml")
TEXT = MediaType("Plain text", "text/plain", ".txt")

KNOWN = (PDF, DOCX, PPTX, XLSX, ODT, RTF, HTML, MARKDOWN, TEXT, EML, PNG, JPEG, TIFF, WEBP, GIF, BMP)

_SIGNATURES = (
    (re.compile(rb"\x89PNG\r\n\x1a\n"), PNG),
    (re.compile(rb"\xff\xd8\xff"), JPEG),
    (re.compile(rb"II[*+]\0|MM\0[*+]"), TIFF),
    (re.compile(rb"RIFF....WEBP", re.DOTALL), WEBP),
    (re.compile(rb"GIF8[79]a"), GIF),
    # Two letters prove nothing; the size of the header that follows and its one plane do.
    (re.compile(rb"BM.{12}(?:\x0c\0\0\0.{4}|[(48@l|]\0\0\0.{8})\x01\0", re.DOTALL), BMP),
    (re.compile(rb"\{\\rtf"), RTF),
)

# A file with macros counts as its plain kind: its text is read, nothing in it is run.
_MAIN_PARTS = (
    (re.compile(r"word/document\d*\.xml"), DOCX),
    (re.compile(r"ppt/presentation\d*\.xml"), PPTX),
    (re.compile(r"xl/workbook\d*\.xml"), XLSX),
)

_PDF_HEADER_WITHIN = 1024
_HTML_START = re.compile(
    r"(?>\s|<!--.*?-->|<\?.*?\?>)*+<(?:!doctype\s+html|html|head|body)\b", re.IGNORECASE | re.DOTALL
)
_MAIL_HEADER = re.compile(r"([!-9;-~]+)[ \t]*:")
_MAIL_PROOFS = frozenset({"date", "received", "message-id", "mime-version", "return-path"})
_BY_EXTENSION = {".md": MARKDOWN, ".markdown": MARKDOWN, ".html": HTML, ".htm": HTML, ".xhtml": HTML}


def recognise(head: bytes, tail: bytes, size_bytes: int, *, name: str = "") -> MediaType | None:
    """The type of a file with these first `HEAD_BYTES` and last `TAIL_BYTES`, or `None` if no reader knows it.

    The two overlap in a small file. `name` decides between plain text, Markdown and a piece of HTML, and nothing else.
    """
    if found := _by_signature(head):
        return found
    if _may_be_pdf(head) and (head.startswith(b"%PDF-") or b"%%EOF" in tail):
        return PDF
    if head.startswith(LOCAL_SIGNATURE):
        return _in_zip(head, tail)
    text = read_text(head, tail, size_bytes)
    return _in_text(text, name) if text else None


def cannot_become_known(head: bytes) -> bool:
    """Whether a file that begins like this is refused, whatever follows. Needs no more than `HEAD_BYTES`."""
    may_become = _by_signature(head) or _may_be_pdf(head) or head.startswith(LOCAL_SIGNATURE)
    return not may_become and not read_text(head, b"", len(head))


def _by_signature(head: bytes) -> MediaType | None:
    return next((kind for signature, kind in _SIGNATURES if signature.match(head)), None)


def _may_be_pdf(head: bytes) -> bool:
    """Readers accept anything in front of the header. We accept a stray line or printer command, but no program."""
    at = head.find(b"%PDF-", 0, _PDF_HEADER_WITHIN)
    return at >= 0 and b"\0" not in head[:at]


def _in_zip(head: bytes, tail: bytes) -> MediaType | None:
    entries = list_entries(head, tail)
    for entry in entries:
        if entry.name == "mimetype" and read_beginning(head, entry, 100).strip() == ODT.media_type.encode():
            return ODT
        for main_part, kind in _MAIN_PARTS:
            if main_part.fullmatch(entry.name):
                return kind
    return None


def _in_text(text: str, name: str) -> MediaType:
    if _HTML_START.match(text):
        return HTML
    if _begins_like_mail(text):
        return EML
    return _BY_EXTENSION.get(PurePosixPath(name).suffix.lower(), TEXT)


def _begins_like_mail(text: str) -> bool:
    seen: set[str] = set()
    for line in text.splitlines():
        if not line:
            break
        header = _MAIL_HEADER.match(line)
        if header:
            seen.add(header[1].lower())
        elif not seen or line[0] not in " \t":
            return False
    return "from" in seen and not seen.isdisjoint(_MAIL_PROOFS)
