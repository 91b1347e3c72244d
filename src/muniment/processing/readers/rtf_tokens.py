"""The words of an RTF file. Nothing in it can be so broken that this fails: what is no word is text."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum, auto

_TOKEN = re.compile(
    rb"\\([a-zA-Z]{1,32})(-?\d{1,10})? ?"  # a word and its number
    rb"|\\'([0-9a-fA-F]{2})"  # a byte
    rb"|\\([^a-zA-Z'])"  # a sign
    rb"|([{}])"
    rb"|([^\\{}\r\n]+)"  # text
    rb"|[\r\n]+|\\",
    re.DOTALL,
)


class Token(Enum):
    WORD = auto()
    BYTES = auto()
    SIGN = auto()
    OPEN = auto()
    CLOSE = auto()


@dataclass(frozen=True, slots=True)
class Lexeme:
    token: Token
    word: str = ""
    number: int | None = None
    content: bytes = b""
    is_escaped: bool = False


def split_rtf(data: bytes) -> Iterator[Lexeme]:
    at = 0
    while match := _TOKEN.match(data, at):
        at = match.end()
        word, number, escaped, sign, brace, text = match.groups()
        if word == b"bin":
            at += max(int(number or 0), 0)  # raw bytes, which may look like anything
        elif word:
            yield Lexeme(Token.WORD, word.decode("ascii"), int(number) if number else None)
        elif escaped:
            yield Lexeme(Token.BYTES, content=bytes.fromhex(escaped.decode("ascii")), is_escaped=True)
        elif sign:
            yield Lexeme(Token.SIGN, sign.decode("latin-1"))
        elif brace:
            yield Lexeme(Token.OPEN if brace == b"{" else Token.CLOSE)
        elif text:
            yield Lexeme(Token.BYTES, content=text)
