from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from muniment.documents.media_types.detection import decode_sample

LANGUAGES = {
    "german": "Fünf große Jäger aßen süße Äpfel.\n",
    "polish": "Zażółć gęślą jaźń, proszę.\n",
    "russian": "Съешь же ещё этих мягких французских булок.\n",
    "greek": "Ξεσκεπάζω την ψυχοφθόρα βδελυγμία.\n",
    "hebrew": "דג סקרן שט בים מאוכזב ולפתע מצא חברה.\n",
    "arabic": "نص حكيم له سر قاطع وذو شأن عظيم.\n",
    "turkish": "Pijamalı hasta yağız şoföre çabucak güvendi.\n",
    "japanese": "いろはにほへと ちりぬるを。漢字も。\n",
    "chinese": "天地玄黄,宇宙洪荒。\n",
    "korean": "키스의 고유조건은 입술끼리 만나야 하고.\n",
}

ENCODINGS = [
    *((name, encoding) for name in LANGUAGES for encoding in ("utf-8", "utf-8-sig", "utf-16", "utf-32", "gb18030")),
    *(("german", encoding) for encoding in ("cp1252", "iso8859-1", "iso8859-15", "cp850", "mac-roman")),
    *(("polish", encoding) for encoding in ("cp1250", "iso8859-2")),
    *(("russian", encoding) for encoding in ("cp1251", "koi8-r", "iso8859-5", "cp866")),
    *(("greek", encoding) for encoding in ("cp1253", "iso8859-7")),
    *(("hebrew", encoding) for encoding in ("cp1255", "iso8859-8")),
    *(("arabic", encoding) for encoding in ("cp1256", "iso8859-6")),
    *(("turkish", encoding) for encoding in ("cp1254", "iso8859-9")),
    *(("japanese", encoding) for encoding in ("shift-jis", "euc-jp", "iso2022-jp")),
    *(("chinese", encoding) for encoding in ("gb2312", "hz")),
    *(("korean", encoding) for encoding in ("euc-kr", "johab", "iso2022-kr")),
    *((name, "utf-16-le") for name in ("german", "russian", "greek", "hebrew", "arabic", "turkish")),
    *((name, "utf-16-be") for name in ("german", "russian", "greek", "hebrew", "arabic", "turkish")),
]


def sample(data: bytes, *, edge: int = 64 * 1024) -> str | None:
    return decode_sample(data[:edge], data[-edge:], len(data))


@pytest.mark.parametrize(("language", "encoding"), ENCODINGS)
def test_text_is_text_in_every_encoding(language: str, encoding: str) -> None:
    data = LANGUAGES[language].encode(encoding)
    assert sample(data)
    assert sample(data * 5000)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32", "utf-16-le", "utf-16-be"])
def test_unicode_is_read_exactly(encoding: str) -> None:
    assert sample(LANGUAGES["russian"].encode(encoding)) == LANGUAGES["russian"]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16-le", "utf-16", "utf-32"])
@pytest.mark.parametrize("padding", range(4))
def test_a_character_may_be_cut_in_two_at_the_edges(encoding: str, padding: int) -> None:
    data = ("a" * padding + LANGUAGES["hebrew"] * 500).encode(encoding)
    assert sample(data, edge=3001)


@pytest.mark.parametrize(
    "text", [b"page one\fpage two\r", b"\x1b[1mbold\x1b[0m", b"from DOS\r\n\x1a", b"\n", b"x" * 999 + b"\7"]
)
def test_controls_that_belong_to_text_are_fine(text: bytes) -> None:
    assert sample(text)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_an_emoji_of_tomorrow_is_fine(encoding: str) -> None:
    assert sample("\U0001fbff".encode(encoding))


@pytest.mark.parametrize(
    "data",
    [
        b"text with\0a hole",
        b"\1\2\3 few words",
        b"\xff\xfe" + Random(1).randbytes(400),
        b"\xef\xbb\xbf" + Random(2).randbytes(400),
        b"A\0B\0\0\0C\0",
        b"odd\0",
        ("a word " * 500 + "\0").encode("utf-16"),
        "漢字仮名交じり文".encode("utf-16-le") + b"\0\x4e",
    ],
)
def test_what_is_no_text_is_none(data: bytes) -> None:
    assert sample(data) is None


def test_a_binary_end_makes_the_whole_no_text() -> None:
    assert sample(b"Some words.\n" * 1000 + Random(3).randbytes(5000), edge=4000) is None


@given(st.binary(), st.binary(), st.integers(0, 10**9))
def test_any_bytes_get_an_answer(head: bytes, tail: bytes, size_bytes: int) -> None:
    text = decode_sample(head, tail, size_bytes)
    assert text is None or "\0" not in text


@given(st.text(st.characters(exclude_categories=["Cc", "Cn", "Cs"], exclude_characters="\ufffd\ufeff"), min_size=1))
def test_every_utf_8_text_is_text(text: str) -> None:
    assert sample(text.encode()) == text
