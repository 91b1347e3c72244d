"""Analyze what is written exactly: codes, numbers, amounts, IBANs, email addresses and URLs.

A value is found whole, whatever separators it is written with (`AX-4711-B`, `AX 4711 B`, `AX4711B`), and by its parts.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations

from muniment.search.analysis.dates import numeric_dates, spaced_dates
from muniment.search.analysis.folding import fold
from muniment.search.analysis.segments import SEPARATORS

_MIN_COMPACT_DIGITS = 6
"""Groups of digits with fewer digits are a range (`10-12`) rather than one number."""
_MAX_PARTS_IN_GROUPS = 4
_MAX_PARTS = 24
_LETTERS_OR_DIGITS = re.compile(r"\d{3,}|[^\W\d_]{3,}")
_THOUSANDS = re.compile(r"(\d{1,3}(?:([.,'’])\d{3})(?:\2\d{3})*)(?:([.,])(\d{1,4}))?")
_DECIMAL = re.compile(r"(\d+)[.,](\d+)")
_SPACE = " \u00a0\u202f"
_SPACED_AMOUNT = re.compile(rf"(?<![\w.,/-])\d{{1,3}}(?:[{_SPACE}]\d{{3}})+(?:[.,]\d{{1,2}})?(?![\w.,/-]*\w)")
_SPACED_DIGITS = re.compile(rf"(?<![\w.,/-])\d{{1,4}}(?:[{_SPACE}]\d{{2,5}}){{1,6}}(?![{_SPACE}]?[\w.,/-]*\w)")
_PHONE = re.compile(rf"(?<!\w)\+\d{{1,3}}(?:[{_SPACE}/().-]{{1,3}}\d{{2,8}}){{1,6}}(?!\w)")
_SPACED_IBAN = re.compile(
    rf"(?<!\w)([a-z]{{2}}\d{{2}})((?:[{_SPACE}-]?[a-z0-9]{{4}}){{2,7}}(?:[{_SPACE}-]?[a-z0-9]{{1,3}})?)(?!\w)",
    re.IGNORECASE | re.ASCII,
)
_PREFIXED = re.compile(r"(?<![\w.,/-])([A-ZÄÖÜČĆŠŽĐÆØÅ]{1,5}) (\d[\w./-]*\w)(?: ([A-Z])(?!\w))?")
_IBAN_LENGTHS = {
    "AD": 24, "AE": 23, "AL": 28, "AT": 20, "AZ": 28, "BA": 20, "BE": 16, "BG": 22, "BH": 22, "BR": 29, "BY": 28,
    "CH": 21, "CR": 22, "CY": 28, "CZ": 24, "DE": 22, "DK": 18, "DO": 28, "EE": 20, "EG": 29, "ES": 24, "FI": 18,
    "FO": 18, "FR": 27, "GB": 22, "GE": 22, "GI": 23, "GL": 18, "GR": 27, "GT": 28, "HR": 21, "HU": 28, "IE": 22,
    "IL": 23, "IQ": 23, "IS": 26, "IT": 27, "JO": 30, "KW": 30, "KZ": 20, "LB": 28, "LC": 32, "LI": 21, "LT": 20,
    "LU": 20, "LV": 21, "MC": 27, "MD": 24, "ME": 22, "MK": 19, "MR": 27, "MT": 31, "MU": 30, "NL": 18, "NO": 15,
    "PK": 24, "PL": 28, "PS": 29, "PT": 25, "QA": 29, "RO": 24, "RS": 22, "SA": 24, "SC": 31, "SE": 24, "SI": 19,
    "SK": 24, "SM": 27, "ST": 25, "SV": 28, "TL": 23, "TN": 24, "TR": 26, "UA": 29, "VA": 22, "VG": 24, "XK": 20,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class ExactTerms:
    """The terms of a value: each of `whole` stands for all of it. `words` are parts that are analyzed as words."""

    whole: tuple[str, ...]
    parts: tuple[str, ...] = ()
    words: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SpacedValue:
    """A value that is written with spaces, so that its parts are runs of their own."""

    start: int
    end: int
    whole: tuple[str, ...]
    is_certain: bool
    """Whether the parts are one value beyond doubt. Numbers in a row may be several."""


def analyze_code(code: str) -> ExactTerms:
    """Return the terms of a lower-case run that contains a digit."""
    if dates := numeric_dates(code):
        return ExactTerms(dates, parts=tuple(dict.fromkeys(each[:4] for each in dates)))
    if amounts := _amounts(code):
        return amounts
    pieces = [fold(piece) for piece in SEPARATORS.split(code) if piece][:_MAX_PARTS]
    if len(pieces) == 1:
        if pieces[0].isdigit():
            return ExactTerms((pieces[0],))
        if _is_iban(pieces[0]):  # in groups of four, as it is printed
            return ExactTerms(
                (pieces[0],), tuple(pieces[0][start : start + 4] for start in range(0, len(pieces[0]), 4))
            )
        inner = _LETTERS_OR_DIGITS.findall(pieces[0])
        return ExactTerms((pieces[0],), parts=tuple(inner) if len(inner) <= 2 and inner != pieces else ())
    parts: dict[str, None] = {}
    if len(pieces) <= _MAX_PARTS_IN_GROUPS:
        for first, last in combinations(range(len(pieces) + 1), 2):
            if 1 < last - first < len(pieces):
                parts.update(dict.fromkeys(_joined(pieces[first:last])))
    parts.update((piece, None) for piece in pieces if not piece.isalpha())
    return ExactTerms(_joined(pieces), tuple(parts), tuple(piece for piece in pieces if piece.isalpha()))


def analyze_address(address: str) -> ExactTerms:
    """Return the terms of an email address in lower case."""
    address = fold(address)
    local, _, domain = address.rpartition("@")
    pieces = [piece for piece in SEPARATORS.split(address) if piece][:_MAX_PARTS]
    return ExactTerms(
        (address,),
        tuple(dict.fromkeys([local, domain, *(piece for piece in pieces if not piece.isalpha())])),
        tuple(piece for piece in pieces if piece.isalpha()),
    )


def analyze_url(url: str) -> ExactTerms:
    """Return the terms of a URL in lower case: without its scheme, its host, and the words of both."""
    address = fold(url).rpartition("://")[2].removeprefix("www.").rstrip("/")
    host = re.split(r"[/?#:]", address, maxsplit=1)[0]
    pieces = [piece for piece in SEPARATORS.split(address) if piece][:_MAX_PARTS]
    return ExactTerms(
        (address,),
        tuple(dict.fromkeys([host, *(piece for piece in pieces if not piece.isalpha())])),
        tuple(piece for piece in pieces if piece.isalpha()),
    )


def spaced_values(text: str, *, in_query: bool = False) -> list[SpacedValue]:
    """Return the dates, IBANs, amounts and codes of a text that are written with spaces, in order.

    Values of digits do not overlap: of several readings, the longest is taken.
    """
    values = [] if in_query else list(_prefixed_codes(text))
    end = 0
    for value in sorted(_values_of_digits(text), key=lambda value: (value.start, -value.end)):
        if value.start >= end:
            values.append(value)
            end = value.end
    return sorted(values, key=lambda value: value.start)


def _values_of_digits(text: str) -> Iterator[SpacedValue]:
    for start, end, value in spaced_dates(text):
        yield SpacedValue(start, end, (value,), is_certain=True)
    for match in _SPACED_IBAN.finditer(text):
        compact = SEPARATORS.sub("", match[0])
        if len(compact) < len(match[0]) and _is_iban(compact):
            yield SpacedValue(match.start(), match.end(), (compact.lower(),), is_certain=True)
    for match in _SPACED_AMOUNT.finditer(text):
        if amounts := _amounts(re.sub(rf"[{_SPACE}]", "", match[0])):
            yield SpacedValue(match.start(), match.end(), amounts.whole, is_certain=True)
    for match in _PHONE.finditer(text):
        yield SpacedValue(match.start(), match.end(), (re.sub(r"\D", "", match[0]),), is_certain=True)
    for match in _SPACED_DIGITS.finditer(text):
        digits = re.sub(r"\D", "", match[0])
        if len(digits) > _MIN_COMPACT_DIGITS:
            yield SpacedValue(match.start(), match.end(), (digits,), is_certain=False)


def _prefixed_codes(text: str) -> Iterator[SpacedValue]:
    """Yield what may be a code in two words: capitals and a number, as in `RE 2024-0815` for `RE-2024-0815`.

    Most are a code and something else, so that only indexes have them: a query with a space does not ask for one.
    """
    for match in _PREFIXED.finditer(text):
        joined = re.sub(r"[\W_]", "", match[0])
        yield SpacedValue(match.start(), match.end(), (fold(joined.lower()),), is_certain=False)


def _is_iban(compact: str) -> bool:
    """Return whether a country's IBANs look like this. Their checksums are not verified, because samples have none."""
    return (
        len(compact) == _IBAN_LENGTHS.get(compact[:2].upper())
        and compact[2:4].isdigit()
        and sum(map(str.isdigit, compact)) * 2 > len(compact)
    )


def _joined(pieces: list[str]) -> tuple[str, ...]:
    """Return the whole of a code without its separators. Between digits they separate numbers and are kept."""
    compact = "".join(pieces)
    if not all(piece.isdigit() for piece in pieces):
        return (compact,)
    return ("-".join(pieces), compact) if len(compact) >= _MIN_COMPACT_DIGITS else ("-".join(pieces),)


def _amounts(number: str) -> ExactTerms | None:
    """Return the values of a number: `1.234,56` is 1234.56, and `1.234` may be 1234 or 1.234."""
    if number.isdigit():
        return ExactTerms((number,))
    whole: dict[str, None] = {}
    parts: dict[str, None] = {}
    if match := _THOUSANDS.fullmatch(number):
        grouped, separator, point, decimals = match.groups()
        if point != separator:
            integer = re.sub(r"\D", "", grouped)
            whole[f"{integer}.{decimals}" if decimals else integer] = None
            parts[integer] = None
    if match := _DECIMAL.fullmatch(number):
        whole[f"{match[1]}.{match[2]}"] = None
        parts[match[1]] = None
    return ExactTerms(tuple(whole), tuple(part for part in parts if part not in whole)) if whole else None
