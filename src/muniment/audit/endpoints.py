"""Routes of the audit trail and of receipts."""

import base64
from datetime import UTC, datetime
from typing import Annotated, Literal
from uuid import UUID

from fastapi import APIRouter, Depends, Query, Request
from fastapi.responses import StreamingResponse

from muniment.audit import schemas
from muniment.audit.receipts.repository import ReceiptRepository
from muniment.audit.repository import TrailRepository, Wanted
from muniment.audit.schemas import ReceiptListed, ReceiptRead
from muniment.http.dependencies import CurrentParts, CurrentPrincipal, CurrentWork, Now
from muniment.http.pagination import Page, Paging
from muniment.http.streaming import opened, unless_gone

router = APIRouter(prefix="/audit", tags=["audit"])


Installation = Annotated[bool, Query(description="For operators: what belongs to no organization.")]


Word = Annotated[str | None, Query(max_length=100)]


Moment = datetime | None


async def get_wanted(
    installation: Installation = False,
    action: Word = None,
    actor: Annotated[str | None, Query(max_length=100, description="The id of a person, or `system`.")] = None,
    kb_id: UUID | None = None,
    document_id: UUID | None = None,
    since: Annotated[Moment, Query(alias="from")] = None,
    until: Annotated[Moment, Query(alias="to", description="Not included.")] = None,
) -> Wanted:
    return Wanted(installation, action, actor, kb_id, document_id, _utc(since), _utc(until))


def _utc(moment: Moment) -> Moment:
    return moment.replace(tzinfo=UTC) if moment and moment.tzinfo is None else moment


WantedEvents = Annotated[Wanted, Depends(get_wanted)]


@router.get("")
async def list_events(work: CurrentWork, wanted: WantedEvents, paging: Paging) -> Page[schemas.EventRead]:
    """The newest first. Owners see what happened in their knowledge bases, admins all of their organization."""
    found, total = await TrailRepository(work.session).list_(wanted, offset=paging.offset, limit=paging.limit)
    items = [schemas.EventRead.of(event, seq) for event, seq in found]
    return Page(items=items, total=total, page=paging.page, limit=paging.limit)


@router.get("/verify")
async def verify_trail(
    request: Request, parts: CurrentParts, principal: CurrentPrincipal, installation: Installation = False
) -> schemas.VerdictRead:
    """Whether anything was changed, removed or put into another order since it was sealed."""
    verdict = parts.audit.verify(principal, is_installation=installation)
    return schemas.VerdictRead.of(await unless_gone(request, verdict))


@router.get("/export", response_class=StreamingResponse)
async def export_trail(
    parts: CurrentParts,
    principal: CurrentPrincipal,
    wanted: WantedEvents,
    now: Now,
    kind: Annotated[Literal["csv", "jsonl"], Query(alias="format")] = "jsonl",
) -> StreamingResponse:
    """JSON Lines can be checked by `muniment audit verify FILE` without this server; CSV is for spreadsheets."""
    if kind == "csv":
        pieces, media_type = parts.audit.export_csv(principal, wanted), "text/csv; charset=utf-8"
    else:
        pieces, media_type = parts.audit.export_json_lines(principal, wanted, now), "application/jsonl"
    name = f"audit-{now:%Y-%m-%d}.{kind}"
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return StreamingResponse(await opened(pieces), media_type=media_type, headers=headers)


@router.get("/key")
async def get_signing_keys(parts: CurrentParts, principal: CurrentPrincipal) -> schemas.KeysRead:
    """The public keys that audit trails and receipts are signed with."""
    keys = [schemas.KeyRead.model_validate(key.as_json()) for key in await parts.audit.keys(principal)]
    signer = parts.audit.signer
    return schemas.KeysRead(key_id=signer.key_id, public_key=base64.b64encode(signer.public_key).decode(), keys=keys)


receipts_router = APIRouter(prefix="/receipts", tags=["receipts"])


@receipts_router.get("")
async def list_receipts(work: CurrentWork, paging: Paging, kb_id: UUID | None = None) -> Page[ReceiptListed]:
    """Newest first: those of knowledge bases that the caller owns or owned last; an admin sees the organization's."""
    found, total = await ReceiptRepository(work.session).list_signed(kb_id, offset=paging.offset, limit=paging.limit)
    return Page(items=[ReceiptListed.of(one) for one in found], total=total, page=paging.page, limit=paging.limit)


@receipts_router.get("/{receipt_id}")
async def get_receipt(receipt_id: UUID, work: CurrentWork) -> ReceiptRead:
    """What was there, what a second look found, what is kept and why; also when the document and its place are gone."""
    return ReceiptRead.of(await ReceiptRepository(work.session).get_signed(receipt_id))
