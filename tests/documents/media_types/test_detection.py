import gzip
import io
import lzma
import marshal
import sqlite3
import struct
import sys
import tarfile
import wave
from pathlib import Path
from random import Random

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from PIL import Image
from reportlab.pdfgen.canvas import Canvas

from muniment.documents.media_types import types
from muniment.documents.media_types.detection import HEAD_BYTES, TAIL_BYTES, detect_media_type, is_surely_unsupported
from muniment.documents.media_types.types import SUPPORTED, MediaType
from tests.support import corpus

MAIL = b"""Return-Path: <a@example.org>\r
Received: from mail.example.org\r
\tby mx.example.org; Mon, 2 Mar 2026 10:00:00 +0100\r
From: a@example.org\r
Subject: =?utf-8?q?Gr=C3=BC=C3=9Fe?=\r
\r
No header here.\r
"""


def kind_of(data: bytes, name: str = "") -> MediaType | None:
    kind = detect_media_type(data[:HEAD_BYTES], data[-TAIL_BYTES:], len(data), name=name)
    assert kind is None or not is_surely_unsupported(data[:HEAD_BYTES])
    return kind


def a_pdf() -> bytes:
    file = io.BytesIO()
    canvas = Canvas(file)
    canvas.drawString(100, 700, "Hello")
    canvas.save()
    return file.getvalue()


def a_picture(file_format: str) -> bytes:
    file = io.BytesIO()
    Image.new("RGB", (16, 16), "red").save(file, file_format)
    return file.getvalue()


def test_a_pdf_is_known() -> None:
    assert kind_of(a_pdf()) == types.PDF


def test_a_pdf_from_the_wild_is_known() -> None:
    assert {kind_of(path.read_bytes()) for path in corpus.FILES} <= {types.PDF}


@pytest.mark.parametrize("junk", [b"\r\n", b"\xef\xbb\xbf", b"\x1b%-12345X@PJL JOB\r\n", b"x" * 1018 + b"\n"])
def test_a_pdf_may_begin_within_the_first_1024_bytes(junk: bytes) -> None:
    assert kind_of(junk + a_pdf()) == types.PDF


def test_a_text_about_pdf_is_a_text() -> None:
    assert kind_of(b"# The header\n\nEvery file begins with `%PDF-1.7`.\n") == types.TEXT


def test_a_program_with_a_pdf_in_it_is_not_known() -> None:
    assert kind_of(b"MZ\x90\0\3\0\0\0" + a_pdf()) is None


@pytest.mark.parametrize("name", ["PNG", "JPEG", "TIFF", "WebP", "GIF", "BMP"])
def test_a_picture_is_known(name: str) -> None:
    kind = kind_of(a_picture(name))
    assert kind is not None
    assert kind.name == name


@pytest.mark.parametrize("beginning", ["BMW", "II*", "GIF", "RIFF", "MM"])
def test_a_text_that_begins_like_a_picture_is_a_text(beginning: str) -> None:
    assert kind_of(f"{beginning} is how this report begins, and then it goes on.\n".encode()) == types.TEXT


def test_rtf_is_known_although_it_is_text() -> None:
    assert kind_of(b"{\\rtf1\\ansi Hello}") == types.RTF


@pytest.mark.parametrize(
    "page",
    [
        b"<!DOCTYPE html><title>x</title>",
        b"\xef\xbb\xbf\n <HTML lang=en>",
        b"<!-- saved -->\n<!-- twice --><html>",
        b'<?xml version="1.0"?><!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0 Strict//EN"><html/>',
        "<html>Grüße</html>".encode("cp1252"),
        "<html>Grüße</html>".encode("utf-16"),
    ],
)
def test_a_page_is_html_whatever_its_name(page: bytes) -> None:
    assert kind_of(page, "page.txt") == types.HTML


def test_a_mail_is_known_by_its_headers() -> None:
    assert kind_of(MAIL, "mail.txt") == types.EML


@pytest.mark.parametrize(
    "text",
    [
        b"From: the board\nTo: everybody\n\nHello",
        b"Date: today\nSubject: no sender\n\nHello",
        b"Dear reader,\nFrom: a@example.org\nDate: today\n\n",
        b" From: a@example.org\nDate: today\n\n",
        b"\nFrom: a@example.org\nDate: today\n\n",
    ],
)
def test_a_text_with_colons_is_no_mail(text: bytes) -> None:
    assert kind_of(text) == types.TEXT


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("", types.TEXT),
        ("notes.txt", types.TEXT),
        ("data.csv", types.TEXT),
        ("README.MD", types.MARKDOWN),
        ("a.b.markdown", types.MARKDOWN),
        ("piece.htm", types.HTML),
        ("lies.pdf", types.TEXT),
    ],
)
def test_a_name_decides_only_what_sort_of_text_it_is(name: str, kind: MediaType) -> None:
    assert kind_of(b"# Title\n\n<p>A paragraph</p>\n", name) == kind


def test_a_name_makes_no_text_of_a_picture() -> None:
    assert kind_of(a_picture("PNG"), "picture.md") == types.PNG


def a_database() -> bytes:
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE TABLE words (word text)")
    data = connection.serialize()
    connection.close()
    return data


def a_sound() -> bytes:
    file = io.BytesIO()
    with wave.open(file, "wb") as sound:
        sound.setparams((1, 2, 8000, 0, "NONE", ""))
        sound.writeframes(Random(1).randbytes(9000))
    return file.getvalue()


def a_tar() -> bytes:
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w") as archive:
        archive.addfile(tarfile.TarInfo("notes.txt"))
    return file.getvalue()


BINARIES = {
    "random": Random(2).randbytes(100_000),
    "few random bytes": Random(3).randbytes(100),
    "this interpreter": Path(sys.executable).read_bytes(),
    "windows program": b"MZ\x90\0\3\0\0\0\4\0\0\0\xff\xff\0\0"
    + b"\0" * 44
    + b"\x80\0\0\0This program cannot be run\r\n",
    "video": b"\0\0\0\x18ftypmp42\0\0\0\0mp42isom" + Random(4).randbytes(9000),
    "java class": b"\xca\xfe\xba\xbe\0\0\0\x34\0\x1d\n\0\6\0\x0f\t\0\x10\0\x11\x08\0\x12",
    "python code": marshal.dumps(compile("x = 'hello world'", "x", "exec")),
    "database": a_database(),
    "sound": a_sound(),
    "tar": a_tar(),
    "gzip": gzip.compress(b"hello " * 1000),
    "xz": lzma.compress(b"hello " * 1000),
    "old office": bytes.fromhex("d0cf11e0a1b11ae1") + b"\0" * 504,
    "numbers": struct.pack("<500H", *range(500)),
    "c string": b"hello world\0",
    "nothing": b"",
}


@pytest.mark.parametrize("name", BINARIES)
def test_what_no_reader_knows_is_refused_by_its_beginning(name: str) -> None:
    data = BINARIES[name]
    assert kind_of(data, "notes.txt") is None
    assert is_surely_unsupported(data[:HEAD_BYTES])


def test_a_script_with_an_archive_behind_it_is_refused_at_its_end() -> None:
    installer = b"#!/bin/sh\necho unpacking\n" * 4000 + Random(5).randbytes(100_000)
    assert kind_of(installer) is None


def test_every_known_type_is_listed_once() -> None:
    declared = {value for value in vars(types).values() if isinstance(value, MediaType)}
    assert set(SUPPORTED) == declared
    assert len({kind.media_type for kind in SUPPORTED}) == len(SUPPORTED) == len({kind.extension for kind in SUPPORTED})


BEGINNINGS = st.sampled_from(
    [b"", b"%PDF-", b"PK\3\4", b"BM", b"RIFF", b"\xff\xfe", b"\xff\xfe\0\0", b"<!--", b"From: ", b"{\\rtf", b"\xd8"]
)


@settings(deadline=None)
@given(BEGINNINGS, st.binary(), st.binary(), st.integers(0, 10**6), st.text())
@example(b"", b"<!--" * 9000, b"", 0, "")
@example(b"", b"<!---->" * 9000, b"", 0, "")
def test_any_bytes_get_an_answer(beginning: bytes, head: bytes, tail: bytes, more: int, name: str) -> None:
    head = beginning + head
    kind = detect_media_type(head, tail, len(head) + more, name=name)
    assert kind is None or (kind in SUPPORTED and not is_surely_unsupported(head))
