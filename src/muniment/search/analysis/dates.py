"""Recognize dates in their usual spellings and write them as ISO 8601: 2026-03-05, 5.3.2026, 5 March 2026."""

import re
from collections.abc import Iterator
from datetime import date

from muniment.search.analysis.folding import fold, to_latin

_YEAR_FIRST = re.compile(r"(\d{4})([-/.])(\d{1,2})\2(\d{1,2})")
_YEAR_LAST = re.compile(r"(\d{1,2})([-/.])(\d{1,2})\2(\d{4}|\d{2})")
_SPACE = r"[ \u00a0\u202f]"
_NAMED = re.compile(
    rf"(?<![\w.,/-])(\d{{1,2}})(?:st|nd|rd|th|er|\.)?{_SPACE}?(?:of |de |den )?([^\W\d_]{{3,12}})\.?,?{_SPACE}(?:de )?"
    r"(\d{4})(?!\w)",
    re.IGNORECASE,
)
_NAMED_FIRST = re.compile(
    rf"(?<![^\W_])([^\W\d_]{{3,12}})\.?{_SPACE}(\d{{1,2}})(?:st|nd|rd|th)?,?{_SPACE}(\d{{4}})(?!\w)", re.IGNORECASE
)
_SPACED = re.compile(rf"(?<![\w.,/-])(\d{{1,2}})\.{_SPACE}(\d{{1,2}})\.{_SPACE}(\d{{4}})(?!\w)")
_FIRST_YEAR_OF_CENTURY = 70
"""Two-digit years from here on are of the 20th century."""

_MONTHS = """
january januar januari janvier gennaio enero janeiro sijecanj sijecnja jan
february februar februari fevrier febbraio febrero fevereiro veljaca veljace feb
march marz maerz mars maart marts mart marta marzo marco ozujak ozujka mar
april avril aprile abril aprila travanj travnja apr
may mai maj mei maja mayo maggio maio svibanj svibnja
june juni jun juna juin giugno junio junho lipanj lipnja
july juli jul jula juillet luglio julio julho srpanj srpnja
august avgust avgusta augusta augustus augusti aout agosto kolovoz kolovoza aug avg
september septembar septembra septembre settembre septiembre setembro rujan rujna sep sept
october oktober oktobar oktobra octobre ottobre octubre outubro listopad listopada oct okt
november novembar novembra novembre noviembre novembro studeni studenoga studenog nov
december dezember desember decembar decembra decembre dicembre diciembre dezembro prosinac prosinca dec dez des
"""
_MONTH_NUMBERS = {name: number for number, line in enumerate(_MONTHS.split("\n")) for name in line.split()}


def numeric_dates(run: str) -> tuple[str, ...]:
    """Return what a date in digits may mean: two days if day and month of `03/05/2026` can be exchanged."""
    if match := _YEAR_FIRST.fullmatch(run):
        return _valid((match[1], match[3], match[4]))
    if match := _YEAR_LAST.fullmatch(run):
        first, separator, second, year = match.groups()
        if len(year) == 2:
            year = f"{'19' if int(year) >= _FIRST_YEAR_OF_CENTURY else '20'}{year}"
        month_first = ((year, first, second),) if separator == "/" else ()
        return _valid((year, second, first), *month_first)
    return ()


def spaced_dates(text: str) -> Iterator[tuple[int, int, str]]:
    """Yield start, end and value of the dates that are written with spaces."""
    for match in _NAMED.finditer(text):
        yield from _named(match, day=match[1], month=match[2])
    for match in _NAMED_FIRST.finditer(text):
        yield from _named(match, day=match[2], month=match[1])
    for match in _SPACED.finditer(text):
        for value in _valid((match[3], match[2], match[1])):
            yield match.start(), match.end(), value


def _named(match: re.Match[str], *, day: str, month: str) -> Iterator[tuple[int, int, str]]:
    number = _MONTH_NUMBERS.get(fold(to_latin(month.lower())))
    for value in _valid((match[3], str(number or 0), day)):
        yield match.start(), match.end(), value


def _valid(*candidates: tuple[str, str, str]) -> tuple[str, ...]:
    values: dict[str, None] = {}
    for year, month, day in candidates:
        try:
            values[date(int(year), int(month), int(day)).isoformat()] = None
        except ValueError:
            continue
    return tuple(values)
