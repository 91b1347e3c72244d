"""In RTF a font decides how bytes are read."""

from muniment.processing.readers.charset import known_encoding

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

    def begin(self, number: int | None) -> None:
        self._current = number

    def set_charset(self, number: int | None) -> None:
        """0 is the code page of the file, 2 a font of symbols: neither says anything."""
        if self._current is not None and number in _CHARSETS:
            self._encodings[self._current] = _CHARSETS[number]

    def set_codepage(self, number: int | None) -> None:
        encoding = known_encoding(f"cp{number}")
        if self._current is not None and encoding:
            self._encodings[self._current] = encoding

    def encoding_of(self, font: int | None) -> str | None:
        number = self._default if font is None else font
        return self._encodings.get(number) if number is not None else None
