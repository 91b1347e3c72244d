from uuid import UUID

from fastapi import APIRouter

from muniment.audit.receipts.repository import ReceiptRepository
from muniment.audit.receipts.schemas import ReceiptListed, ReceiptRead
from muniment.http.dependencies import CurrentWork
from muniment.http.pagination import Page, Paging

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
