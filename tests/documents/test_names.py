import unicodedata
from collections.abc import Callable
from email import message_from_string
from email.utils import collapse_rfc2231_value

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from muniment.documents.names import InvalidName, clean_name, content_disposition, name_key

COMPOSED, DECOMPOSED = "caf\u00e9.pdf", "cafe\u0301.pdf"


@pytest.mark.parametrize(
    ("raw", "name"),
    [
        ("report.pdf", "report.pdf"),
        ("../../etc/passwd", "passwd"),
        ("C:\\fakepath\\x.pdf", "x.pdf"),
        ("folder\\mixed/x.pdf", "x.pdf"),
        ("  two words.pdf\u00a0", "two words.pdf"),
        ("...", "..."),
        (".profile", ".profile"),
        ("NUL.txt", "NUL.txt"),
        ('a "quoted" 100% name;.pdf', 'a "quoted" 100% name;.pdf'),
        ("تقرير.pdf", "تقرير.pdf"),
        ("می\u200cخواهم.pdf", "می\u200cخواهم.pdf"),
        (COMPOSED, COMPOSED),
        (DECOMPOSED, DECOMPOSED),
        ("x" * 255, "x" * 255),
        ("folder/" * 100 + "x.pdf", "x.pdf"),
    ],
)
def test_only_folders_and_outer_white_space_are_taken_away(raw: str, name: str) -> None:
    assert clean_name(raw) == name


@pytest.mark.parametrize("raw", ["", " ", ".", "..", " .. ", "folder/", "folder\\", "a/..", "/"])
def test_what_names_no_file_is_refused(raw: str) -> None:
    with pytest.raises(InvalidName, match="empty"):
        clean_name(raw)


@pytest.mark.parametrize(
    "character",
    ["\0", "\t", "\n", "\r", "\x1f", "\x7f", "\x80", "\x85", "\x9f", "\u2028", "\u2029", "\ud800"],
)
@pytest.mark.parametrize("raw", ["in{}side.pdf", "{}before.pdf", "behind.pdf{}", "fol{}der/x.pdf"])
def test_control_characters_are_refused_wherever_they_stand(raw: str, character: str) -> None:
    with pytest.raises(InvalidName, match="control characters"):
        clean_name(raw.format(character))


@pytest.mark.parametrize("character", "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
def test_a_name_cannot_be_displayed_backwards(character: str) -> None:
    with pytest.raises(InvalidName, match="direction"):
        clean_name(f"invoice{character}fdp.exe")


def test_a_name_has_255_characters_at_most() -> None:
    with pytest.raises(InvalidName, match="255"):
        clean_name("ä" * 256)


@given(st.text())
def test_a_clean_name_is_clean(raw: str) -> None:
    try:
        name = clean_name(raw)
    except InvalidName:
        return
    assert clean_name(name) == name
    assert not set(name) & set("/\\\0\r\n")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Straße.pdf", "STRASSE.PDF"),
        (COMPOSED, DECOMPOSED),
        (COMPOSED.upper(), DECOMPOSED),
        ("İstanbul.pdf", "i\u0307stanbul.pdf"),
        ("ΟΔΟΣ.pdf", "οδος.pdf"),
        ("οδοσ.pdf", "οδος.pdf"),
        ("ﬁnal.pdf", "FINAL.pdf"),
        ("\u1fb3\u0301.pdf", "\u0391\u0301\u0399.pdf"),
        ("ДОГОВОР.pdf", "договор.pdf"),
        ("report.pdf", "report.pdf."),
        ("report.pdf", "report.pdf .. "),
        ("my report.pdf", "my  report.pdf"),
        ("my report.pdf", "my\u00a0report.pdf"),
        ("my report.pdf", "my \u2003\u3000report.pdf"),
        ("report.pdf", "re\u200bport.pdf"),
        ("report.pdf", "\ufeffreport\u2060.pdf\u200d"),
        ("report.pdf", "re\u00adport.pdf"),
        ("report 1.pdf", "ｒｅｐｏｒｔ　１．ｐｄｆ"),
        ("Brand TM.pdf", "brand ™.pdf"),
        ("\u00e9.pdf", "e\u200d\u0301.pdf"),
    ],
)
def test_names_that_look_the_same_have_one_key(one: str, other: str) -> None:
    assert name_key(one) == name_key(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [("a.pdf", "á.pdf"), ("ısı.pdf", "isi.pdf"), ("a.pdf", "a .pdf"), ("a.pdf", ".a.pdf"), ("...", "....")],
)
def test_names_that_a_person_tells_apart_have_two_keys(one: str, other: str) -> None:
    assert name_key(one) != name_key(other)


@given(st.text())
@example("ϓ\u0345\u0301")
def test_the_key_of_a_key_is_that_key(name: str) -> None:
    assert name_key(name_key(name)) == name_key(name)


@given(st.text())
def test_composition_never_changes_the_key(name: str) -> None:
    assert {name_key(unicodedata.normalize(form, name)) for form in ("NFC", "NFD")} == {name_key(name)}


@given(st.text(), st.sampled_from([str.upper, str.lower, str.swapcase, str.title]))
def test_case_never_changes_the_key(name: str, change: Callable[[str], str]) -> None:
    changed = change(name)
    assume(changed.casefold() == name.casefold())
    assert name_key(changed) == name_key(name)


def saved_as(header: str) -> tuple[str, str]:
    """Return the plain and the extended file name of a header, as another parser reads them."""
    message = message_from_string(f"Content-Disposition: {header}\n\n")
    parameters = message.get_params(header="content-disposition") or []
    plain, extended = (collapse_rfc2231_value(value) for key, value in parameters if key == "filename")
    return plain, extended


@pytest.mark.parametrize(
    ("name", "plain"),
    [
        ("report.pdf", "report.pdf"),
        ("two words; and more.pdf", "two words; and more.pdf"),
        ("Straße.pdf", "Stra_e.pdf"),
        ('6" pipe 100%.pdf', "6_ pipe 100_.pdf"),
        ("日本.pdf", "__.pdf"),
    ],
)
def test_a_download_carries_the_name_and_an_ascii_stand_in(name: str, plain: str) -> None:
    assert saved_as(content_disposition(name)) == (plain, name)


@pytest.mark.parametrize("name", ["CON", "nul.txt", "Com1.tar.gz", "LPT¹.pdf", "aux .md", "CONIN$"])
def test_a_name_that_windows_reserves_is_saved_behind_an_underscore(name: str) -> None:
    assert saved_as(content_disposition(name))[1] == f"_{name}"


@pytest.mark.parametrize("name", ["console.log", "com10.pdf", "null", "my con"])
def test_a_name_that_only_resembles_a_device_is_kept(name: str) -> None:
    assert saved_as(content_disposition(name))[1] == name


@given(st.text(min_size=1))
@example('x"\r\nSet-Cookie: a=b\r\n')
def test_the_download_header_cannot_be_broken_out_of(name: str) -> None:
    header = content_disposition(name)
    assert header.isascii()
    assert header.isprintable()
    assert header.count('"') == 2
    assert "\\" not in header


@given(st.text(st.characters(exclude_categories=["Cc", "Cs", "Zl", "Zp"]), max_size=200))
def test_the_download_header_gives_back_every_name(name: str) -> None:
    assert saved_as(content_disposition(f"x{name}.pdf"))[1] == f"x{name}.pdf"
