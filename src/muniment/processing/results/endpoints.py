from collections.abc import Mapping
from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Depends, Path, Query, Request, Response
from fastapi.responses import StreamingResponse

from muniment.http.dependencies import CurrentParts, CurrentPrincipal
from muniment.http.pagination import Page, Paging
from muniment.http.streaming import opened, unless_gone
from muniment.processing.results import schemas
from muniment.processing.results.annotation_input import NotesPatch, PagePatch
from muniment.processing.results.annotations import Annotator
from muniment.processing.results.images import FigureView, Original, PageView, Pictures
from muniment.processing.results.viewer import Slice, Viewer

router = APIRouter(prefix="/knowledge-bases/{kb_id}/documents/{doc_id}", tags=["results"])

LARGEST = 2**31 - 1  # of PostgreSQL's integers
Number = Annotated[int, Path(ge=-LARGEST, le=LARGEST)]
OfPage = Annotated[int | None, Query(ge=1, le=LARGEST, description="Of this page only")]
Key = Annotated[str, Path(pattern=r"^[A-Za-z0-9._-]{1,100}$")]
Width = Annotated[int, Query(ge=50, le=3000, description="In pixels")]

PNG: Mapping[int | str, dict[str, object]] = {200: {"content": {"image/png": {}}, "description": "The picture"}}
PLAIN: Mapping[int | str, dict[str, object]] = {
    200: {"content": {"text/plain": {}}, "description": "The text; a form feed ends each page"}
}
FRESH_SECONDS = 60
"""Short: a replaced document shows other pictures at the same address."""


async def get_viewer(parts: CurrentParts, principal: CurrentPrincipal) -> Viewer:
    return Viewer(parts.database, parts.blobs, principal)


async def get_annotator(parts: CurrentParts, principal: CurrentPrincipal) -> Annotator:
    return Annotator(parts.database, parts.blobs, principal)


CurrentViewer = Annotated[Viewer, Depends(get_viewer)]
CurrentAnnotator = Annotated[Annotator, Depends(get_annotator)]


@router.get("/pages")
async def list_pages(
    kb_id: UUID, doc_id: UUID, viewer: CurrentViewer, paging: Paging
) -> schemas.Listing[schemas.PageItem, schemas.PageNotes]:
    """Without their text. Empty until the document has been read."""
    found = await viewer.list_pages(kb_id, doc_id, Slice(paging.offset, paging.limit))
    return schemas.Listing(**vars(found), page=paging.page, limit=paging.limit)


@router.get("/pages/{number}")
async def get_page(kb_id: UUID, doc_id: UUID, number: Number, viewer: CurrentViewer) -> schemas.PageRead:
    return await viewer.get_page(kb_id, doc_id, number)


@router.patch("/pages/{number}")
async def annotate_page(
    kb_id: UUID, doc_id: UUID, number: Number, annotator: CurrentAnnotator, wanted: PagePatch
) -> schemas.PageNotes:
    return await annotator.write_page(kb_id, doc_id, number, wanted.changes())


@router.get("/paragraphs")
async def list_paragraphs(
    kb_id: UUID, doc_id: UUID, viewer: CurrentViewer, paging: Paging, page_number: OfPage = None
) -> schemas.Listing[schemas.ParagraphRead, schemas.ParagraphNotes]:
    """In reading order."""
    found = await viewer.list_paragraphs(kb_id, doc_id, page_number, Slice(paging.offset, paging.limit))
    return schemas.Listing(**vars(found), page=paging.page, limit=paging.limit)


@router.patch("/pages/{number}/paragraphs/{index}")
async def annotate_paragraph(
    kb_id: UUID, doc_id: UUID, number: Number, index: Number, annotator: CurrentAnnotator, wanted: NotesPatch
) -> schemas.ParagraphNotes:
    """`index` from 0; the negative one of a stale annotation changes or removes that."""
    return await annotator.write_paragraph(kb_id, doc_id, number, index, wanted.annotations)


@router.get("/diagrams")
async def list_diagrams(
    kb_id: UUID, doc_id: UUID, viewer: CurrentViewer, paging: Paging, page_number: OfPage = None
) -> Page[schemas.DiagramRead]:
    found = await viewer.list_diagrams(kb_id, doc_id, page_number, Slice(paging.offset, paging.limit))
    return Page(items=list(found.items), total=found.total, page=paging.page, limit=paging.limit)


@router.patch("/diagrams/{key}")
async def annotate_diagram(
    kb_id: UUID, doc_id: UUID, key: Key, annotator: CurrentAnnotator, wanted: NotesPatch
) -> schemas.DiagramNotes:
    return await annotator.write_diagram(kb_id, doc_id, key, wanted.annotations)


@router.get("/summary")
async def get_summary(kb_id: UUID, doc_id: UUID, viewer: CurrentViewer) -> schemas.DocumentSummary:
    return await viewer.summary(kb_id, doc_id)


@router.get("/text", response_class=Response, responses={**PLAIN})
async def get_text(kb_id: UUID, doc_id: UUID, viewer: CurrentViewer) -> Response:
    """All pages, one after the other."""
    pieces = await opened(viewer.full_text(await viewer.get_shown(kb_id, doc_id)))
    return StreamingResponse(pieces, media_type="text/plain; charset=utf-8")


@router.get("/pages/{number}/image", response_class=Response, responses={**PNG})
async def get_page_image(
    kb_id: UUID,
    doc_id: UUID,
    number: Number,
    request: Request,
    viewer: CurrentViewer,
    parts: CurrentParts,
    width: Width = 1000,
) -> Response:
    """Of a PDF or a picture; other kinds have no pages to look at."""
    original, view = await viewer.page_view(kb_id, doc_id, number, width)
    view.require(original.media_type)
    return await _picture(request, parts.pictures, original, view)


@router.get("/diagrams/{key}/image", response_class=Response, responses={**PNG})
async def get_diagram_image(
    kb_id: UUID, doc_id: UUID, key: Key, request: Request, viewer: CurrentViewer, parts: CurrentParts
) -> Response:
    original, view = await viewer.figure_view(kb_id, doc_id, key)
    return await _picture(request, parts.pictures, original, view)


async def _picture(request: Request, pictures: Pictures, original: Original, view: PageView | FigureView) -> Response:
    """The rights have been checked: neither the cache nor a 304 answers before."""
    tag = f'"{original.document_id}-{original.revision}-{view}"'
    headers = {"ETag": tag, "Cache-Control": f"private, max-age={FRESH_SECONDS}"}
    known = [given.strip().removeprefix("W/") for given in request.headers.get("if-none-match", "").split(",")]
    if tag in known:
        return Response(status_code=304, headers=headers)
    drawing = pictures.get(original, view, request.state.principal.user_id)
    return Response(await unless_gone(request, drawing), media_type="image/png", headers=headers)
