"""Reader of email: headers, then the text. Attachments are listed by name, not read.

The standard library raises nearly any exception on malformed parts; those are read less precisely.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from email.message import EmailMessage, Message
from email.parser import BytesParser
from email.policy import default
from io import BytesIO
from typing import BinaryIO, cast

from muniment.processing.readers.blocks import Block, collapse_whitespace, limit_blocks, paginate
from muniment.processing.readers.contract import OpenedDocument, ParagraphKind, ReaderResources, ReadingOptions
from muniment.processing.readers.encodings import detect_encoding, resolve_encoding
from muniment.processing.readers.errors import parser_errors_as_unreadable
from muniment.processing.readers.html import html_blocks
from muniment.processing.readers.plain_text import text_blocks

_PARSER_ERRORS = (LookupError, ValueError, TypeError, AttributeError, AssertionError, RecursionError, ArithmeticError)


_MAX_NESTING = 50


_TEXTS = frozenset({"text/plain", "text/html"})


@dataclass(slots=True)
class MailParts:
    bodies: list[EmailMessage] = field(default_factory=list)
    attachments: list[EmailMessage] = field(default_factory=list)
    messages: list[EmailMessage] = field(default_factory=list)
    """Messages forwarded as attachments."""

    def add(self, others: "MailParts") -> None:
        self.bodies += others.bodies
        self.attachments += others.attachments
        self.messages += others.messages


def header(message: EmailMessage, name: str) -> str:
    """Return a decoded header, or an empty string."""
    try:
        value = str(message.get(name, ""))
    except _PARSER_ERRORS:
        value = next((str(raw) for key, raw in message.raw_items() if key.lower() == name.lower()), "")
    return collapse_whitespace(_repair_surrogates(value))


def classify_parts(part: EmailMessage, depth: int = 0) -> MailParts:
    """Separate the text of the message, in order, from its attachments."""
    kind = part.get_content_type()
    if kind == "message/rfc822":
        return MailParts(messages=[cast("EmailMessage", inner) for inner in _subparts(part)])
    if not part.is_multipart():
        is_body = kind in _TEXTS and not _is_attachment(part)
        return MailParts(bodies=[part]) if is_body else MailParts(attachments=[part])
    if depth > _MAX_NESTING:
        return MailParts()
    inner = [classify_parts(cast("EmailMessage", each), depth + 1) for each in _subparts(part)]
    return _choose_alternative(inner) if kind == "multipart/alternative" else _classify_all(inner)


def decode_text(part: EmailMessage) -> str:
    """Decode a part with the encoding it names, or with the detected one."""
    try:
        payload = part.get_payload(decode=True)
        data = payload if isinstance(payload, bytes) else b""
        charset = resolve_encoding(part.get_content_charset())
    except _PARSER_ERRORS:
        data, charset = str(part.get_payload()).encode("utf-8", "surrogateescape"), None
    if charset is None or (charset == "utf-8" and not _is_utf8(data)):
        charset = detect_encoding(BytesIO(data))
    return data.decode(charset, errors="replace")


def file_name(part: EmailMessage) -> str:
    try:
        name = part.get_filename()
    except _PARSER_ERRORS:
        name = None
    return collapse_whitespace(_repair_surrogates(name or "")) or part.get_content_type()


def _subparts(part: EmailMessage) -> list[Message]:
    payload = part.get_payload()
    return [each for each in payload if isinstance(each, Message)] if isinstance(payload, list) else []


def _is_attachment(part: EmailMessage) -> bool:
    try:
        return part.get_content_disposition() == "attachment" or part.get_filename() is not None
    except _PARSER_ERRORS:
        return False


def _choose_alternative(alternatives: list[MailParts]) -> MailParts:
    """Return the plain version of a multipart/alternative, unless it is empty."""
    alternative = next((each for each in alternatives if _has_plain_text(each)), None) or next(
        (each for each in reversed(alternatives) if each.bodies), MailParts()
    )
    combined = MailParts(bodies=alternative.bodies)
    for version in alternatives:
        combined.add(MailParts([], version.attachments, version.messages))
    return combined


def _has_plain_text(parts: MailParts) -> bool:
    return any(body.get_content_type() == "text/plain" and decode_text(body).strip() for body in parts.bodies)


def _classify_all(inner: Iterable[MailParts]) -> MailParts:
    parts = MailParts()
    for each in inner:
        parts.add(each)
    return parts


def _is_utf8(data: bytes) -> bool:
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def _repair_surrogates(value: str) -> str:
    """Repair surrogates, which the parser uses for bytes that are not allowed in headers."""
    raw = value.encode("utf-8", "surrogateescape") if any("\udc80" <= each <= "\udcff" for each in value) else b""
    return raw.decode(detect_encoding(BytesIO(raw)), errors="replace") if raw else value


_SHOWN_HEADERS = ("From", "To", "Cc", "Date", "Subject")


_MAX_DEPTH = 3


def open_file(file: BinaryIO, media_type: str, options: ReadingOptions, resources: ReaderResources) -> OpenedDocument:
    with parser_errors_as_unreadable("mail"):
        message = BytesParser(policy=default).parse(file)
        blocks = list(limit_blocks(_read_message(message, _MAX_DEPTH, resources), resources))
    return paginate("mail", lambda: blocks, options, resources)


def _read_message(message: EmailMessage, depth: int, resources: ReaderResources) -> Iterator[Block]:
    yield Block(header(message, "Subject"), ParagraphKind.HEADING)
    lines = [f"{name}: {value}" for name in _SHOWN_HEADERS if (value := header(message, name))]
    yield Block("\n".join(lines))
    parts = classify_parts(message)
    for body in parts.bodies:
        yield from _read_body(body, resources)
    names = [file_name(part) for part in parts.attachments]
    if names:
        yield Block(f"Attachments: {', '.join(names)}")
    for inner in parts.messages if depth else ():
        yield from _read_message(inner, depth - 1, resources)


def _read_body(part: EmailMessage, resources: ReaderResources) -> Iterator[Block]:
    text = decode_text(part)
    if part.get_content_type() == "text/html":
        yield from html_blocks(text, resources)
    else:
        yield from text_blocks(iter(text.replace("\r\n", "\n").replace("\r", "\n").split("\n")))
