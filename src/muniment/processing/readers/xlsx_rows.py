"""The cells of a sheet, as far as there is something in them."""

from muniment.processing.readers.part_xml import Element, children, find, local_name
from muniment.processing.readers.text_blocks import in_one_line
from muniment.processing.readers.xlsx_numbers import Formats

_TRUTHS = {"0": "FALSE", "1": "TRUE"}
_MAX_DIGITS = 10

Row = dict[int, str]
"""Texts by column, from 1. Empty cells are not there."""


class RowReader:
    def __init__(self, strings: list[str], formats: Formats) -> None:
        self._strings = strings
        self._formats = formats

    def read(self, row: Element) -> Row:
        texts: Row = {}
        column = 0
        for cell in children(row, "c"):
            column = _column(cell.get("r") or "") or column + 1
            if text := in_one_line(self._read_cell(cell)):
                texts[column] = text
        return texts

    def _read_cell(self, cell: Element) -> str:
        kind = cell.get("t") or "n"
        if kind == "inlineStr":
            inline = find(cell, "is")
            return rich_text(inline) if inline is not None else ""
        element = find(cell, "v")
        value = (element.text or "").strip() if element is not None else ""
        if kind == "s":
            index = int(value) if value.isdecimal() and len(value) < _MAX_DIGITS else len(self._strings)
            return self._strings[index] if index < len(self._strings) else ""
        if kind == "b":
            return _TRUTHS.get(value, value)
        return self._formats.show(value, cell.get("s")) if kind == "n" else value


def rich_text(item: Element) -> str:
    """Of all its runs; how to pronounce it (`rPh`) is not part of it."""
    runs = [item, *children(item, "r")]
    return "".join(piece.text or "" for run in runs for piece in run if local_name(piece) == "t")


class Chunk:
    """Rows that become one table. Columns that are empty in all of them are left out."""

    def __init__(self) -> None:
        self._rows: list[Row] = []
        self._columns: set[int] = set()
        self._characters = 0

    def add(self, row: Row) -> None:
        if row:
            self._rows.append(row)
            self._columns.update(row)
            self._characters += sum(map(len, row.values()))

    def cost_with(self, row: Row) -> int:
        """No less than its text would have with this row: few cells far from each other make a text of many tabs."""
        new_columns = sum(1 for column in row if column not in self._columns)
        cells = (len(self._rows) + 1) * (len(self._columns) + new_columns)
        return self._characters + sum(map(len, row.values())) + cells

    def text(self) -> str:
        columns = sorted(self._columns)
        return "\n".join("\t".join(row.get(column, "") for column in columns).rstrip("\t") for row in self._rows)


def _column(reference: str) -> int:
    """`AB12` stands in column 28; 0 if it does not say."""
    number = 0
    for letter in reference[:3].upper():
        if not "A" <= letter <= "Z":
            break
        number = number * 26 + ord(letter) - ord("A") + 1
    return number
