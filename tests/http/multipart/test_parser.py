import pytest

from muniment.http.multipart.form import IncomingForm
from muniment.http.multipart.headers import MalformedUpload
from tests.http.multipart.forms import BOUNDARY, CONTENT_TYPE, END, Sender, a_field, a_file, receive

WHOLE = a_field("a", "1") + a_file(b"123") + a_field("b", "2") + END


@pytest.mark.parametrize("length", range(len(WHOLE) - len(b"\r\n")))
async def test_a_body_that_was_cut_off_is_refused_wherever_it_was_cut(length: int) -> None:
    with pytest.raises(MalformedUpload, match="ended before its last boundary"):
        await receive(WHOLE[:length])


@pytest.mark.parametrize(
    "part",
    [
        b"no colon\r\n\r\n",
        b": no name\r\n\r\n",
        b"Content-Disposition: form-data; name=x\n\nbare line feeds",
        b'Content-Disposition: form-data; name="x"\r\nfolded\r\n and more\r\n\r\n',
        b"X: y\rz\r\n\r\n",
    ],
)
async def test_broken_headers_are_refused(part: bytes) -> None:
    with pytest.raises(MalformedUpload, match="not a well-formed"):
        await receive(b"--" + BOUNDARY.encode() + b"\r\n" + part + b"\r\n" + END)


async def test_a_header_that_comes_twice_is_refused() -> None:
    twice = b"\r\nContent-Disposition: form-data; name=x\r\ncontent-disposition: form-data; name=y\r\n\r\n"
    with pytest.raises(MalformedUpload, match="a header twice"):
        await receive(b"--" + BOUNDARY.encode() + twice + b"\r\n" + END)


@pytest.mark.parametrize("body", [b"", b"%PDF-1.7\r\n" * 99, WHOLE.replace(BOUNDARY.encode(), b"--other")])
async def test_a_body_without_its_boundary_is_refused(body: bytes) -> None:
    with pytest.raises(MalformedUpload, match="ended before its last boundary"):
        await receive(body)


async def test_a_long_body_without_its_boundary_is_refused_at_its_beginning() -> None:
    sender = Sender(b"x" * 1000 for _ in range(1000))
    with pytest.raises(MalformedUpload, match="does not start with the boundary"):
        await IncomingForm(sender, CONTENT_TYPE).next_file()
    assert sender.sent < 20


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (b"".join(a_field(str(number), "") for number in range(33)), "32 fields"),
        (a_field("a", "x" * (16 * 1024 + 1)), "16384 bytes"),
        (a_field("a", b"\xff"), "UTF-8"),
        (a_field("a", "1") + a_field("a", "2"), "a field twice"),
        (a_file(b"", "x" * 16 * 1024), "well-formed|too long"),
        (a_file(b"").replace(b"Content-Type", b"X: " + b"x" * 9000 + b"\r\nY: " + b"y" * 9000 + b"\r\nZ"), "too long"),
    ],
)
async def test_more_than_the_limits_is_refused(body: bytes, reason: str) -> None:
    with pytest.raises(MalformedUpload, match=reason):
        await receive(body + END)


async def test_the_limits_themselves_are_fine() -> None:
    value = "x" * 16 * 1024
    received = await receive(b"".join(a_field(str(number), value) for number in range(32)) + END)
    assert received.fields == {str(number): value for number in range(32)}


async def test_files_cannot_go_on_for_ever() -> None:
    form = IncomingForm(Sender(a_file(b"") for _ in range(1000)), CONTENT_TYPE)
    with pytest.raises(MalformedUpload, match="64 parts"):
        [await form.next_file() for _ in range(65)]
