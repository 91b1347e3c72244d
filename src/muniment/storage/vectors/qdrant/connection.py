"""Connection to Qdrant: timeouts and error translation."""

import asyncio
import warnings
from collections.abc import Awaitable
from dataclasses import dataclass
from typing import TypeVar

import structlog
from qdrant_client import AsyncQdrantClient
from qdrant_client.common.client_exceptions import QdrantException
from qdrant_client.http.exceptions import ResponseHandlingException, UnexpectedResponse
from qdrant_client.models import UpdateResult, UpdateStatus

from muniment.errors import MunimentError, Unavailable

log = structlog.get_logger()

TIMEOUT_SECONDS = 2.0
_REJECTED_STATUSES = (400, 404, 409)
_DENIED_STATUSES = (401, 403)

T = TypeVar("T")


class IndexUnavailable(Unavailable):
    """The search index is not responding. Try again shortly"""


class IndexRejected(MunimentError):
    """The search index rejected the request"""


def build_client(url: str, api_key: str | None = None) -> AsyncQdrantClient:
    """A client of the server at `url` (port 6333 unless it names one). Nothing is sent yet."""
    if api_key is not None and url.startswith("http://"):
        log.warning("qdrant.key_sent_in_the_clear")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # says the same, past the log
        return AsyncQdrantClient(
            url=url,
            api_key=api_key,
            timeout=int(TIMEOUT_SECONDS),
            check_compatibility=False,  # would ask the server here and now, and print what it thinks of the answer
        )


@dataclass(frozen=True)
class QdrantConnection:
    client: AsyncQdrantClient
    timeout_seconds: float = TIMEOUT_SECONDS

    async def call(self, request: Awaitable[T]) -> T:
        """What Qdrant says to `call`.

        Raises `IndexRejected` when it answered that it cannot, and has done nothing; `IndexUnavailable` for everything
        else, and then the outcome is unknown. The key is in neither of them.
        """
        try:
            async with asyncio.timeout(self.timeout_seconds):
                return await request
        except UnexpectedResponse as error:
            if error.status_code in _REJECTED_STATUSES:
                raise IndexRejected from error
            if error.status_code in _DENIED_STATUSES:
                raise IndexUnavailable("Qdrant rejected QDRANT_API_KEY") from None
            # Not what else it says: a proxy may repeat our headers.
            raise IndexUnavailable(f"The search index failed with status {error.status_code}") from None
        except ValueError as error:
            if type(error) is ValueError:  # how the client's local mode says that it cannot
                raise IndexRejected from error
            raise IndexUnavailable from error  # a kind of it: an answer that nobody can read
        except (ResponseHandlingException, QdrantException, OSError) as error:
            raise IndexUnavailable from error

    async def call_and_wait(self, request: Awaitable[UpdateResult]) -> None:
        """Ask for a change that is made when this returns, not one that was only heard."""
        result = await self.call(request)
        if result.status is not UpdateStatus.COMPLETED:
            raise IndexUnavailable
