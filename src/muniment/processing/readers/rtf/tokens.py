"""Tokens and font table of an RTF file. Malformed input never fails: anything but a control word is text."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum, auto

from muniment.processing.readers.encodings import resolve_encoding

_TOKEN = re.compile(
    rb"\\([a-zA-Z]{1,32})(-?\d{1,10})? ?"  # control word with its number
    rb"|\\'([0-9a-fA-F]{2})"  # byte
    rb"|\\([^a-zA-Z'])"  # control symbol
    rb"|([{}])"
    rb"|([^\\{}\r\n]+)"  # text
    rb"|[\r\n]+|\\",
    re.DOTALL,
)


class TokenType(Enum):
    CONTROL_WORD = auto()
    BYTES = auto()
    CONTROL_SYMBOL = auto()
    OPEN = auto()
    CLOSE = auto()


@dataclass(frozen=True, slots=True)
class RtfToken:
    token_type: TokenType
    word: str = ""
    number: int | None = None
    content: bytes = b""


def tokenize(data: bytes) -> Iterator[RtfToken]:
    at = 0
    while match := _TOKEN.match(data, at):
        at = match.end()
        word, number, escaped, sign, brace, text = match.groups()
        if word == b"bin":
            at += max(int(number or 0), 0)  # raw bytes, which may look like anything
        elif word:
            yield RtfToken(TokenType.CONTROL_WORD, word.decode("ascii"), int(number) if number else None)
        elif escaped:
            yield RtfToken(TokenType.BYTES, content=bytes.fromhex(escaped.decode("ascii")))
        elif sign:
            yield RtfToken(TokenType.CONTROL_SYMBOL, sign.decode("latin-1"))
        elif brace:
            yield RtfToken(TokenType.OPEN if brace == b"{" else TokenType.CLOSE)
        elif text:
            yield RtfToken(TokenType.BYTES, content=text)


_CHARSETS = {
    77: "mac_roman", 128: "cp932", 129: "cp949", 130: "johab", 134: "gb18030", 136: "big5",
    161: "cp1253", 162: "cp1254", 163: "cp1258", 177: "cp1255", 178: "cp1256", 186: "cp1257",
    204: "cp1251", 222: "cp874", 238: "cp1250", 254: "cp437", 255: "cp850",
}  # fmt: skip


class FontTable:
    def __init__(self) -> None:
        self._encodings: dict[int, str] = {}
        self._default: int | None = None
        self._current: int | None = None

    def set_default(self, number: int | None) -> None:
        self._default = number

    def begin_font(self, number: int | None) -> None:
        self._current = number

    def set_charset(self, number: int | None) -> None:
        """Set the character set of a font; 0 (the file's code page) and 2 (symbols) are ignored."""
        if self._current is not None and number in _CHARSETS:
            self._encodings[self._current] = _CHARSETS[number]

    def set_codepage(self, number: int | None) -> None:
        encoding = resolve_encoding(f"cp{number}")
        if self._current is not None and encoding:
            self._encodings[self._current] = encoding

    def find_encoding(self, font: int | None) -> str | None:
        number = self._default if font is None else font
        return self._encodings.get(number) if number is not None else None
