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

from muniment.errors import Unavailable

log = structlog.get_logger()

TIMEOUT_SECONDS = 2.0
_REJECTED_STATUSES = (400, 404, 409)
_DENIED_STATUSES = (401, 403)

T = TypeVar("T")


class IndexUnavailable(Unavailable):
    """The search index is not responding. Try again shortly"""


class IndexRejected(IndexUnavailable):
    """The search index rejected the request. Try again shortly"""


def build_client(url: str, api_key: str | None = None) -> AsyncQdrantClient:
    """Return a client of the server at `url` (port 6333 by default). Nothing is sent yet."""
    if api_key is not None and url.startswith("http://"):
        log.warning("qdrant.api_key_over_http")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # the same warning, but not in our log
        return AsyncQdrantClient(
            url=url,
            api_key=api_key,
            timeout=int(TIMEOUT_SECONDS),
            check_compatibility=False,  # would call the server here and print a warning
        )


@dataclass(frozen=True)
class QdrantConnection:
    """Calls Qdrant with a timeout and translates its errors."""

    client: AsyncQdrantClient
    timeout_seconds: float = TIMEOUT_SECONDS

    async def call(self, request: Awaitable[T]) -> T:
        """Return the response to a request.

        Raise `IndexRejected` if Qdrant refused it and changed nothing, otherwise `IndexUnavailable`, after which the
        outcome is unknown. Both count as unavailable: a refusal is a matter of the server, not of the document. Neither
        contains the API key.
        """
        try:
            async with asyncio.timeout(self.timeout_seconds):
                return await request
        except UnexpectedResponse as error:
            if error.status_code in _REJECTED_STATUSES:
                raise IndexRejected from error
            if error.status_code in _DENIED_STATUSES:
                raise IndexUnavailable("Qdrant rejected QDRANT_API_KEY") from None
            # Without the body: a proxy may repeat our headers in it.
            raise IndexUnavailable(f"The search index failed with status {error.status_code}") from None
        except ValueError as error:
            if type(error) is ValueError:  # a refusal of the client's local mode
                raise IndexRejected from error
            raise IndexUnavailable from error  # a subclass: the response could not be parsed
        except (ResponseHandlingException, QdrantException, OSError) as error:
            raise IndexUnavailable from error

    async def call_and_wait(self, request: Awaitable[UpdateResult]) -> None:
        """Request a change and wait until it is applied, not only acknowledged."""
        result = await self.call(request)
        if result.status is not UpdateStatus.COMPLETED:
            raise IndexUnavailable
