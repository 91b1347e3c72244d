"""Which reader reads which kind of file."""

from typing import cast

from muniment.documents import media_types
from muniment.processing.readers import docx, html, image, mail, odt, pdf, plain, pptx, rtf, xlsx
from muniment.processing.readers.contract import Code, Reader, Unreadable

_READERS = {
    media_types.PDF: pdf,
    media_types.DOCX: docx,
    media_types.PPTX: pptx,
    media_types.XLSX: xlsx,
    media_types.ODT: odt,
    media_types.RTF: rtf,
    media_types.HTML: html,
    media_types.MARKDOWN: plain,
    media_types.TEXT: plain,
    media_types.EML: mail,
    media_types.PNG: image,
    media_types.JPEG: image,
    media_types.TIFF: image,
    media_types.WEBP: image,
    media_types.GIF: image,
    media_types.BMP: image,
}
_BY_NAME = {kind.media_type: cast("Reader", reader) for kind, reader in _READERS.items()}


def reader_for(media_type: str) -> Reader:
    """The reader of files of this type, or `Unreadable` if there is none."""
    reader = _BY_NAME.get(media_type)
    if reader is None:
        raise Unreadable(Code.UNSUPPORTED, f"Files of the type {media_type} cannot be read.")
    return reader
