"""LISTEN on a dedicated connection that is restored after every loss."""

from collections.abc import Callable
from contextlib import aclosing
from functools import partial

import psycopg
import structlog
from psycopg import AsyncConnection, sql
from tenacity import AsyncRetrying, RetryCallState, retry_if_exception_type, retry_if_result, wait_exponential

from muniment.storage.db.address import DatabaseAddress

log = structlog.get_logger()

INITIAL_BACKOFF_SECONDS = 0.1
MAX_BACKOFF_SECONDS = 5.0


async def listen(
    login: DatabaseAddress, channel: str, *, on_connected: Callable[[], None], on_payload: Callable[[str], None]
) -> None:
    """Pass on notifications until cancelled. `on_connected` is called after every connect: notifications sent before it
    are lost."""
    async for attempt in AsyncRetrying(
        wait=wait_exponential(multiplier=INITIAL_BACKOFF_SECONDS, max=MAX_BACKOFF_SECONDS),
        retry=retry_if_exception_type(psycopg.Error) | retry_if_result(lambda _: True),
        before_sleep=partial(_log_loss, channel),
    ):
        connected = partial(_reset_backoff, attempt.retry_state, on_connected)
        with attempt:
            await _listen_once(login, channel, on_connected=connected, on_payload=on_payload)


def _reset_backoff(state: RetryCallState, on_connected: Callable[[], None]) -> None:
    state.attempt_number = 1
    on_connected()


def _log_loss(channel: str, state: RetryCallState) -> None:
    if state.outcome is not None and (error := state.outcome.exception()) is not None:
        log.warning("database.listener_disconnected", channel=channel, reason=str(error).splitlines()[0])


async def _listen_once(
    login: DatabaseAddress, channel: str, *, on_connected: Callable[[], None], on_payload: Callable[[str], None]
) -> None:
    connection = await AsyncConnection.connect(
        login.conninfo,
        autocommit=True,
        connect_timeout=5,
        application_name=f"listening {channel}",
        # The loss of an idle connection would stay unnoticed without keepalives.
        keepalives_idle=30,
        keepalives_interval=10,
        keepalives_count=3,
    )
    async with connection:
        await connection.execute(sql.SQL("LISTEN {}").format(sql.Identifier(channel)))
        on_connected()
        async with aclosing(connection.notifies()) as notifications:
            async for notification in notifications:
                on_payload(notification.payload)
