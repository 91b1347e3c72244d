"""Limits on how many calls run at the same time, so that one operation leaves connections to others."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, ParamSpec, TypeVar

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")


def limit_concurrency(
    call: Callable[Arguments, Awaitable[Result]], limit: int
) -> Callable[Arguments, Coroutine[Any, Any, Result]]:
    """Return `call` with a wait: at most `limit` calls of the returned function run at the same time."""
    slots = asyncio.Semaphore(limit)

    async def call_in_slot(*arguments: Arguments.args, **keywords: Arguments.kwargs) -> Result:
        async with slots:
            return await call(*arguments, **keywords)

    return call_in_slot
