"""Client of the internal API, used by the archiver (specs/archive-queue.md §3.3)."""

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
_UNKNOWN_ORGANIZATION = "Organization not found"
_NO_SUCH_ROUTE = "Not Found"
"""As the framework says it; what Muniment does not find has a name."""
_ERROR_CHARACTERS = 1000

Status = Literal["pending", "archived", "failed"]


class ApiUnavailable(Unavailable):
    """The API is not responding. Check MUNIMENT_INTERNAL_API_URL"""


class ApiRefuses(MunimentError):
    """The API rejected the archiver. INTERNAL_API_KEY must be the same on both sides"""


class UnknownOrganization(NotFound):
    """The organization of this document does not exist in Muniment"""


class NotDone(MunimentError):
    """The API rejected the request"""


@dataclass(frozen=True)
class CachedIds:
    correspondent: int
    organization_tag: int


@dataclass(frozen=True)
class Said:
    """What became of a job, for `archive_audit_log`."""

    status: Status
    retry_count: int = 0
    paperless_doc_id: int | None = None
    paperless_doc_url: str | None = None
    archived_at: datetime | None = None
    last_error: str | None = None


class InternalApi:
    """Every call may be repeated."""

    def __init__(self, url: str, key: str) -> None:
        self._client = httpx.AsyncClient(
            base_url=f"{url.rstrip('/')}/internal/v1/",
            headers={"Authorization": f"Bearer {key}"},
            timeout=TIMEOUT_SECONDS,
        )

    async def say(self, document_id: UUID, key: JobKey, said: Said) -> None:
        """For every row of this job. `UnknownOrganization`: then the job is a dead letter."""
        body = {
            "organization_id": str(key.organization_id),
            "r2_object_key": key.pdf,
            "archive_status": said.status,
            "paperless_doc_id": said.paperless_doc_id,
            "paperless_doc_url": said.paperless_doc_url,
            "archived_at": said.archived_at.isoformat() if said.archived_at else None,
            "retry_count": said.retry_count,
            "last_error": said.last_error[:_ERROR_CHARACTERS] if said.last_error else None,
        }
        await self._call("PATCH", f"archive-audit/{document_id}", json=body)

    async def cached_ids(self, organization_id: UUID) -> CachedIds | None:
        try:
            found = await self._call("GET", f"paperless-cache/{organization_id}")
        except NotFound:
            return None
        return CachedIds(found["paperless_correspondent_id"], found["paperless_org_tag_id"])

    async def keep_ids(self, organization_id: UUID, ids: CachedIds) -> None:
        """`UnknownOrganization` for one that Muniment does not have."""
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
            raise ApiRefuses("The server at MUNIMENT_INTERNAL_API_URL is not Muniment")
        return body


def _error(answer: httpx.Response) -> MunimentError:
    said = str(_fields(answer).get("detail", ""))
    if answer.status_code >= 500 or answer.status_code in (408, 429):
        return ApiUnavailable()
    if answer.status_code in (401, 403):
        return ApiRefuses()
    if answer.status_code != 404:
        return NotDone(said or f"The API responded with status {answer.status_code}")
    if said == _UNKNOWN_ORGANIZATION:
        return UnknownOrganization()
    if said in ("", _NO_SUCH_ROUTE):
        # Taken for an unknown organization it would make every job a dead letter.
        return ApiRefuses("MUNIMENT_INTERNAL_API_URL has no internal API. Set INTERNAL_API_KEY for the API too")
    return NotFound(said)


def _fields(answer: httpx.Response) -> Mapping[str, Any]:
    try:
        body = answer.json()
    except ValueError:
        return {}
    return body if isinstance(body, dict) else {}
