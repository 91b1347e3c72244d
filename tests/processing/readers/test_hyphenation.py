import pytest

from muniment.processing.readers.hyphenation import join_at_line_end


@pytest.mark.parametrize(
    ("line", "following", "text"),
    [
        ("one line", "and the next", "one line and the next"),
        ("a hyphen-", "ated word", "a hyphenated word"),
        ("a hyphen\u2010", "ated word", "a hyphenated word"),
        ("a soft\u00ad", "Ware", "a softWare"),
        ("in Baden-", "Württemberg", "in Baden-Württemberg"),
        ("of 2024-", "25", "of 2024-25"),
        ("die E-Mail-", "adresse", "die E-Mail-adresse"),
        ("alle Vor-", "und Nachteile", "alle Vor- und Nachteile"),
        ("the USB-", "stick", "the USB-stick"),
        ("a dash -", "and more", "a dash - and more"),
        ("ends in -", "(really)", "ends in - (really)"),
    ],
)
def test_a_line_end_is_a_space_unless_it_split_a_word(line: str, following: str, text: str) -> None:
    assert "".join([*join_at_line_end(line, following), following]) == text
