"""Format values with the number formats of a workbook.

Dates are written as ISO 8601, whatever the cell's format.
"""

import re
from datetime import datetime, timedelta
from functools import lru_cache

from muniment.processing.readers.office.xml import Element, attribute, children, find

_EPOCH_1900, _EPOCH_1904 = datetime(1899, 12, 30), datetime(1904, 1, 1)  # noqa: DTZ001  # a sheet knows no zones
_FALSE_LEAP_DAY = 60
"""Excel counts a 29 February 1900, so that the days before it are off by one."""
_MAX_SERIAL = 2_958_466  # the year 9999
_MAX_NUMBER = 1e300

_BUILT_IN = {
    1: "0", 2: "0.00", 3: "#,##0", 4: "#,##0.00", 9: "0%", 10: "0.00%", 14: "m/d/yyyy", 15: "d-mmm-yy", 16: "d-mmm",
    17: "mmm-yy", 18: "h:mm AM/PM", 19: "h:mm:ss AM/PM", 20: "h:mm", 21: "h:mm:ss", 22: "m/d/yyyy h:mm", 37: "#,##0",
    38: "#,##0", 39: "#,##0.00", 40: "#,##0.00", 45: "mm:ss", 46: "[h]:mm:ss", 47: "mm:ss",
}  # fmt: skip
_EAST_ASIAN_DATES = (*range(27, 37), *range(50, 59))

_QUOTED = re.compile(r'"([^"]*)"|\\(.)|\[\$([^\]-]*)[^\]]*\]')
_INVISIBLE = re.compile(r"\[(?!h|m|s)[^\]]*\]|_.|\*.", re.IGNORECASE)
_ELAPSED = re.compile(r"\[(?:h+|m+|s+)\]", re.IGNORECASE)
_DIGITS = re.compile(r"[#0?][#0?,]*(?:\.[#0?]*)?")


class NumberFormats:
    """Number formats of a workbook by cell style."""

    def __init__(self, styles: Element | None, *, is_1904: bool) -> None:
        own = find(styles, "numFmts")
        codes = {**_BUILT_IN, **dict.fromkeys(_EAST_ASIAN_DATES, "yyyy-mm-dd")}
        for entry in own if own is not None else ():
            codes[_to_int(attribute(entry, "numFmtId"))] = attribute(entry, "formatCode") or ""
        cells = find(styles, "cellXfs")
        cell_formats = children(cells, "xf") if cells is not None else ()
        self._codes = [codes.get(_to_int(attribute(entry, "numFmtId")), "") for entry in cell_formats]
        self._is_1904 = is_1904

    def format_value(self, value: str, style: str | None) -> str:
        """Format a cell's value; anything but a number stays as it is."""
        try:
            number = float(value)
        except ValueError:
            return value
        if not abs(number) < _MAX_NUMBER:
            return value  # infinite or not a number, which spreadsheets do not have
        index = _to_int(style)
        code = self._codes[index] if index < len(self._codes) else ""
        section = _section(code, number)
        if _is_date(section):
            return _format_date(number, section, is_1904=self._is_1904) or value
        return _format_number(number, section)


def _section(code: str, number: float) -> str:
    """Return the section of the format for the value: negative numbers and zero may have their own."""
    sections = _split(code)
    return sections[2] if number == 0 and len(sections) > 2 else sections[0]


# Cached, because a million cells share a few formats.
@lru_cache(maxsize=1024)
def _split(code: str) -> list[str]:
    return re.split(r';(?=(?:[^"]*"[^"]*")*[^"]*$)', code[:500])


@lru_cache(maxsize=1024)
def _is_date(section: str) -> bool:
    plain = _QUOTED.sub("", section)
    if _ELAPSED.search(plain):
        return True
    plain = re.sub(r"general", "", _INVISIBLE.sub("", plain), flags=re.IGNORECASE)
    return bool(re.search(r"[ymdhs]", plain, re.IGNORECASE)) and not re.search(r"[#?]", plain)


def _format_date(serial: float, section: str, *, is_1904: bool) -> str:
    if _ELAPSED.search(section):
        seconds = round(serial * 86_400)
        return f"{'-' * (seconds < 0)}{abs(seconds) // 3600}:{abs(seconds) // 60 % 60:02}:{abs(seconds) % 60:02}"
    if not 0 <= serial < _MAX_SERIAL:
        return ""
    days = serial + (0 < serial < _FALSE_LEAP_DAY and not is_1904)
    moment = (_EPOCH_1904 if is_1904 else _EPOCH_1900) + timedelta(seconds=round(days * 86_400))
    plain = _INVISIBLE.sub("", _QUOTED.sub("", section)).lower()
    if serial < 1 and not re.search(r"[yd]", plain):
        return moment.time().isoformat()
    has_time = bool(re.search(r"[hs]", plain)) and moment.time().isoformat() != "00:00:00"
    return moment.isoformat(" ") if has_time else moment.date().isoformat()


def _format_number(number: float, section: str) -> str:
    plain = _INVISIBLE.sub("", _QUOTED.sub("", section))
    placeholder = _DIGITS.search(plain)
    if placeholder is None or re.search(r"[eE/@]|General", plain):
        return _format_general(number)
    if "%" in plain:
        number *= 100
    whole, _, decimals = placeholder[0].partition(".")
    places = min(len(decimals), 15)
    digits = f"{abs(number):{',' if ',' in whole else ''}.{places}f}"
    optional = len(decimals) - len(decimals.rstrip("#?"))
    digits = _trim_zeros(digits, optional) if optional else digits
    sign = "-" if number < 0 and float(digits.replace(",", "")) else ""
    before, after = _literals(section)
    return f"{before}{sign}{digits.zfill(whole.count('0'))}{'%' * ('%' in plain)}{after}".strip()


def _trim_zeros(digits: str, optional: int) -> str:
    """Remove optional zeros: `0.##` shows up to two decimal places."""
    for _ in range(optional):
        digits = digits.removesuffix("0") if "." in digits else digits
    return digits.removesuffix(".")


@lru_cache(maxsize=1024)
def _literals(section: str) -> tuple[str, str]:
    """Return the text before and after the digits: a currency, a unit."""
    visible = _INVISIBLE.sub("", _QUOTED.sub(lambda match: match[1] or match[2] or match[3] or "", section))
    digits = _DIGITS.search(visible)
    if digits is None:
        return "", ""
    signs = str.maketrans("", "", "%()-+")
    return visible[: digits.start()].translate(signs), visible[digits.end() :].translate(signs)


def _format_general(number: float) -> str:
    if number == int(number) and abs(number) < 1e15:
        return str(int(number))
    return f"{number:.10g}" if abs(number) < 1e11 else f"{number:.6g}"


def _to_int(value: str | None) -> int:
    return int(value[:9]) if value and value.isdecimal() else 0
