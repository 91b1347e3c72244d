"""LISTEN on a dedicated connection that reconnects after every loss."""

import asyncio
from collections.abc import Callable
from contextlib import aclosing

import psycopg
import structlog
from psycopg import AsyncConnection, sql

from muniment.storage.db.address import DatabaseAddress

log = structlog.get_logger()

FIRST_PAUSE_SECONDS = 0.1
LONGEST_PAUSE_SECONDS = 5.0


async def listen(
    login: DatabaseAddress, channel: str, *, begun: Callable[[], None], heard: Callable[[str], None]
) -> None:
    """Until cancelled. What was told before `begun` is called, again after each loss, was not heard."""
    pause = FIRST_PAUSE_SECONDS

    def listening() -> None:
        nonlocal pause
        pause = FIRST_PAUSE_SECONDS
        begun()

    while True:
        try:
            await _listen_once(login, channel, begun=listening, heard=heard)
        except psycopg.Error as error:
            log.warning("database.listening_broke", channel=channel, reason=str(error).splitlines()[0])
        await asyncio.sleep(pause)
        pause = min(pause * 2, LONGEST_PAUSE_SECONDS)


async def _listen_once(
    login: DatabaseAddress, channel: str, *, begun: Callable[[], None], heard: Callable[[str], None]
) -> None:
    connection = await AsyncConnection.connect(
        login.conninfo,
        autocommit=True,
        connect_timeout=5,
        application_name=f"listening {channel}",
        # A connection that broke without a word would be silent for ever: somebody has to ask.
        keepalives_idle=30,
        keepalives_interval=10,
        keepalives_count=3,
    )
    async with connection:
        await connection.execute(sql.SQL("LISTEN {}").format(sql.Identifier(channel)))
        begun()
        async with aclosing(connection.notifies()) as notices:
            async for notice in notices:
                heard(notice.payload)
