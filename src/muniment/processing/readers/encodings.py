"""Detect the character encoding of a text. Equal bytes give equal results everywhere."""

import codecs
from encodings.aliases import aliases
from typing import BinaryIO

from charset_normalizer import from_bytes

_CHUNK_BYTES = 1 << 20
_SAMPLE_BYTES = 32 * 1024
_FALLBACK = "cp1252"

_BOMS = (  # UTF-32 first, because its mark begins with that of UTF-16
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_ESCAPES = ((b"\x1b$B", "iso2022_jp"), (b"\x1b$@", "iso2022_jp"), (b"\x1b$)C", "iso2022_kr"))

# Encodings that are common in texts without a mark. More candidates would only cause more mistakes.
_CANDIDATES = (
    "cp1252", "cp1250", "iso8859_2", "cp932", "gb18030", "big5", "euc_jp", "cp949", "cp1251", "koi8_r", "cp866",
    "cp1253", "cp1254", "cp1255", "cp1256", "cp1257", "cp850", "iso8859_5", "mac_roman",
)  # fmt: skip


def _load_codecs() -> dict[str, str]:
    """Import all codecs. Python imports them at first use, which fails in the sandbox."""
    known = {}
    for name in sorted({*aliases, *aliases.values()}):
        try:
            found = codecs.lookup(name)
        except LookupError:
            continue  # codecs of other operating systems
        if found._is_text_encoding:  # noqa: SLF001  # the only place that tells "rot13" from an encoding
            known[name] = found.name
    return known


_CODECS = _load_codecs()


def resolve_encoding(name: str | None) -> str | None:
    """Return the codec that a file means by this name, if there is one."""
    plain = (name or "").strip(" \t\"'").lower().replace("-", "_").replace(" ", "_")
    found = _CODECS.get(plain)
    # ASCII and Latin-1 usually mean Windows-1252, as in the HTML standard.
    return _FALLBACK if found in {"ascii", "iso8859-1"} else found


def detect_encoding(file: BinaryIO) -> str:
    """Detect the encoding of a whole file and rewind it."""
    file.seek(0)
    head = file.read(_SAMPLE_BYTES)
    encoding = encoding_from_bom(head) or _encoding_from_zeros(head) or _encoding_from_escapes(head)
    if encoding is None:
        foreign = _sample_non_ascii(file)
        encoding = "utf-8" if foreign is None else _guess(foreign)
    file.seek(0)
    return encoding


def encoding_from_bom(head: bytes) -> str | None:
    """Return the encoding named by the byte order mark, if any."""
    return next((encoding for mark, encoding in _BOMS if head.startswith(mark)), None)


def _encoding_from_zeros(head: bytes) -> str | None:
    """Detect UTF-16 and UTF-32 without a mark: the upper bytes of common characters are zero."""
    zeros = [head[offset::4].count(0) for offset in range(4)]
    quarter = len(head) / 4
    if not quarter or sum(zeros) < len(head) / 100:
        return None
    if zeros[3] > 0.9 * quarter and zeros[2] > 0.9 * quarter:
        return "utf-32-le"
    if zeros[0] > 0.9 * quarter and zeros[1] > 0.9 * quarter:
        return "utf-32-be"
    odd, even = zeros[1] + zeros[3], zeros[0] + zeros[2]
    if min(odd, even) * 20 > max(odd, even):
        return None
    encoding = "utf-16-le" if odd > even else "utf-16-be"
    return encoding if _is_alphabetic(head.decode(encoding, errors="replace")) else None


def _is_alphabetic(text: str) -> bool:
    """Whether the text is mostly letters.

    A stray zero byte is no proof, because any two bytes form some Chinese character.
    """
    return sum(character < "\u2100" for character in text) >= 0.9 * len(text)


def _encoding_from_escapes(head: bytes) -> str | None:
    return next((encoding for escape, encoding in _ESCAPES if escape in head), None)


def _sample_non_ascii(file: BinaryIO) -> bytes | None:
    """Return lines of the file that are not ASCII, or `None` if all of it is UTF-8."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    sample = bytearray()
    is_utf8 = True
    file.seek(0)
    while chunk := file.read(_CHUNK_BYTES):
        is_utf8 = is_utf8 and _can_decode(decoder, chunk)
        if len(sample) < _SAMPLE_BYTES and not chunk.isascii():
            lines = (line for line in chunk.splitlines(keepends=True) if not line.isascii())
            for line in lines:
                sample += line[:_SAMPLE_BYTES]
                if len(sample) >= _SAMPLE_BYTES:
                    break
        if not is_utf8 and len(sample) >= _SAMPLE_BYTES:
            break
    return None if is_utf8 and _can_finish(decoder) else bytes(sample)


def _can_decode(decoder: codecs.IncrementalDecoder, chunk: bytes) -> bool:
    try:
        decoder.decode(chunk)
    except UnicodeDecodeError:
        return False
    return True


def _can_finish(decoder: codecs.IncrementalDecoder) -> bool:
    """Whether the bytes could be completed: a file truncated within its last character is still UTF-8."""
    return len(decoder.getstate()[0]) < 4


def _guess(sample: bytes) -> str:
    """Return the most plausible encoding; among equals the first in our list, since short texts are ambiguous."""
    matches = from_bytes(sample, cp_isolation=list(_CANDIDATES), threshold=0.5, enable_fallback=False)
    ranked = [
        (round(match.chaos, 2), -round(match.coherence, 1), _CANDIDATES.index(encoding), encoding)
        for match in matches
        for encoding in match.could_be_from_charset
        if encoding in _CANDIDATES
    ]
    return min(ranked)[-1] if ranked else _FALLBACK
