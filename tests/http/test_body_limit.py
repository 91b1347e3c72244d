from collections.abc import AsyncIterator

from tests.live import Api

MEBIBYTE = 1024 * 1024


async def test_a_large_body_is_refused_before_anybody_reads_it_or_signs_in(api: Api) -> None:
    answer = await api.anonymous.post("/api/v1/auth/login", content=b"x" * (MEBIBYTE + 1))
    assert answer.status_code == 413


async def test_a_body_that_does_not_say_its_length_is_refused_when_it_becomes_too_large(api: Api) -> None:
    async def endless() -> AsyncIterator[bytes]:
        for _ in range(64):
            yield b"x" * 65536

    answer = await api.anonymous.post("/api/v1/auth/login", content=endless())
    assert answer.status_code == 413


async def test_a_body_within_the_limit_is_read(api: Api) -> None:
    answer = await api.anonymous.post("/api/v1/auth/login", content=b"x" * (MEBIBYTE - 10))
    assert answer.status_code == 422
