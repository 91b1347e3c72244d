from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import asdict
from functools import partial
from typing import Any

from fastapi import APIRouter, Request, Response

from muniment.http.dependencies import ClientAddress, CurrentParts, CurrentPrincipal, get_principal
from muniment.http.streaming import HEARTBEAT, EventStream, frame
from muniment.processing.events.stream import Beat, Changed, Event, Gone, Snapshot, Stream

router = APIRouter(tags=["processing"])

DESCRIBED: dict[int | str, dict[str, Any]] = {200: {"content": {"text/event-stream": {"schema": {"type": "string"}}}}}


@router.get("/events", response_class=Response, responses=DESCRIBED)
async def follow_events(
    request: Request, parts: CurrentParts, principal: CurrentPrincipal, address: ClientAddress
) -> Response:
    """Server-sent events about all documents that you may see.

    First `snapshot` `{"documents": […], "truncated"}` with what is unfinished, again whenever something may have been
    missed. Then `document` for each change, and `gone` `{"document_id"}` when one is no longer there for you.
    """
    stream = parts.events.open(principal, partial(get_principal, request, parts, address))
    return EventStream(_frames(stream), end=stream.end)


async def _frames(stream: Stream) -> AsyncGenerator[bytes]:
    async with aclosing(stream.events()) as events:
        async for event in events:
            yield _frame(event)


def _frame(event: Event) -> bytes:
    match event:
        case Snapshot():
            return frame("snapshot", asdict(event))
        case Changed(document):
            return frame("document", asdict(document))
        case Gone(document_id):
            return frame("gone", {"document_id": document_id})
        case Beat():
            return HEARTBEAT
