"""Map media types to readers."""

from typing import cast

from muniment.documents.media_types import types
from muniment.processing.readers import html, mail, plain_text
from muniment.processing.readers.contract import DocumentReader
from muniment.processing.readers.errors import Unreadable, UnreadableCode
from muniment.processing.readers.images import reader as image
from muniment.processing.readers.office.docx import reader as docx
from muniment.processing.readers.office.odt import reader as odt
from muniment.processing.readers.office.pptx import reader as pptx
from muniment.processing.readers.office.xlsx import reader as xlsx
from muniment.processing.readers.pdf import reader as pdf
from muniment.processing.readers.rtf import reader as rtf

_READERS = {
    types.PDF: pdf,
    types.DOCX: docx,
    types.PPTX: pptx,
    types.XLSX: xlsx,
    types.ODT: odt,
    types.RTF: rtf,
    types.HTML: html,
    types.MARKDOWN: plain_text,
    types.TEXT: plain_text,
    types.EML: mail,
    types.PNG: image,
    types.JPEG: image,
    types.TIFF: image,
    types.WEBP: image,
    types.GIF: image,
    types.BMP: image,
}
_BY_NAME = {kind.media_type: cast("DocumentReader", reader) for kind, reader in _READERS.items()}


def reader_for(media_type: str) -> DocumentReader:
    """Return the reader of a media type, or raise `Unreadable` if there is none."""
    reader = _BY_NAME.get(media_type)
    if reader is None:
        raise Unreadable(UnreadableCode.UNSUPPORTED, f"Unsupported file type: {media_type}.")
    return reader
