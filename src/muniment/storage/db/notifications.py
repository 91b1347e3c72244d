"""LISTEN on a dedicated connection that reconnects after every loss."""

import asyncio
from collections.abc import Callable
from contextlib import aclosing

import psycopg
import structlog
from psycopg import AsyncConnection, sql

from muniment.storage.db.address import DatabaseAddress

log = structlog.get_logger()

INITIAL_BACKOFF_SECONDS = 0.1
MAX_BACKOFF_SECONDS = 5.0


async def listen(
    login: DatabaseAddress, channel: str, *, on_connected: Callable[[], None], on_payload: Callable[[str], None]
) -> None:
    """Until cancelled. What was told before `begun` is called, again after each loss, was not heard."""
    pause = INITIAL_BACKOFF_SECONDS

    def listening() -> None:
        nonlocal pause
        pause = INITIAL_BACKOFF_SECONDS
        on_connected()

    while True:
        try:
            await _listen_once(login, channel, on_connected=listening, on_payload=on_payload)
        except psycopg.Error as error:
            log.warning("database.listening_broke", channel=channel, reason=str(error).splitlines()[0])
        await asyncio.sleep(pause)
        pause = min(pause * 2, MAX_BACKOFF_SECONDS)


async def _listen_once(
    login: DatabaseAddress, channel: str, *, on_connected: Callable[[], None], on_payload: Callable[[str], None]
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
        on_connected()
        async with aclosing(connection.notifies()) as notices:
            async for notice in notices:
                on_payload(notice.payload)
