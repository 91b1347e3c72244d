"""Client of the internal API, used by the archiver (docs/contracts.md#internal-api)."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal, Self
from urllib.parse import quote
from uuid import UUID

import httpx

from muniment.errors import MunimentError, NotFound, Unavailable
from muniment.handover.job_key import JobKey

TIMEOUT_SECONDS = 30.0
_ORGANIZATION_NOT_FOUND = "Organization not found"
_ROUTE_NOT_FOUND = "Not Found"
"""As the framework says it; what Muniment does not find has a name."""
_MAX_ERROR_CHARACTERS = 1000

ReportedStatusValue = Literal["pending", "archived", "failed"]


class ApiUnavailable(Unavailable):
    """The API is not responding. Check MUNIMENT_INTERNAL_API_URL"""


class ApiAccessDenied(MunimentError):
    """The API rejected the archiver. INTERNAL_API_KEY must be the same on both sides"""


class ApiOrganizationNotFound(NotFound):
    """The organization of this document does not exist in Muniment"""


class ApiRequestRejected(MunimentError):
    """The API rejected the request"""


@dataclass(frozen=True)
class CachedOrganizationIds:
    correspondent: int
    organization_tag: int


@dataclass(frozen=True)
class ReportedStatus:
    """What became of a job, for `archive_audit_log`."""

    status: ReportedStatusValue
    retry_count: int = 0
    paperless_doc_id: int | None = None
    paperless_doc_url: str | None = None
    archived_at: datetime | None = None
    last_error: str | None = None


class InternalApiClient:
    """Every call may be repeated."""

    def __init__(self, url: str, key: str) -> None:
        self._client = httpx.AsyncClient(
            base_url=f"{url.rstrip('/')}/internal/v1/",
            headers={"Authorization": f"Bearer {key}"},
            timeout=TIMEOUT_SECONDS,
        )

    async def report_status(self, document_id: UUID, key: JobKey, status: ReportedStatus) -> None:
        """For every row of this job. `ApiOrganizationNotFound`: then the job is a dead letter."""
        body = {
            "organization_id": str(key.organization_id),
            "r2_object_key": key.pdf,
            "archive_status": status.status,
            "paperless_doc_id": status.paperless_doc_id,
            "paperless_doc_url": status.paperless_doc_url,
            "archived_at": status.archived_at.isoformat() if status.archived_at else None,
            "retry_count": status.retry_count,
            "last_error": status.last_error[:_MAX_ERROR_CHARACTERS] if status.last_error else None,
        }
        await self._call("PATCH", f"archive-audit/{document_id}", json=body)

    async def find_organization_ids(self, organization_id: UUID) -> CachedOrganizationIds | None:
        try:
            found = await self._call("GET", f"paperless-cache/{organization_id}")
        except NotFound:
            return None
        return CachedOrganizationIds(found["paperless_correspondent_id"], found["paperless_org_tag_id"])

    async def store_organization_ids(self, organization_id: UUID, ids: CachedOrganizationIds) -> None:
        """`ApiOrganizationNotFound` for one that Muniment does not have."""
        body = {"paperless_correspondent_id": ids.correspondent, "paperless_org_tag_id": ids.organization_tag}
        await self._call("PUT", f"paperless-cache/{organization_id}", json=body)

    async def requeue(self, key: JobKey) -> None:
        await self._call("POST", f"dead-letters/{quote(key.pdf)}/requeue")

    async def discard(self, key: JobKey) -> None:
        await self._call("POST", f"dead-letters/{quote(key.pdf)}/discard")

    async def requeue_failed(self) -> int:
        """Everything that failed and whose original Muniment holds; how many."""
        return int((await self._call("POST", "failed/requeue"))["requeued"])

    async def close(self) -> None:
        await self._client.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def _call(self, method: str, path: str, **content: Any) -> Any:
        try:
            answer = await self._client.request(method, path, **content)
        except httpx.HTTPError:
            raise ApiUnavailable from None
        if not answer.is_success:
            raise _error(answer)
        if answer.status_code == httpx.codes.NO_CONTENT:
            return None
        body = _fields(answer)
        if not body:
            raise ApiAccessDenied("The server at MUNIMENT_INTERNAL_API_URL is not Muniment")
        return body


def _error(response: httpx.Response) -> MunimentError:
    said = str(_fields(response).get("detail", ""))
    if response.status_code >= 500 or response.status_code in (408, 429):
        return ApiUnavailable()
    if response.status_code in (401, 403):
        return ApiAccessDenied()
    if response.status_code != 404:
        return ApiRequestRejected(said or f"The API responded with status {response.status_code}")
    if said == _ORGANIZATION_NOT_FOUND:
        return ApiOrganizationNotFound()
    if said in ("", _ROUTE_NOT_FOUND):
        # Taken for an unknown organization it would make every job a dead letter.
        return ApiAccessDenied("MUNIMENT_INTERNAL_API_URL has no internal API. Set INTERNAL_API_KEY for the API too")
    return NotFound(said)


def _fields(response: httpx.Response) -> Mapping[str, Any]:
    try:
        body = response.json()
    except ValueError:
        return {}
    return body if isinstance(body, dict) else {}
