import pytest

from muniment.documents.media_types.types import EML
from tests.processing.readers.office_files import paragraphs, read

HEAD = b"From: =?utf-8?q?M=C3=BCnchen?= <a@example.org>\nTo: b@example.org\nSubject: =?iso-8859-1?q?Gr=FC=DFe?=\n"
MIXED = (
    HEAD
    + b"""MIME-Version: 1.0
Content-Type: multipart/mixed; boundary=X

--X
Content-Type: multipart/alternative; boundary=Y

--Y
Content-Type: text/plain; charset=iso-8859-1
Content-Transfer-Encoding: quoted-printable

Hallo =FC
--Y
Content-Type: text/html

<p>not this</p>
--Y--
--X
Content-Type: application/pdf
Content-Disposition: attachment; filename="a.pdf"

xx
--X
Content-Type: message/rfc822

Subject: inner

inner text
--X--
"""
)


def test_a_mail_is_its_heading_its_people_its_text_and_its_attachments() -> None:
    (page,) = read(MIXED, EML)
    assert paragraphs(page) == [
        ("heading", "Grüße"),
        ("text", "From: München <a@example.org>\nTo: b@example.org\nSubject: Grüße"),
        ("text", "Hallo ü"),
        ("text", "Attachments: a.pdf"),
        ("heading", "inner"),
        ("text", "Subject: inner"),
        ("text", "inner text"),
    ]


def test_html_is_read_where_there_is_no_plain_text() -> None:
    data = HEAD + b"Content-Type: text/html; charset=utf-8\n\n<p>one<p>tw\xc3\xb6<script>no</script>"
    assert read(data, EML)[0].text.endswith("one\n\ntwö")


def test_mails_in_mails_are_read_to_a_depth_of_three() -> None:
    data = b"innermost"
    for number in range(5, -1, -1):
        data = b"Subject: level %d\nContent-Type: message/rfc822\n\n" % number + data
    text = read(data, EML)[0].text
    assert "level 3" in text
    assert "level 4" not in text


@pytest.mark.parametrize(
    "data",
    [
        b"From: a\nContent-Type: multipart/mixed\n\nno boundary",
        b"From: =?utf-9?q?x?=\nSubject: \xff\xfe\nContent-Type: text/plain; charset=nonsense\n\nbody \xe9",
        b"Content-Transfer-Encoding: base64\n\n!!!!",
        b"To: <<<>>,,;:\nDate: never\nFrom: \"\n\nbody",
        b"Content-Type: text/plain; charset*=x'\n\nbody",
    ],
)  # fmt: skip
def test_a_broken_mail_is_read_as_far_as_possible(data: bytes) -> None:
    assert read(data, EML)
