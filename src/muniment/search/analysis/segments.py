"""Divide text into runs: words, and what is written without a space in between (`e-mail`, `AX-4711-B`, `a@b.de`)."""

import re
import unicodedata
from collections.abc import Iterator

# Characters inside a word that are not seen: soft hyphen, zero-width characters, byte order mark, variation selectors.
_INVISIBLE = "\u00ad\u200b-\u200d\u2060\ufe00-\ufe0f\ufeff"
_MARKS = "".join(chr(code) for code in range(0x300, 0x1E00) if unicodedata.category(chr(code)).startswith("M"))
_IN_WORD = rf"\w{_MARKS}\u20d0-\u20ff\ufe20-\ufe2f{_INVISIBLE}"
_APOSTROPHES = "'\u2019\u02bc\uff07\u00b4`\u2018"
_HYPHENS = "\u2010-\u2013\u2212\uff0d"
# A hyphen at the end of a line may divide a word or join two, so that both are found.
_JOINED_BY = rf"(?:[.·/@&+{_APOSTROPHES}{_HYPHENS}-]|-\r?\n(?=[^\W\d_A-Z])|(?<=\d)[,:](?=\d))"
_RUN = re.compile(rf"[{_IN_WORD}]+(?:{_JOINED_BY}[{_IN_WORD}]+)*")
_URL = re.compile(r"(?<!\w)(?:[a-z][a-z0-9+.-]{1,15}://|www\.)[^\s<>\"'»«“”]*[\w/]", re.IGNORECASE)
_SIMPLIFY = str.maketrans(
    dict.fromkeys("\u2019\u02bc\uff07\u00b4`\u2018", "'")
    | dict.fromkeys("\u2010\u2011\u2012\u2013\u2212\uff0d", "-")
    | dict.fromkeys("\u00ad\u200b\u200c\u200d\u2060\ufeff" + "".join(map(chr, range(0xFE00, 0xFE10))))
)

SEPARATORS = re.compile(rf"(?:[^\w{_MARKS}]|_)+")
"""What is between the parts of a normalized run."""
PIECES = re.compile(rf"(?:[^\W_]|[{_MARKS}'])+")
"""Parts of a normalized run; an apostrophe belongs to its word."""


def split_runs(text: str) -> Iterator[tuple[int, int]]:
    """Yield start and end of the runs of a text, in order. A URL is one run."""
    urls = _URL.finditer(text) if "://" in text or "www." in text.lower() else iter(())
    url = next(urls, None)
    resume = 0
    for match in _RUN.finditer(text):
        start, end = match.span()
        if start < resume:
            continue
        while url and url.end() <= start:
            url = next(urls, None)
        if url and url.start() < end:
            start, end = min(start, url.start()), max(url.end(), end)
            resume = end
        yield start, end


def is_url(run: str) -> bool:
    """Return whether a run in lower case is a URL."""
    return run.startswith("www.") or "://" in run


def normalize(run: str) -> str:
    """Return a run in lower case, composed (NFKC), with plain hyphens and apostrophes and no invisible characters."""
    if run.isascii():
        return run.lower().replace("`", "'")
    return unicodedata.normalize("NFKC", run.translate(_SIMPLIFY)).translate(_SIMPLIFY).lower()
