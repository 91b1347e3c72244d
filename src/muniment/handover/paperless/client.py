"""Client for Paperless-ngx 2.19 or newer and 3.x."""

import asyncio
import json
from collections.abc import AsyncIterator, Collection, Mapping
from datetime import date
from typing import Any, Self
from uuid import UUID

from muniment.handover.paperless.errors import (
    OutcomeUnknown,
    PaperlessDocumentGone,
    PaperlessKind,
    PaperlessMisconfigured,
    RequestRejected,
    StaleObjectId,
)
from muniment.handover.paperless.models import (
    ConsumeTask,
    PaperlessDocument,
    PdfContent,
    Version,
    compute_checksum,
    content_size,
    expect_shape,
)
from muniment.handover.paperless.responses import CallKind, as_stale_object_id
from muniment.handover.paperless.transport import CloudflareAccess, PaperlessTransport, Timeouts


class _Connected:
    def __init__(self, transport: PaperlessTransport) -> None:
        self._transport = transport


_TEXT_FIELD_TYPES = ("string", "longtext")


_NO_MATCHING = {"matching_algorithm": 0, "match": "", "is_insensitive": False}


class _ObjectCalls(_Connected):
    async def find_id(self, kind: PaperlessKind, name: str) -> int | None:
        """The id of what bears exactly this name. Of several (their owners differ) the lowest that we may change."""
        rows = self._transport.iter_rows(f"/api/{kind}/", {"name__iexact": name, "page_size": 100})
        with expect_shape():
            # Whether the filter was understood is seen on the rows; the filter itself does not mind the case.
            named = [row async for row in rows if row["name"] == name]
            if not named:
                return None
            found = min(named, key=lambda row: (not row.get("user_can_change", True), int(row["id"])))
        if kind is PaperlessKind.CUSTOM_FIELD and found.get("data_type") not in _TEXT_FIELD_TYPES:
            raise PaperlessMisconfigured(f"The Paperless custom field {name} is not a text field")
        return int(found["id"])

    async def get_or_create(self, kind: PaperlessKind, name: str) -> int:
        """The id of what bears this name, made with matching off if there is none. Doing it twice changes nothing."""
        if (found := await self.find_id(kind, name)) is not None:
            return found
        try:
            return await self._create(kind, name)
        except (RequestRejected, OutcomeUnknown) as error:
            # Somebody was faster, or it was made in spite of the error (Paperless without its Redis does so).
            if (found := await self.find_id(kind, name)) is not None:
                return found
            if isinstance(error, OutcomeUnknown):
                raise
            raise PaperlessMisconfigured(f"Paperless could not create {name}: {error.reason}") from None

    async def _create(self, kind: PaperlessKind, name: str) -> int:
        answer = await self._transport.post(f"/api/{kind}/", _creation_body(kind, name), kind=CallKind.CREATE)
        with expect_shape():
            return int(answer["id"])


def _creation_body(kind: PaperlessKind, name: str) -> Mapping[str, Any]:
    return {"name": name, **({"data_type": "string"} if kind is PaperlessKind.CUSTOM_FIELD else _NO_MATCHING)}


_MAX_RESULTS = 100
"""More than this is no answer of ours: Paperless leaves out filters that it does not know, and lists everything."""


class _DocumentCalls(_Connected):
    async def find_tagged(self, tag_ids: Collection[int]) -> list[PaperlessDocument]:
        """The documents outside the trash that carry all of these tags, the oldest first."""
        if not tag_ids:
            raise ValueError("Without tags this would be every document")
        found = await self._find({"tags__id__all": ",".join(map(str, sorted(tag_ids)))})
        if not all(document.tags.issuperset(tag_ids) for document in found):
            raise PaperlessMisconfigured("Paperless ignored the tag filter. This version is not supported")
        return found

    async def find_by_checksum(self, content: PdfContent) -> list[PaperlessDocument]:
        """The documents outside the trash whose original has these bytes, by Paperless's own checksum, oldest first.

        That is an MD5 before version 3: enough to find, not to prove.
        """
        algorithm = "sha256" if (await self._transport.version()).has_sha256 else "md5"
        wanted = await asyncio.to_thread(compute_checksum, content, algorithm)
        found = await self._find({"checksum__iexact": wanted})
        return [document for document in found if await self._has_checksum(document.id, wanted)]

    async def find_by_file_name(self, name: str) -> list[PaperlessDocument]:
        """The documents outside the trash that were uploaded under exactly this name, the oldest first."""
        if not name:
            raise ValueError("Without a name this would be every document")
        found = await self._find({"original_filename__iexact": name})
        return [document for document in found if document.original_file_name == name]

    async def find_document(self, document_id: int) -> PaperlessDocument | None:
        """The document, or nothing if it is not there, in the trash, or not for this token."""
        try:
            row = await self._transport.get(
                _document_path(document_id), {"fields": PaperlessDocument.FIELDS}, kind=CallKind.DOCUMENT
            )
        except PaperlessDocumentGone:
            return None
        with expect_shape():
            return PaperlessDocument.parse(row)

    async def get_checksum(self, document_id: int) -> str:
        """What Paperless keeps as the checksum of the original, in hex: SHA-256 from version 3 on, before it MD5."""
        answer = await self._transport.get(f"{_document_path(document_id)}metadata/", kind=CallKind.DOCUMENT)
        with expect_shape():
            return str(answer["original_checksum"]).lower()

    async def download_original(self, document_id: int) -> AsyncIterator[bytes]:
        """The bytes as they were uploaded, in pieces."""
        # Without `original` it would be the archive version, which is another file.
        async with self._transport.stream(f"{_document_path(document_id)}download/", {"original": "true"}) as answer:
            async for piece in answer.aiter_bytes():
                yield piece

    async def add_tags(self, document_id: int, tags: Collection[int]) -> None:
        """Put these tags on the document and leave all others. Doing it twice changes nothing."""
        await self._bulk_edit(document_id, "modify_tags", {"add_tags": sorted(tags), "remove_tags": []})

    async def fill_missing_metadata(
        self,
        document_id: int,
        *,
        correspondent: int | None = None,
        document_type: int | None = None,
        custom_fields: Mapping[int, str] | None = None,
    ) -> None:
        """Say what the document does not say already. Doing it twice changes nothing."""
        document = await self.find_document(document_id)
        if document is None:
            raise PaperlessDocumentGone
        references = {"correspondent": correspondent, "document_type": document_type}
        missing = {
            name: value for name, value in references.items() if value is not None and getattr(document, name) is None
        }
        if missing:
            await self._patch(document_id, missing)
        # Not by PATCH, which replaces the whole list: a field that a person fills at the same moment would vanish.
        given = custom_fields or {}
        fields = {str(key): value for key, value in given.items() if document.custom_fields.get(key) in (None, "")}
        if fields:
            parameters = {"add_custom_fields": fields, "remove_custom_fields": []}
            await self._bulk_edit(document_id, "modify_custom_fields", parameters)

    async def _patch(self, document_id: int, values: Mapping[str, int]) -> None:
        try:
            await self._transport.patch(_document_path(document_id), values)
        except RequestRejected as error:
            raise as_stale_object_id(error) or error from None

    async def _bulk_edit(self, document_id: int, method: str, parameters: Mapping[str, Any]) -> None:
        content = {"documents": [document_id], "method": method, "parameters": parameters}
        try:
            await self._transport.post("/api/documents/bulk_edit/", content, kind=CallKind.DOCUMENT)
        except RequestRejected as error:
            if "documents" in error.fields:
                raise PaperlessDocumentGone from None
            kind = PaperlessKind.TAG if method == "modify_tags" else PaperlessKind.CUSTOM_FIELD
            raise StaleObjectId(kind, error.reason) from None

    async def _find(self, filters: Mapping[str, Any]) -> list[PaperlessDocument]:
        params = {**filters, "fields": PaperlessDocument.FIELDS, "page_size": 25}
        found: list[PaperlessDocument] = []
        async for page in self._transport.iter_pages("/api/documents/", params):
            if page["count"] > _MAX_RESULTS:
                raise PaperlessMisconfigured(
                    f"Paperless ignored the filter {', '.join(filters)}. This version is not supported"
                )
            with expect_shape():
                found += [PaperlessDocument.parse(row) for row in page["results"]]
        return sorted(found, key=lambda document: document.id)

    async def _has_checksum(self, document_id: int, wanted: str) -> bool:
        try:
            return await self.get_checksum(document_id) == wanted
        except PaperlessDocumentGone:
            return False


def _document_path(document_id: int) -> str:
    return f"/api/documents/{document_id}/"


MAX_TITLE_CHARACTERS = 127
"""What Paperless keeps of a title at an upload; the rest it cuts off without a word."""


class _UploadCalls(_Connected):
    async def upload(
        self,
        pdf: PdfContent,
        *,
        file_name: str,
        title: str,
        created: date,
        correspondent: int,
        document_type: int,
        tags: Collection[int],
        custom_fields: Mapping[int, str],
    ) -> str:
        """The id of the task that takes the file in. After `OutcomeUnknown` the document may be there or come yet."""
        await self._transport.version()  # an old server would take the file and leave out what is said about it
        fields = {
            "title": title,
            "created": created.isoformat(),  # a date alone: a time would be moved to the server's zone first
            "correspondent": str(correspondent),
            "document_type": str(document_type),
            "tags": [str(tag) for tag in sorted(tags)],
            "custom_fields": json.dumps({str(field): value for field, value in custom_fields.items()}),
        }
        # From bytes or a file, so that the length is known: Paperless finds no file in a chunked body.
        files = {"document": (file_name, pdf, "application/pdf")}
        return await self._post_document(content_size(pdf), fields, files)

    async def _post_document(
        self, size: int, fields: Mapping[str, object], files: Mapping[str, tuple[str, PdfContent, str]]
    ) -> str:
        try:
            answer = await self._transport.upload("/api/documents/post_document/", size=size, data=fields, files=files)
        except RequestRejected as error:
            raise as_stale_object_id(error) or error from None
        with expect_shape():
            return str(UUID(answer))


class _TaskCalls(_Connected):
    reread_after_seconds: float = 1

    async def find_task(self, task_id: str) -> ConsumeTask | None:
        """The task, or nothing if Paperless does not know it: never made, of another user, or its history dropped."""
        task = await self._find_task_once(task_id)
        if task is not None and task.is_incomplete:
            await asyncio.sleep(self.reread_after_seconds)
            task = await self._find_task_once(task_id)
        return task

    async def list_tasks_by_file_name(self, name: str) -> list[ConsumeTask]:
        """Every task for a file of exactly this name, the oldest first. Reads the whole history: be sparing."""
        return sorted((task for task in await self._list_tasks({}) if task.file_name == name), key=lambda task: task.id)

    async def _find_task_once(self, task_id: str) -> ConsumeTask | None:
        if not task_id:
            raise ValueError("Without its id this would be every task")
        return next((task for task in await self._list_tasks({"task_id": task_id}) if task.task_id == task_id), None)

    async def _list_tasks(self, params: dict[str, str]) -> list[ConsumeTask]:
        answer: Any = await self._transport.get("/api/tasks/", params)
        if not isinstance(answer, list):
            raise OutcomeUnknown("Paperless returned an unexpected response")
        with expect_shape():
            return [ConsumeTask.parse(row) for row in answer]


class _TrashCalls(_Connected):
    async def iter_trash(self) -> AsyncIterator[PaperlessDocument]:
        """Every document in the trash that this token may see, a page at a time: each row brings its whole text."""
        async for row in self._transport.iter_rows("/api/trash/", {"page_size": 25}):
            with expect_shape():
                document = PaperlessDocument.parse(row)
            yield document

    async def restore(self, document_id: int) -> None:
        """Take the document out of the trash, under its old id. `Gone` if it does not lie there."""
        content = {"documents": [document_id], "action": "restore"}
        try:
            await self._transport.post("/api/trash/", content, kind=CallKind.DOCUMENT)
        except RequestRejected:
            raise PaperlessDocumentGone("The document is not in the Paperless trash") from None

    async def move_to_trash(self, document_id: int) -> None:
        """Put the document into the trash. What is not there is no error."""
        try:
            answer = await self._transport.call("DELETE", f"/api/documents/{document_id}/", kind=CallKind.DOCUMENT)
        except PaperlessDocumentGone:
            return
        if answer.content:
            raise OutcomeUnknown("Paperless did not confirm the request")


class PaperlessClient(_ObjectCalls, _DocumentCalls, _UploadCalls, _TaskCalls, _TrashCalls):
    """One server, as one of its users. Every call raises only what `errors.py` names, and none repeats itself."""

    def __init__(
        self,
        url: str,
        token: str,
        *,
        access: CloudflareAccess | None = None,
        timeouts: Timeouts | None = None,
        connections: int = 16,
    ) -> None:
        super().__init__(
            PaperlessTransport(url, token, access=access, timeouts=timeouts or Timeouts(), connections=connections)
        )

    async def version(self) -> Version:
        """Which version answers; `PaperlessMisconfigured` for one before 2.19 and for what is no Paperless."""
        return await self._transport.version()

    async def close(self) -> None:
        await self._transport.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()
