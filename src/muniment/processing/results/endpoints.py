from collections.abc import Mapping
from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Depends, Path, Query, Request, Response
from fastapi.responses import StreamingResponse

from muniment.http.dependencies import CurrentPrincipal, CurrentServices
from muniment.http.pagination import PaginatedRead, Paging
from muniment.http.streaming import cancel_on_disconnect, prefetch_first_chunk
from muniment.processing.results import schemas
from muniment.processing.results.annotation_input import AnnotationPatch, PagePatch
from muniment.processing.results.annotations import AnnotationService
from muniment.processing.results.images import FigureImageRequest, ImageService, OriginalFile, PageImageRequest
from muniment.processing.results.viewer import ListWindow, ResultViewer

router = APIRouter(prefix="/knowledge-bases/{kb_id}/documents/{doc_id}", tags=["results"])

MAX_INTEGER = 2**31 - 1  # of PostgreSQL's integers
Number = Annotated[int, Path(ge=-MAX_INTEGER, le=MAX_INTEGER)]
PageFilter = Annotated[int | None, Query(ge=1, le=MAX_INTEGER, description="Of this page only")]
DiagramKey = Annotated[str, Path(pattern=r"^[A-Za-z0-9._-]{1,100}$")]
Width = Annotated[int, Query(ge=50, le=3000, description="In pixels")]

PNG: Mapping[int | str, dict[str, object]] = {
    200: {"content": {"image/png": {}}, "description": "The image"},
    304: {"description": "The image is the one that `If-None-Match` names"},
}
PLAIN: Mapping[int | str, dict[str, object]] = {
    200: {"content": {"text/plain": {}}, "description": "The text. A form feed ends each page"}
}
CACHE_SECONDS = 60
"""Short: a replaced document shows other pictures at the same address."""


async def get_viewer(services: CurrentServices, principal: CurrentPrincipal) -> ResultViewer:
    return ResultViewer(services.database, services.objects, principal)


async def get_annotation_service(services: CurrentServices, principal: CurrentPrincipal) -> AnnotationService:
    return AnnotationService(services.database, services.objects, principal)


CurrentViewer = Annotated[ResultViewer, Depends(get_viewer)]
CurrentAnnotations = Annotated[AnnotationService, Depends(get_annotation_service)]


@router.get("/pages")
async def list_pages(
    kb_id: UUID, doc_id: UUID, viewer: CurrentViewer, paging: Paging
) -> schemas.AnnotatedList[schemas.PageItem, schemas.PageAnnotations]:
    """List pages without their text. Empty until the document has been processed."""
    found = await viewer.list_pages(kb_id, doc_id, ListWindow(paging.offset, paging.limit))
    return schemas.AnnotatedList(**vars(found), page=paging.page, limit=paging.limit)


@router.get("/pages/{number}")
async def get_page(kb_id: UUID, doc_id: UUID, number: Number, viewer: CurrentViewer) -> schemas.PageRead:
    return await viewer.get_page(kb_id, doc_id, number)


@router.patch("/pages/{number}")
async def annotate_page(
    kb_id: UUID, doc_id: UUID, number: Number, annotator: CurrentAnnotations, body: PagePatch
) -> schemas.PageAnnotations:
    return await annotator.annotate_page(kb_id, doc_id, number, body.changes())


@router.get("/paragraphs")
async def list_paragraphs(
    kb_id: UUID, doc_id: UUID, viewer: CurrentViewer, paging: Paging, page_number: PageFilter = None
) -> schemas.AnnotatedList[schemas.ParagraphRead, schemas.ParagraphAnnotations]:
    """In reading order."""
    found = await viewer.list_paragraphs(kb_id, doc_id, page_number, ListWindow(paging.offset, paging.limit))
    return schemas.AnnotatedList(**vars(found), page=paging.page, limit=paging.limit)


@router.patch("/pages/{number}/paragraphs/{index}")
async def annotate_paragraph(
    kb_id: UUID, doc_id: UUID, number: Number, index: Number, annotator: CurrentAnnotations, body: AnnotationPatch
) -> schemas.ParagraphAnnotations:
    """`index` starts at 0. A negative index changes or removes a stale annotation."""
    return await annotator.annotate_paragraph(kb_id, doc_id, number, index, body.annotations)


@router.get("/diagrams")
async def list_diagrams(
    kb_id: UUID, doc_id: UUID, viewer: CurrentViewer, paging: Paging, page_number: PageFilter = None
) -> PaginatedRead[schemas.DiagramRead]:
    found = await viewer.list_diagrams(kb_id, doc_id, page_number, ListWindow(paging.offset, paging.limit))
    return PaginatedRead(items=list(found.items), total=found.total, page=paging.page, limit=paging.limit)


@router.patch("/diagrams/{key}")
async def annotate_diagram(
    kb_id: UUID, doc_id: UUID, key: DiagramKey, annotator: CurrentAnnotations, body: AnnotationPatch
) -> schemas.DiagramAnnotations:
    return await annotator.annotate_diagram(kb_id, doc_id, key, body.annotations)


@router.get("/summary")
async def get_summary(kb_id: UUID, doc_id: UUID, viewer: CurrentViewer) -> schemas.DocumentSummary:
    return await viewer.get_summary(kb_id, doc_id)


@router.get("/text", response_class=Response, responses={**PLAIN})
async def get_text(kb_id: UUID, doc_id: UUID, viewer: CurrentViewer) -> Response:
    """Return the text of all pages in order."""
    pieces = await prefetch_first_chunk(viewer.stream_text(await viewer.get_published(kb_id, doc_id)))
    return StreamingResponse(pieces, media_type="text/plain; charset=utf-8")


@router.get("/pages/{number}/image", response_class=Response, responses={**PNG})
async def get_page_image(
    kb_id: UUID,
    doc_id: UUID,
    number: Number,
    request: Request,
    viewer: CurrentViewer,
    services: CurrentServices,
    width: Width = 1000,
) -> Response:
    """Return the page image of a PDF or an image file. Other file types have none."""
    original, view = await viewer.page_image_request(kb_id, doc_id, number, width)
    view.require_page_images(original.media_type)
    return await _image_response(request, services.images, original, view)


@router.get("/diagrams/{key}/image", response_class=Response, responses={**PNG})
async def get_diagram_image(
    kb_id: UUID, doc_id: UUID, key: DiagramKey, request: Request, viewer: CurrentViewer, services: CurrentServices
) -> Response:
    original, view = await viewer.figure_image_request(kb_id, doc_id, key)
    return await _image_response(request, services.images, original, view)


async def _image_response(
    request: Request, images: ImageService, original: OriginalFile, image_request: PageImageRequest | FigureImageRequest
) -> Response:
    """The rights have been checked: neither the cache nor a 304 answers before."""
    tag = f'"{original.document_id}-{original.revision}-{image_request}"'
    headers = {"ETag": tag, "Cache-Control": f"private, max-age={CACHE_SECONDS}"}
    known = [given.strip().removeprefix("W/") for given in request.headers.get("if-none-match", "").split(",")]
    if tag in known:
        return Response(status_code=304, headers=headers)
    drawing = images.get(original, image_request, request.state.principal.user_id)
    return Response(await cancel_on_disconnect(request, drawing), media_type="image/png", headers=headers)
