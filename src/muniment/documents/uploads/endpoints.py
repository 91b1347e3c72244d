"""Upload route: a request with one file is answered with its document, one with several files with a result for each.

Whether there are several is known only when the second one begins. The first is not committed before: until then, the
whole request can still be refused.
"""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import datetime

import structlog
from fastapi import APIRouter, Request, Response
from fastapi.responses import JSONResponse
from starlette.requests import ClientDisconnect

from muniment.documents.intake import Intake, ReceivedDocument
from muniment.documents.names import clean_name
from muniment.documents.quotas import UploadRoom
from muniment.documents.request_limits import RequestLimits, RequestTooLarge
from muniment.documents.schemas import (
    DocumentCreated,
    DocumentCreatedAfterAutoClear,
    DocumentRead,
    DuplicateBody,
    QuotaBody,
    UploadResult,
    UploadResults,
)
from muniment.documents.tables import DocumentType
from muniment.errors import Invalid, MunimentError
from muniment.http.dependencies import CurrentServices, KBAccess, Now
from muniment.http.errors import answer_to
from muniment.http.multipart.form import IncomingForm
from muniment.http.multipart.headers import FilePart, MalformedUpload
from muniment.http.streaming import count_rejected_uploads, request_chunks
from muniment.knowledge_bases.access import Access

log = structlog.get_logger()


router = APIRouter(prefix="/knowledge-bases/{kb_id}/documents", tags=["documents"])


UPLOAD_BODY = {
    "requestBody": {
        "required": True,
        "content": {
            "multipart/form-data": {
                "schema": {
                    "type": "object",
                    "required": ["file"],
                    "properties": {
                        "file": {
                            "type": "string",
                            "format": "binary",
                            "description": "Repeat this part to upload several files, after all other fields",
                        },
                        "document_type": {"type": "string", "enum": [str(kind) for kind in DocumentType]},
                    },
                }
            }
        },
    }
}


SKIPPING_STALLED_SECONDS = 5.0
"""How long to wait for the rest of a refused file: the client may not send it, but wait for the answer."""


class UnknownDocumentType(Invalid):
    """Unknown document type"""


@router.post(
    "",
    status_code=201,
    response_model=DocumentCreatedAfterAutoClear | DocumentCreated,
    responses={
        207: {"model": UploadResults, "description": "Several files: the result of each"},
        409: {"model": DuplicateBody},
        429: {"model": QuotaBody},
        507: {"model": QuotaBody},
    },
    openapi_extra=UPLOAD_BODY,
)
async def upload_document(
    request: Request, access: KBAccess, services: CurrentServices, now: Now
) -> DocumentCreatedAfterAutoClear | DocumentRead | Response:
    """Upload a document: multipart `file`, optional `document_type`. Access is checked before the body is read.

    A request with several files is answered with 207 and one result per file; a refused file stops no other.
    """
    access.require_upload()
    access.require_not_being_deleted()
    with count_rejected_uploads():
        room = await services.intake.require_room(access)
        limits = services.request_limits
        form = IncomingForm(request_chunks(request), request.headers.get("content-type"), max_files=limits.max_files)
        part = require_file(await form.next_file())
    upload = FormUpload(form, limits, services.intake, access, _announced_bytes(request))
    await upload.receive_all(part, room, now)
    if upload.is_single:
        return upload.outcomes[0].require_document()
    return _several(upload.outcomes)


def _announced_bytes(request: Request) -> int | None:
    announced = request.headers.get("content-length", "")
    return int(announced) if announced.isdecimal() else None


@dataclass(frozen=True)
class Outcome:
    """What became of one file: a document or an error."""

    name: str
    document: DocumentCreatedAfterAutoClear | DocumentRead | None = None
    error: Exception | None = None

    def require_document(self) -> DocumentCreatedAfterAutoClear | DocumentRead:
        if self.error is not None:
            raise self.error
        assert self.document is not None
        return self.document

    def result(self) -> UploadResult:
        if self.error is not None:
            answer = answer_to(self.error)
            return UploadResult(name=self.name, status=answer.status, body=dict(answer.body))
        return UploadResult(name=self.name, status=201, body=self.require_document().model_dump(mode="json"))


def _several(outcomes: list[Outcome]) -> Response:
    waits = [answer_to(outcome.error).headers.get("Retry-After") for outcome in outcomes if outcome.error]
    longest = max((int(wait) for wait in waits if wait), default=None)
    body = UploadResults(results=[outcome.result() for outcome in outcomes])
    headers = {} if longest is None else {"Retry-After": str(longest)}
    return JSONResponse(body.model_dump(mode="json"), status_code=207, headers=headers)


class FormUpload:
    """The files of one form, received one after the other in constant memory."""

    def __init__(
        self, form: IncomingForm, limits: RequestLimits, intake: Intake, access: Access, announced_bytes: int | None
    ) -> None:
        self.outcomes: list[Outcome] = []
        self._form = form
        self._limits = limits
        self._intake = intake
        self._access = access
        self._announced_bytes = announced_bytes
        self._file_bytes = 0
        self._file_count = 1
        self._next: FilePart | None = None
        self._is_at_next = False

    @property
    def is_single(self) -> bool:
        return self._file_count == 1

    async def receive_all(self, first: FilePart, room: UploadRoom | None, now: datetime) -> None:
        """Receive all files. Raise `RequestTooLarge` if they are too large together, before any of them is stored."""
        part: FilePart | None = first
        while part is not None:
            self._next, self._is_at_next = None, False
            try:
                with count_rejected_uploads():
                    document = await self._receive(part, room, now)
            except ClientDisconnect:
                raise
            except RequestTooLarge as error:
                if not self.outcomes:
                    raise
                self.outcomes.append(Outcome(part.file_name, error=error))
                return
            except Exception as error:  # noqa: BLE001  # one file stops no other; a single one raises it again
                self._refuse(part, error)
                await self._skip_file()
            else:
                self.outcomes.append(Outcome(part.file_name, document))
            part, room = self._next, None

    def _refuse(self, part: FilePart, error: Exception) -> None:
        self.outcomes.append(Outcome(part.file_name, error=error))
        if answer_to(error).status == 500 and not self.is_single:
            log.error("uploads.file_failed", exc_info=error)  # of a single one, the access log has the traceback

    async def _receive(
        self, part: FilePart, room: UploadRoom | None, now: datetime
    ) -> DocumentCreatedAfterAutoClear | DocumentRead:
        """Receive one file, up to the next one. The first file's `room` is known; that of others is asked for here."""
        self._limits.require_files(len(self.outcomes) + 1)
        name = clean_file_name(part)
        if self.outcomes:
            room = await self._intake.require_room(self._access)
        async with self._intake.stage(self._access, name, self._iter_chunks(), now=now, room=room) as staged:
            await self._go_to_next()
            received = await self._intake.receive(self._access, staged, _document_type(self._form.fields))
        return _read(received)

    async def _iter_chunks(self) -> AsyncIterator[bytes]:
        async for chunk in self._form.iter_chunks():
            self._count(chunk)
            yield chunk

    def _count(self, chunk: bytes) -> None:
        self._file_bytes += len(chunk)
        if not self.is_single:
            self._limits.require_bytes(self._file_bytes)

    async def _go_to_next(self) -> None:
        """Go to the next file or to the end of the form, and so make sure that the present file is complete."""
        self._next = await self._form.next_file()
        self._is_at_next = True
        if self._next is None:
            return
        self._file_count += 1
        if self._file_count == 2:
            self._form.refuse_more_fields()
            self._limits.require_bytes(max(self._announced_bytes or 0, self._file_bytes))

    async def _skip_file(self) -> None:
        """Go to the file after a refused one, if the request can have another one."""
        if self._is_at_next or self._form.is_broken or not self._limits.allows(self._announced_bytes or 0):
            return
        chunks = self._form.iter_chunks()
        try:
            while (chunk := await _next_chunk(chunks)) is not None:
                self._file_bytes += len(chunk)
                if not self._limits.allows(self._file_bytes):
                    return
            async with asyncio.timeout(SKIPPING_STALLED_SECONDS):
                await self._go_to_next()
        except (TimeoutError, MunimentError):
            return  # there is no other file, or none that can be read


async def _next_chunk(chunks: AsyncIterator[bytes]) -> bytes | None:
    async with asyncio.timeout(SKIPPING_STALLED_SECONDS):
        return await anext(chunks, None)


def _read(received: ReceivedDocument) -> DocumentCreatedAfterAutoClear | DocumentRead:
    if received.auto_cleared_id:
        return DocumentCreatedAfterAutoClear.after_auto_clear(received.document, received.auto_cleared_id)
    return DocumentCreated.of(received.document)


async def read_file_name(form: IncomingForm) -> str:
    """Return the name of the file in the form, which is read up to the file's first byte."""
    return clean_file_name(require_file(await form.next_file()))


def require_file(part: FilePart | None) -> FilePart:
    """Return the first file of a form. Raise `MalformedUpload` if there is none."""
    if part is None:
        raise _no_file()
    return part


def clean_file_name(part: FilePart) -> str:
    """Return the name of a file. Raise `Invalid` if it is not valid, or if this is not the field for documents."""
    if part.name != "file":
        raise _no_file()
    return clean_name(part.file_name)


def _no_file() -> MalformedUpload:
    return MalformedUpload("Send the document in the form field `file`")


def _document_type(fields: dict[str, str]) -> DocumentType:
    given = fields.get("document_type") or DocumentType.OTHER
    if given not in set(DocumentType):
        raise UnknownDocumentType(f"Unknown document type. Supported: {', '.join(DocumentType)}")
    return DocumentType(given)
