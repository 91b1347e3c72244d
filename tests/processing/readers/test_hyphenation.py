import pytest

from muniment.processing.readers.hyphenation import join_lines


@pytest.mark.parametrize(
    ("lines", "text"),
    [
        (["one line", "and the next"], "one line and the next"),
        (["a hyphen-", "ated word"], "a hyphenated word"),
        (["a hyphen\u2010", "ated word"], "a hyphenated word"),
        (["a soft\u00ad", "Ware"], "a softWare"),
        (["in Baden-", "Württemberg"], "in Baden-Württemberg"),
        (["of 2024-", "25"], "of 2024-25"),
        (["die E-Mail-", "adresse"], "die E-Mail-adresse"),
        (["alle Vor-", "und Nachteile"], "alle Vor- und Nachteile"),
        (["the USB-", "stick"], "the USB-stick"),
        (["a dash -", "and more"], "a dash - and more"),
        (["ends in -", "(really)"], "ends in - (really)"),
        (["left over-"], "left over-"),
        ([], ""),
    ],
)
def test_a_line_end_is_a_space_unless_it_split_a_word(lines: list[str], text: str) -> None:
    assert join_lines(lines) == text
