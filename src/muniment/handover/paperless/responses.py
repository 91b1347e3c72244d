"""Map responses to errors. Not every response comes from Paperless: proxies and login pages answer, too."""

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from enum import Enum, auto
from typing import Any
from urllib.parse import urlsplit

import httpx

from muniment.handover.paperless.errors import (
    Gone,
    Kind,
    LineStopped,
    NotForThis,
    PaperlessError,
    Rejected,
    Throttled,
    Unclear,
    UnknownId,
)


class About(Enum):
    """What a call is about, since the same status means different things."""

    LOOK = auto()  # a list or another fixed address that is always there
    NEXT_PAGE = auto()  # of a list that may have become shorter since
    MAKE = auto()  # a new tag, correspondent, type or field
    UPLOAD = auto()
    DOCUMENT = auto()  # one document, which may be gone or somebody else's


_STOPS: Mapping[int, str] = {
    401: "Paperless rejected the API token",
    404: "Paperless was not found at this address",
    405: "The server at this address does not support the Paperless API",
    406: "Paperless does not support API version 9. Version 2.19 or newer is required",
}


_MAY_VANISH = (About.DOCUMENT, About.NEXT_PAGE)


_ALWAYS_RIGHT = (About.LOOK, About.NEXT_PAGE)


_UNCLEAR = frozenset({408, 425})


_ABOUT_THE_CONTENT = frozenset({400, 413, 415})


_REASON_CHARACTERS = 300


def check(answer: httpx.Response, about: About) -> None:
    """Raise what a status means; leave alone what succeeded. The body must have been read."""
    if not answer.is_success:
        raise _error(answer, about)


def _error(answer: httpx.Response, about: About) -> PaperlessError:
    status = answer.status_code
    if status >= 500 or status in _UNCLEAR:
        return Unclear(f"Paperless failed with status {status}")
    if status == 429:
        return Throttled(_seconds(answer.headers.get("Retry-After")))
    if about is About.DOCUMENT and status == 403:
        return NotForThis()
    if about in _MAY_VANISH and status == 404 and _is_from_paperless(answer):
        return Gone()
    if about not in _ALWAYS_RIGHT and status in _ABOUT_THE_CONTENT:
        return _rejected(answer)
    return LineStopped(_stop(answer))


def _stop(answer: httpx.Response) -> str:
    if answer.status_code == 403:
        return "Paperless denied the request. Check the permissions of the archiver's user"
    if answer.is_redirect:
        # Without its query: Cloudflare's contains what one could sign in with.
        place = urlsplit(answer.headers.get("Location", ""))
        return (
            f"The address redirects to {place.netloc}{place.path}. Check that it is Paperless, without a login in front"
        )
    return _STOPS.get(answer.status_code, f"The server at this address is not Paperless (status {answer.status_code})")


def _is_from_paperless(answer: httpx.Response) -> bool:
    """A 404 of a proxy would make every document look gone, and be uploaded again."""
    return "detail" in _fields(answer)


def _rejected(answer: httpx.Response) -> Rejected:
    """With what Paperless says, in short; of a page in HTML no more than the status."""
    fields = _fields(answer)
    said = json.dumps(fields, ensure_ascii=False) if fields else f"status {answer.status_code}"
    return Rejected(said[:_REASON_CHARACTERS], fields=fields)


def _fields(answer: httpx.Response) -> Mapping[str, Any]:
    """What was wrong, by the name of the field; nothing if the answer is not of that kind."""
    try:
        body = answer.json()
    except ValueError:
        return {}
    return body if isinstance(body, dict) else {}


def _seconds(retry_after: str | None) -> float | None:
    """Seconds, or a moment as HTTP writes it; what is neither was not said."""
    if retry_after is None:
        return None
    if retry_after.strip().isdecimal():
        return float(retry_after)
    try:
        return max(0.0, (parsedate_to_datetime(retry_after) - datetime.now(UTC)).total_seconds())
    except (TypeError, ValueError):
        return None


_KINDS: Mapping[str, Kind] = {
    "tags": Kind.TAG,
    "correspondent": Kind.CORRESPONDENT,
    "document_type": Kind.DOCUMENT_TYPE,
    "custom_fields": Kind.CUSTOM_FIELD,
}


def unknown_id(error: Rejected) -> UnknownId | None:
    """What the refusal means if an id is at fault and nothing else."""
    if not error.fields or not error.fields <= _KINDS.keys():
        return None
    return UnknownId(_KINDS[min(error.fields)], error.reason)
