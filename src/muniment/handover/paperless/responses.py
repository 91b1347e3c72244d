"""Map responses to errors. Not every response comes from Paperless: proxies and login pages answer, too."""

from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from enum import Enum, auto
from typing import Any
from urllib.parse import urlsplit

import httpx

from muniment.handover.paperless.errors import (
    DocumentForbidden,
    OutcomeUnknown,
    PaperlessDocumentGone,
    PaperlessError,
    PaperlessForbidden,
    PaperlessKind,
    PaperlessMisconfigured,
    RateLimited,
    RequestRejected,
    StaleObjectId,
)


class CallKind(Enum):
    """Kind of a call: the same status means different things for each."""

    LIST = auto()  # a list or another address that always exists
    NEXT_PAGE = auto()  # of a list that may have become shorter
    CREATE = auto()  # a new tag, correspondent, type or field
    UPLOAD = auto()
    DOCUMENT = auto()  # one document, which may be deleted or belong to another user


_CONFIGURATION_ERRORS: Mapping[int, str] = {
    401: "Paperless rejected the API token",
    404: "Paperless was not found at this address",
    405: "The server at this address does not support the Paperless API",
    406: (
        "Paperless does not support API version 9. Paperless-ngx 2.19 or newer is required, "
        "or a newer version of Muniment"
    ),
}
_CAN_BE_GONE = (CallKind.DOCUMENT, CallKind.NEXT_PAGE)
_ALWAYS_VALID = (CallKind.LIST, CallKind.NEXT_PAGE)
_UNKNOWN_OUTCOME_STATUSES = frozenset({408, 425})
_REJECTION_STATUSES = frozenset({400, 413, 415})
_REJECTION_MEANINGS: Mapping[int, str] = {413: "the file is too large", 415: "the file type is not supported"}
_UNNAMED_FIELDS = ("detail", "non_field_errors")
_MAX_REASON_CHARACTERS = 300


def raise_for_status(response: httpx.Response, kind: CallKind) -> None:
    """Raise the error that the status means for this kind of call. The body must have been read."""
    if not response.is_success:
        raise _error(response, kind)


def _error(response: httpx.Response, kind: CallKind) -> PaperlessError:
    status = response.status_code
    if status >= 500 or status in _UNKNOWN_OUTCOME_STATUSES:
        return OutcomeUnknown(f"Paperless failed with status {status}")
    if status == 429:
        return RateLimited(_parse_retry_after(response.headers.get("Retry-After")))
    if kind is CallKind.DOCUMENT and status == 403:
        return DocumentForbidden()
    if kind in _CAN_BE_GONE and status == 404 and _is_from_paperless(response):
        return PaperlessDocumentGone()
    if kind not in _ALWAYS_VALID and status in _REJECTION_STATUSES:
        return _rejected(response)
    return PaperlessForbidden() if status == 403 else PaperlessMisconfigured(_configuration_error(response))


def _configuration_error(response: httpx.Response) -> str:
    if response.is_redirect:
        # Without the query: that of Cloudflare contains credentials.
        target = urlsplit(response.headers.get("Location", ""))
        address = f"{target.netloc}{target.path}"
        return f"The address redirects to {address}. Check that it is Paperless, without a login in front"
    return _CONFIGURATION_ERRORS.get(
        response.status_code, f"The server at this address is not Paperless (status {response.status_code})"
    )


def _is_from_paperless(response: httpx.Response) -> bool:
    """Return whether Paperless itself responded. A proxy's 404 would make every document look deleted."""
    return "detail" in _fields(response)


def _rejected(response: httpx.Response) -> RequestRejected:
    """Build the error with Paperless's message as text; for an HTML page, with what its status means."""
    fields, status = _fields(response), response.status_code
    meaning = _REJECTION_MEANINGS.get(status)
    reason = _describe(fields) or (f"{meaning} (status {status})" if meaning else f"status {status}")
    return RequestRejected(reason[:_MAX_REASON_CHARACTERS], fields=fields)


def _describe(value: object) -> str:
    """Return the messages in a body of Paperless as text, such as `document: File type text/plain not supported`."""
    if isinstance(value, dict):
        parts = ((str(name), _describe(message)) for name, message in value.items())
        return "; ".join(text if name in _UNNAMED_FIELDS else f"{name}: {text}" for name, text in parts if text)
    if isinstance(value, list):
        return " ".join(filter(None, map(_describe, value)))
    return "" if value is None else str(value)


def _fields(response: httpx.Response) -> Mapping[str, Any]:
    """Return the fields of a JSON object; an empty mapping for any other body."""
    try:
        body = response.json()
    except ValueError:
        return {}
    return body if isinstance(body, dict) else {}


def _parse_retry_after(retry_after: str | None) -> float | None:
    """Parse `Retry-After`, which has seconds or a date. Return `None` if it is invalid."""
    if retry_after is None:
        return None
    if retry_after.strip().isdecimal():
        return float(retry_after)
    try:
        return max(0.0, (parsedate_to_datetime(retry_after) - datetime.now(UTC)).total_seconds())
    except (TypeError, ValueError):
        return None


_KINDS: Mapping[str, PaperlessKind] = {
    "tags": PaperlessKind.TAG,
    "correspondent": PaperlessKind.CORRESPONDENT,
    "document_type": PaperlessKind.DOCUMENT_TYPE,
    "custom_fields": PaperlessKind.CUSTOM_FIELD,
}


def as_stale_object_id(error: RequestRejected) -> StaleObjectId | None:
    """Return a `StaleObjectId` if ids are the only invalid fields."""
    if not error.fields or not error.fields <= _KINDS.keys():
        return None
    return StaleObjectId(_KINDS[min(error.fields)], error.reason)
