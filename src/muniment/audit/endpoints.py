"""Routes of the audit log and of receipts."""

import base64
from datetime import UTC, datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from fastapi import APIRouter, Depends, Query, Request
from fastapi.responses import JSONResponse, StreamingResponse

from muniment.audit import schemas
from muniment.audit.receipts.repository import ReceiptRepository
from muniment.audit.repository import EventFilter, TrailRepository
from muniment.audit.schemas import ReceiptPendingRead, ReceiptRead, ReceiptSummaryRead
from muniment.http.dependencies import CurrentPrincipal, CurrentServices, CurrentWork, Now
from muniment.http.pagination import PaginatedRead, Paging
from muniment.http.streaming import cancel_on_disconnect, prefetch_first_chunk

router = APIRouter(prefix="/audit", tags=["audit"])


Installation = Annotated[
    bool, Query(description="Return events that do not belong to an organization. Operators only.")
]


FilterText = Annotated[str | None, Query(max_length=100)]


OptionalTime = datetime | None


async def get_event_filter(
    installation: Installation = False,
    action: FilterText = None,
    actor: Annotated[str | None, Query(max_length=100, description="The ID of a user, or `system`.")] = None,
    kb_id: UUID | None = None,
    document_id: UUID | None = None,
    since: Annotated[OptionalTime, Query(alias="from")] = None,
    until: Annotated[OptionalTime, Query(alias="to", description="Not included.")] = None,
) -> EventFilter:
    return EventFilter(installation, action, actor, kb_id, document_id, _utc(since), _utc(until))


def _utc(moment: OptionalTime) -> OptionalTime:
    return moment.replace(tzinfo=UTC) if moment and moment.tzinfo is None else moment


EventFilterQuery = Annotated[EventFilter, Depends(get_event_filter)]


@router.get("")
async def list_events(
    work: CurrentWork, event_filter: EventFilterQuery, paging: Paging
) -> PaginatedRead[schemas.EventRead]:
    """List events, newest first. Owners see their knowledge bases, admins the whole organization."""
    found, total = await TrailRepository(work.session).list_(event_filter, offset=paging.offset, limit=paging.limit)
    items = [schemas.EventRead.of(event, seq) for event, seq in found]
    return PaginatedRead(items=items, total=total, page=paging.page, limit=paging.limit)


@router.get("/verify")
async def verify_trail(
    request: Request, services: CurrentServices, principal: CurrentPrincipal, installation: Installation = False
) -> schemas.VerdictRead:
    """Verify that no event was changed, removed or reordered since it was sealed."""
    verdict = services.audit.verify(principal, is_installation=installation)
    return schemas.VerdictRead.of(await cancel_on_disconnect(request, verdict))


EXPORT_RESPONSE: dict[int | str, dict[str, Any]] = {
    200: {
        "content": {kind: {"schema": {"type": "string"}} for kind in ("application/jsonl", "text/csv")},
        "description": "The events as JSON Lines or CSV",
    }
}


@router.get("/export", response_class=StreamingResponse, responses=EXPORT_RESPONSE)
async def export_trail(
    services: CurrentServices,
    principal: CurrentPrincipal,
    event_filter: EventFilterQuery,
    now: Now,
    kind: Annotated[Literal["csv", "jsonl"], Query(alias="format")] = "jsonl",
) -> StreamingResponse:
    """Verify JSON Lines offline with `muniment audit verify FILE`. CSV is for spreadsheets."""
    if kind == "csv":
        pieces, media_type = services.audit.export_csv(principal, event_filter), "text/csv; charset=utf-8"
    else:
        pieces, media_type = services.audit.export_json_lines(principal, event_filter, now), "application/jsonl"
    name = f"audit-{now:%Y-%m-%d}.{kind}"
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return StreamingResponse(await prefetch_first_chunk(pieces), media_type=media_type, headers=headers)


@router.get("/key")
async def get_signing_keys(services: CurrentServices, principal: CurrentPrincipal) -> schemas.KeysRead:
    """Return the public keys that sign the audit log and receipts."""
    keys = [schemas.KeyRead.model_validate(key.as_json()) for key in await services.audit.list_keys(principal)]
    signer = services.audit.signer.current()
    return schemas.KeysRead(key_id=signer.key_id, public_key=base64.b64encode(signer.public_key).decode(), keys=keys)


receipts_router = APIRouter(prefix="/receipts", tags=["receipts"])


@receipts_router.get("")
async def list_receipts(
    work: CurrentWork, paging: Paging, kb_id: UUID | None = None
) -> PaginatedRead[ReceiptSummaryRead]:
    """List receipts of knowledge bases you own or last owned, newest first. Admins see the whole organization."""
    found, total = await ReceiptRepository(work.session).list_signed(kb_id, offset=paging.offset, limit=paging.limit)
    return PaginatedRead(
        items=[ReceiptSummaryRead.of(one) for one in found], total=total, page=paging.page, limit=paging.limit
    )


PENDING_RECEIPT: dict[int | str, dict[str, Any]] = {
    202: {"model": ReceiptPendingRead, "description": "Not signed yet. Repeat the request later"}
}


@receipts_router.get("/{receipt_id}", response_model=ReceiptRead, responses=PENDING_RECEIPT)
async def get_receipt(receipt_id: UUID, work: CurrentWork) -> ReceiptRead | JSONResponse:
    """Return what each store held, what the recheck found, and what is kept and why."""
    receipt = await ReceiptRepository(work.session).get(receipt_id)
    if receipt.signed_at is None:
        body = ReceiptPendingRead.of(receipt).model_dump(mode="json")
        return JSONResponse(body, status_code=202, headers={"Retry-After": "5"})
    return ReceiptRead.of(receipt)
