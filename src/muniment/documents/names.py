"""Valid document names, keys for comparing them, and the `Content-Disposition` of a download.

A name is stored as it was given, in any script, composed or decomposed. Only its key is folded. Names never become
paths on the server, so `CON.txt` is a valid name; it is changed in downloads, because Windows reserves it.
"""

import re
import unicodedata
from urllib.parse import quote

from muniment.errors import Invalid

MAX_NAME_CHARACTERS = 255

# Overrides and isolates let `invoice[U+202E]fdp.exe` be displayed as `invoiceexe.pdf`. Right-to-left scripts need none.
_BIDI_CONTROLS = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
_UNPRINTABLE = frozenset({"Cc", "Cs", "Zl", "Zp"})  # controls, lone surrogates, line and paragraph separators
# Soft hyphen, Mongolian vowel separator, zero-width spaces and joiners, direction marks, byte order mark.
_ZERO_WIDTH = re.compile("[\u00ad\u180e\u200b-\u200f\u2060-\u2064\ufeff]")
_WHITE_SPACE = re.compile(r"\s+")
_PATH_SEPARATORS = re.compile(r"[/\\]")

_RESERVED_DEVICE_NAMES = re.compile(
    r"(con|prn|aux|nul|conin\$|conout\$|(com|lpt)[0-9¹²³]) *(\..*)?", re.IGNORECASE | re.DOTALL
)
_NOT_IN_QUOTED_ASCII = re.compile(r'[^ -~]|["\\%/]')


class InvalidName(Invalid):
    """Invalid file name"""


def clean_name(raw: str) -> str:
    """Return the file name without the folders that a client may have sent.

    Raise `InvalidName` for control characters, an empty name, `.`, `..`, and more than 255 characters.
    """
    if any(unicodedata.category(character) in _UNPRINTABLE for character in raw):
        raise InvalidName("A file name cannot contain control characters or line breaks")
    if not _BIDI_CONTROLS.isdisjoint(raw):
        raise InvalidName("A file name cannot contain text direction characters")
    name = _PATH_SEPARATORS.split(raw)[-1].strip()
    if name in ("", ".", ".."):
        raise InvalidName('A file name cannot be empty, "." or ".."')
    if len(name) > MAX_NAME_CHARACTERS:
        raise InvalidName(f"A file name can have at most {MAX_NAME_CHARACTERS} characters")
    return name


def name_key(name: str) -> str:
    """Return a key that is equal for names which look the same.

    They may differ in case, in Unicode composition or width, in zero-width characters, in the kind and number of
    spaces, and in trailing dots and spaces.
    """
    # Until nothing changes, so that the key of a key is the key itself: folding can produce characters that fold again.
    # The database relies on it (`clean_name_key` in the migrations).
    key = _fold(_simplify(name))
    while (again := _fold(_simplify(key))) != key:
        key = again
    return key


def content_disposition(name: str) -> str:
    """Return the header that makes a browser save a file as `name`, or as `_name` if Windows reserves the name."""
    safe = f"_{name}" if _RESERVED_DEVICE_NAMES.fullmatch(name) else name
    fallback = _NOT_IN_QUOTED_ASCII.sub("_", safe)
    return f"attachment; filename=\"{fallback}\"; filename*=UTF-8''{quote(safe, safe='', errors='replace')}"


def _simplify(name: str) -> str:
    compatible = unicodedata.normalize("NFKC", name)
    simple = _WHITE_SPACE.sub(" ", _ZERO_WIDTH.sub("", compatible)).rstrip(". ")
    return simple or compatible  # of a name like "...", nothing would be left


def _fold(name: str) -> str:
    return unicodedata.normalize("NFC", unicodedata.normalize("NFD", name).casefold())
