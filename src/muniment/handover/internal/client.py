"""Client of the internal API, used by the archiver (docs/contracts.md#internal-api)."""

from collections.abc import Mapping
from typing import Any, Self, TypeVar
from urllib.parse import quote
from uuid import UUID

import httpx
from pydantic import BaseModel, ValidationError

from muniment.errors import MunimentError, NotFound, Unavailable
from muniment.handover.internal.contract import (
    DEAD_LETTER_NOT_FOUND,
    ORGANIZATION_NOT_FOUND,
    ConfirmedDocuments,
    JobStatusUpdate,
    OrganizationIds,
    RequeuedFailedRead,
)
from muniment.handover.job_key import JobKey
from muniment.handover.queue_listing import DeadLetterNotFound

Body = TypeVar("Body", bound=BaseModel)

TIMEOUT_SECONDS = 30.0
_ROUTE_NOT_FOUND = "Not Found"
"""Message of the web framework for an unknown path. A 404 of an older API has no code, but another message."""


class ApiUnavailable(Unavailable):
    """The API is not responding. Check MUNIMENT_INTERNAL_API_URL"""


class ApiAccessDenied(MunimentError):
    """The API rejected the archiver. INTERNAL_API_KEY must be the same on both sides"""


class ApiOrganizationNotFound(NotFound):
    """The organization of this document does not exist in Muniment"""


class ApiRequestRejected(MunimentError):
    """The API rejected the request"""


class InternalApiClient:
    """Client of the internal API. Every call can be repeated safely."""

    def __init__(self, url: str, key: str) -> None:
        self._client = httpx.AsyncClient(
            base_url=f"{url.rstrip('/')}/internal/v1/",
            headers={"Authorization": f"Bearer {key}"},
            timeout=TIMEOUT_SECONDS,
        )

    async def report_status(self, document_id: UUID, update: JobStatusUpdate) -> None:
        """Report the status of a job. `ApiOrganizationNotFound` means that the job belongs to the dead letters."""
        await self._call("PATCH", f"archive-audit/{document_id}", update)

    async def report_key_status(self, update: JobStatusUpdate) -> None:
        """Report the status of a job whose document is unknown, because its sidecar is missing or cannot be read."""
        await self._call("PATCH", "archive-audit", update)

    async def find_organization_ids(self, organization_id: UUID) -> OrganizationIds | None:
        """Return the Paperless ids that are recorded for the organization."""
        try:
            response = await self._call("GET", f"paperless-cache/{organization_id}")
        except NotFound:
            return None
        return _parse(OrganizationIds, response)

    async def store_organization_ids(self, organization_id: UUID, ids: OrganizationIds) -> None:
        """Record the Paperless ids of the organization. Raise `ApiOrganizationNotFound` if it does not exist."""
        await self._call("PUT", f"paperless-cache/{organization_id}", ids)

    async def list_confirmed_ids(self, organization_id: UUID, sha256: str) -> frozenset[int]:
        """Return the ids of the Paperless documents that records name as confirmed copies of this content."""
        response = await self._call("GET", f"confirmed-documents/{organization_id}/{sha256}")
        return frozenset(_parse(ConfirmedDocuments, response).paperless_doc_ids)

    async def requeue(self, key: JobKey) -> None:
        """Put a dead letter back into the queue, or raise `DeadLetterNotFound`."""
        await self._call("POST", f"dead-letters/{quote(key.pdf)}/requeue")

    async def discard(self, key: JobKey) -> None:
        """Delete a dead letter, or raise `DeadLetterNotFound`."""
        await self._call("POST", f"dead-letters/{quote(key.pdf)}/discard")

    async def requeue_failed(self) -> int:
        """Requeue all failed hand-overs whose original Muniment still has, and return their number."""
        return _parse(RequeuedFailedRead, await self._call("POST", "failed/requeue")).requeued

    async def close(self) -> None:
        await self._client.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def _call(self, method: str, path: str, body: BaseModel | None = None) -> httpx.Response:
        content = None if body is None else body.model_dump(mode="json")
        try:
            response = await self._client.request(method, path, json=content)
        except httpx.HTTPError:
            raise ApiUnavailable from None
        if not response.is_success:
            raise _error(response)
        if response.status_code != httpx.codes.NO_CONTENT and not _fields(response):
            raise _not_muniment()
        return response


def _parse(model: type[Body], response: httpx.Response) -> Body:
    try:
        return model.model_validate(_fields(response))
    except ValidationError:
        raise _not_muniment() from None


def _not_muniment() -> ApiAccessDenied:
    return ApiAccessDenied("The server at MUNIMENT_INTERNAL_API_URL is not Muniment")


def _sentence(detail: object) -> str:
    """Return the message of an error; that of a 422 is a list of problems."""
    if not isinstance(detail, list):
        return str(detail)
    return "; ".join(str(problem["msg"]) for problem in detail if isinstance(problem, dict) and "msg" in problem)


def _error(response: httpx.Response) -> MunimentError:
    fields = _fields(response)
    code, detail = fields.get("code"), _sentence(fields.get("detail", ""))
    if response.status_code >= 500 or response.status_code in (408, 429):
        return ApiUnavailable()
    if response.status_code in (401, 403):
        return ApiAccessDenied()
    if response.status_code != 404:
        return ApiRequestRejected(detail or f"The API responded with status {response.status_code}")
    if code == ORGANIZATION_NOT_FOUND:
        return ApiOrganizationNotFound()
    if code == DEAD_LETTER_NOT_FOUND:
        return DeadLetterNotFound()
    if code is None and detail in ("", _ROUTE_NOT_FOUND):
        return ApiAccessDenied("MUNIMENT_INTERNAL_API_URL has no internal API. Set INTERNAL_API_KEY for the API too")
    return NotFound(detail)


def _fields(response: httpx.Response) -> Mapping[str, Any]:
    try:
        body = response.json()
    except ValueError:
        return {}
    return body if isinstance(body, dict) else {}
