import asyncio

from muniment.storage.concurrency import limit_concurrency


async def test_no_more_calls_run_than_allowed_and_results_keep_their_order() -> None:
    running, most = 0, 0

    async def double(number: int) -> int:
        nonlocal running, most
        running += 1
        most = max(most, running)
        await asyncio.sleep(0)
        running -= 1
        return 2 * number

    assert await asyncio.gather(*map(limit_concurrency(double, 3), range(10))) == [2 * number for number in range(10)]
    assert most == 3
