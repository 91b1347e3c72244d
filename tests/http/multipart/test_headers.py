import time
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from muniment.http.multipart.headers import FieldPart, FilePart, MalformedUpload, parse_boundary, parse_part


def part_of(disposition: str | bytes, **others: bytes) -> FilePart | FieldPart:
    value = disposition.encode() if isinstance(disposition, str) else disposition
    return parse_part(
        {"content-disposition": value, **{name.replace("_", "-"): other for name, other in others.items()}}
    )


def file_name_of(parameters: str) -> str:
    part = part_of(f'form-data; name="file"; {parameters}')
    assert isinstance(part, FilePart)
    return part.file_name


@pytest.mark.parametrize(
    ("content_type", "boundary"),
    [
        ("multipart/form-data; boundary=abc", b"abc"),
        ('Multipart/Form-Data;charset=utf-8;BOUNDARY="a b:c"', b"a b:c"),
        ("multipart/form-data; boundary=----=_Part_0_1.2 ;", b"----=_Part_0_1.2"),
        (f"multipart/form-data; boundary={'x' * 70}", b"x" * 70),
    ],
)
def test_a_boundary_is_read(content_type: str, boundary: bytes) -> None:
    assert parse_boundary(content_type) == boundary


@pytest.mark.parametrize("content_type", [None, "", "application/pdf", "multipart/mixed; boundary=x", "form-data"])
def test_another_kind_of_request_is_refused(content_type: str | None) -> None:
    with pytest.raises(MalformedUpload, match="Send the file as multipart/form-data"):
        parse_boundary(content_type)


@pytest.mark.parametrize(
    "parameter", ["", "; boundary=", '; boundary=""', "; boundary=ä", f"; boundary={'x' * 71}", '; boundary="x "']
)
def test_a_request_without_a_usable_boundary_is_refused(parameter: str) -> None:
    with pytest.raises(MalformedUpload, match="no valid boundary"):
        parse_boundary(f"multipart/form-data{parameter}")


@pytest.mark.parametrize(
    ("parameters", "file_name"),
    [
        ('filename="report.pdf"', "report.pdf"),
        ("filename=report.pdf", "report.pdf"),
        ('filename="Straße; 日本.pdf"', "Straße; 日本.pdf"),
        ('filename="6%22 pipe.pdf"', '6" pipe.pdf'),
        (r'filename="6\" pipe.pdf"', '6" pipe.pdf'),
        (r'filename="C:\fakepath\x.pdf"', r"C:\fakepath\x.pdf"),
        (r'filename="a\\b.pdf"', r"a\b.pdf"),
        ('filename="100%.pdf"', "100%.pdf"),
        ('filename="100%25.pdf"', "100%25.pdf"),
        ('filename="two%0D%0Alines.pdf"', "two\r\nlines.pdf"),
        ('filename=""', ""),
        ("filename*=UTF-8''na%C3%AFve%20%22x%22.pdf", 'naïve "x".pdf'),
        ("filename*=iso-8859-1'en'na%EFve.pdf", "naïve.pdf"),
        ("filename=\"naive.pdf\"; filename*=utf-8''na%C3%AFve.pdf", "naïve.pdf"),
        ("filename*=utf-8''na%C3%AFve.pdf; filename=\"naive.pdf\"", "naïve.pdf"),
    ],
)
def test_a_file_name_is_read_as_clients_write_it(parameters: str, file_name: str) -> None:
    assert file_name_of(parameters) == file_name


def test_a_part_without_a_file_name_is_a_field() -> None:
    assert part_of('form-data; name="a %22b%22"') == FieldPart('a "b"')


def test_a_file_has_the_type_its_sender_claims() -> None:
    part = part_of('form-data; name="file"; filename="x"', content_type=b"text/plain; charset=x")
    assert part == FilePart("file", "x", "text/plain; charset=x")


@pytest.mark.parametrize("encoding", [b"binary", b"8bit", b"7BIT "])
def test_an_encoding_that_changes_nothing_is_fine(encoding: bytes) -> None:
    assert part_of("form-data; name=x", content_transfer_encoding=encoding) == FieldPart("x")


@pytest.mark.parametrize("encoding", [b"base64", b"Quoted-Printable", b"gzip"])
def test_an_encoding_that_changes_the_bytes_is_refused(encoding: bytes) -> None:
    with pytest.raises(MalformedUpload, match="without a Content-Transfer-Encoding"):
        part_of("form-data; name=x", content_transfer_encoding=encoding)


def test_a_multipart_within_is_refused() -> None:
    with pytest.raises(MalformedUpload, match="another multipart"):
        part_of("form-data; name=x", content_type=b"Multipart/mixed; boundary=y")


@pytest.mark.parametrize("disposition", ["", "form-data", 'attachment; name="x"', 'form-data; filename="x"'])
def test_a_part_without_a_name_is_refused(disposition: str) -> None:
    with pytest.raises(MalformedUpload, match="with a name"):
        part_of(disposition)


@pytest.mark.parametrize(
    "disposition",
    [
        "form-data; name",
        'form-data; name="x',
        "form-data; name=two words",
        'form-data; name="x" filename="y"',
        'form-data; name="x"; filename="a"; filename="b"',
        'form-data; name="x"; NAME="y"',
        'form-data; name="x\ny"',
        'form-data; name="x\0y"',
        "form-data; name=x; filename*=x.pdf",
        "form-data; name=x; filename*=utf-7''x.pdf",
        "form-data; name=x; filename*=utf-8''%ff",
        b'form-data; name="x"; filename="\xff.pdf"',
    ],
)
def test_a_header_that_can_be_read_in_no_way_or_two_is_refused(disposition: str | bytes) -> None:
    with pytest.raises(MalformedUpload, match=r"invalid|UTF-8"):
        part_of(disposition)


def test_a_header_cannot_keep_the_server_busy() -> None:
    started = time.process_time()
    for filling in ("\\", '\\"', ";a=", " ", ';a="'):
        with pytest.raises(MalformedUpload):
            part_of('form-data; name="' + filling * (16_000 // len(filling)))
    assert time.process_time() - started < 1


@given(st.dictionaries(st.sampled_from(["content-disposition", "content-type"]), st.binary()), st.text())
def test_any_header_is_read_or_refused(headers: dict[str, bytes], content_type: str) -> None:
    for read in (lambda: parse_part(headers), lambda: parse_boundary(f"multipart/form-data;{content_type}")):
        with suppress(MalformedUpload):
            read()


@given(st.text(st.characters(exclude_categories=["Cc", "Cs"]), max_size=300).filter(lambda name: "%" not in name))
def test_any_name_survives_the_way_of_a_browser(name: str) -> None:
    escaped = name.replace("\\", "\\\\").replace('"', "%22")
    assert file_name_of(f'filename="{escaped}"') == name
