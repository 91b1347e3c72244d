from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import asdict
from functools import partial
from typing import Any

from fastapi import APIRouter, Request, Response

from muniment.http.dependencies import ClientAddress, CurrentPrincipal, CurrentServices, get_principal
from muniment.http.streaming import HEARTBEAT_FRAME, EventStreamResponse, format_event
from muniment.processing.events.stream import (
    DocumentChanged,
    DocumentEventStream,
    DocumentGone,
    Heartbeat,
    ProgressSnapshot,
    StreamEvent,
)

router = APIRouter(tags=["processing"])

EVENT_STREAM_RESPONSE: dict[int | str, dict[str, Any]] = {
    200: {"content": {"text/event-stream": {"schema": {"type": "string"}}}}
}


@router.get("/events", response_class=Response, responses=EVENT_STREAM_RESPONSE)
async def follow_events(
    request: Request, services: CurrentServices, principal: CurrentPrincipal, address: ClientAddress
) -> Response:
    """Stream server-sent events about all documents you have access to.

    Starts with `snapshot` `{"documents": […], "truncated"}` with unfinished documents, repeated if events may have been
    missed. Then `document` for each change, and `gone` `{"document_id"}` when a document is no longer accessible.
    """
    stream = services.events.open(principal, partial(get_principal, request, services, address))
    return EventStreamResponse(_encode_events(stream), end=stream.close)


async def _encode_events(stream: DocumentEventStream) -> AsyncGenerator[bytes]:
    async with aclosing(stream.events()) as events:
        async for event in events:
            yield _encode_event(event)


def _encode_event(event: StreamEvent) -> bytes:
    match event:
        case ProgressSnapshot():
            return format_event("snapshot", asdict(event))
        case DocumentChanged(document):
            return format_event("document", asdict(document))
        case DocumentGone(document_id):
            return format_event("gone", {"document_id": document_id})
        case Heartbeat():
            return HEARTBEAT_FRAME
