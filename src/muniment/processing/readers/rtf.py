"""Rich Text Format: a stream of words with a backslash, groups in braces, and text between them."""

from typing import BinaryIO

from muniment.processing.readers.contract import Means, Options, Reading
from muniment.processing.readers.damage import damage_is_unreadable
from muniment.processing.readers.paging import read_pages
from muniment.processing.readers.rtf_document import RtfDocument


def open_file(file: BinaryIO, media_type: str, options: Options, means: Means) -> Reading:
    with damage_is_unreadable("RTF"):
        blocks = RtfDocument().read(file.read())
    return read_pages("RTF", lambda: blocks, options, means, has_pages=True)
