"""Mail: who wrote to whom about what, then the text. Attachments are named, not read."""

from collections.abc import Iterator
from email.message import EmailMessage
from email.parser import BytesParser
from email.policy import default
from typing import BinaryIO

from muniment.processing.readers.contract import Means, Options, ParagraphKind, Reading
from muniment.processing.readers.damage import damage_is_unreadable
from muniment.processing.readers.html import html_blocks
from muniment.processing.readers.mail_parts import decode_text, file_name, header, sort_parts
from muniment.processing.readers.paging import read_pages
from muniment.processing.readers.plain import text_blocks
from muniment.processing.readers.text_blocks import Block

_SHOWN = ("From", "To", "Cc", "Date", "Subject")
_MAX_DEPTH = 3


def open_file(file: BinaryIO, media_type: str, options: Options, means: Means) -> Reading:
    with damage_is_unreadable("mail"):
        message = BytesParser(policy=default).parse(file)
        blocks = list(_read_message(message, _MAX_DEPTH))
    return read_pages("mail", lambda: blocks, options, means)


def _read_message(message: EmailMessage, depth: int) -> Iterator[Block]:
    yield Block(header(message, "Subject"), ParagraphKind.HEADING)
    lines = [f"{name}: {value}" for name in _SHOWN if (value := header(message, name))]
    yield Block("\n".join(lines))
    parts = sort_parts(message)
    for body in parts.bodies:
        yield from _read_body(body)
    names = [file_name(part) for part in parts.attachments]
    if names:
        yield Block(f"Attachments: {', '.join(names)}")
    for inner in parts.messages if depth else ():
        yield from _read_message(inner, depth - 1)


def _read_body(part: EmailMessage) -> Iterator[Block]:
    text = decode_text(part)
    if part.get_content_type() == "text/html":
        yield from html_blocks(text)
    else:
        yield from text_blocks(iter(text.replace("\r\n", "\n").replace("\r", "\n").split("\n")))
