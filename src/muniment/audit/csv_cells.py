"""Cells of a table that spreadsheets open: what stands in them must not be taken for a formula."""

import csv
import io
from collections.abc import Iterable

FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")


def csv_line(cells: Iterable[object]) -> bytes:
    """One row, every cell in quotes; nothing is an empty cell."""
    written = io.StringIO()
    csv.writer(written, quoting=csv.QUOTE_ALL, lineterminator="\r\n").writerow(map(_cell, cells))
    return written.getvalue().encode()


def _cell(value: object) -> str:
    text = "" if value is None else str(value)
    return f"'{text}" if text.lstrip(" \u00a0").startswith(FORMULA_STARTS) else text
