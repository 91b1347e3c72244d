import pytest
from hypothesis import given
from hypothesis import strategies as st

from muniment.http.streaming import ByteRange, RangeNotSatisfiable, parse_range

SIZE = 1000


@pytest.mark.parametrize(
    ("header", "start", "end"),
    [
        ("bytes=0-0", 0, 1),
        ("bytes=0-499", 0, 500),
        ("bytes=500-999", 500, 1000),
        ("bytes=500-", 500, 1000),
        ("bytes=999-", 999, 1000),
        ("bytes=-1", 999, 1000),
        ("bytes=-1000", 0, 1000),
        ("bytes=-5000", 0, 1000),
        ("bytes=500-5000", 500, 1000),
        ("bytes=007-0008", 7, 9),
        ("Bytes=1-2", 1, 3),
        (" bytes=1-2 ", 1, 3),
    ],
)
def test_one_range_is_understood(header: str, start: int, end: int) -> None:
    assert parse_range(header, SIZE) == ByteRange(start, end)


@pytest.mark.parametrize("header", ["bytes=1000-", "bytes=1000-2000", "bytes=-0", f"bytes={'9' * 5000}-"])
def test_range_outside_the_file_cannot_be_satisfied(header: str) -> None:
    with pytest.raises(RangeNotSatisfiable):
        parse_range(header, SIZE)


@pytest.mark.parametrize("last", ["5" * 5000, f"{'0' * 5000}5"])
def test_numbers_of_any_length_are_numbers(last: str) -> None:
    assert parse_range(f"bytes=5-{last}", SIZE) in (ByteRange(5, SIZE), ByteRange(5, 6))
    assert parse_range(f"bytes=-{last}", SIZE) in (ByteRange(0, SIZE), ByteRange(995, SIZE))


@pytest.mark.parametrize(
    "header",
    [
        None,
        "",
        "bytes",
        "bytes=",
        "bytes=-",
        "bytes=--1",
        "bytes=5-2",
        "bytes=a-b",
        "bytes=1-2-3",
        "bytes=1 - 2",
        "bytes=+1-2",
        "bytes=1_0-20",
        "bytes=٠-٩",
        "bytes=0-1,5-6",
        "items=0-1",
        "0-1",
    ],
)
def test_what_is_not_understood_means_the_whole_file(header: str | None) -> None:
    assert parse_range(header, SIZE) is None


@given(st.text("bytes=-0123456789, ", max_size=30), st.integers(1, 10_000))
def test_any_range_lies_within_the_file(header: str, size_bytes: int) -> None:
    try:
        found = parse_range(header, size_bytes)
    except RangeNotSatisfiable:
        return
    assert found is None or 0 <= found.start < found.end <= size_bytes
