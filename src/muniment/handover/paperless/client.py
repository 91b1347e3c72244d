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
    PaperlessForbidden,
    PaperlessKind,
    PaperlessMisconfigured,
    RequestRejected,
    StaleObjectId,
)
from muniment.handover.paperless.models import (
    ConsumeTask,
    CreatedObject,
    PaperlessDocument,
    PdfContent,
    Version,
    compute_checksum,
    content_size,
    expect_shape,
)
from muniment.handover.paperless.responses import CallKind, as_stale_object_id
from muniment.handover.paperless.transport import CloudflareAccess, PaperlessTransport, Timeouts

_TEXT_FIELD_TYPES = ("string", "longtext")
_NO_MATCHING = {"matching_algorithm": 0, "match": "", "is_insensitive": False}
_IMPORT_TASK = "consume_file"
"""Name of the tasks that import a file. A server has others, and those of commands run without its queue."""
_MAX_RESULTS = 100
"""Limit of a filtered list. Paperless ignores filters that it does not know and lists everything."""
MAX_TITLE_CHARACTERS = 127
"""Length of a title that Paperless keeps in an upload. It cuts off the rest without an error."""


class PaperlessClient:
    """Client of one server, as one of its users. Calls raise only errors of `errors.py` and are never retried here."""

    reread_after_seconds: float = 1
    """Delay before a task that failed a moment ago is read again: Paperless writes the reason a little later."""

    def __init__(
        self,
        url: str,
        token: str,
        *,
        access: CloudflareAccess | None = None,
        timeouts: Timeouts | None = None,
        connections: int = 16,
    ) -> None:
        self._transport = PaperlessTransport(
            url, token, access=access, timeouts=timeouts or Timeouts(), connections=connections
        )

    async def version(self) -> Version:
        """Return the version of the server. Raise `PaperlessMisconfigured` before 2.19 and if it is not Paperless."""
        return await self._transport.version()

    async def check_access(self) -> Version:
        """Verify address, version, token and the permission to follow tasks, and return the version.

        Raise `PaperlessMisconfigured` with what is wrong. Without that permission, uploads could not be confirmed.
        """
        try:
            await self._list_tasks({"task_id": str(UUID(int=0))})
        except PaperlessForbidden:
            await self._find({"id": 0})  # raises the same error if everything is denied
            raise PaperlessMisconfigured(
                "The archiver's user in Paperless lacks the permission view_paperlesstask"
            ) from None
        return await self._transport.version()

    async def close(self) -> None:
        await self._transport.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    # Tags, correspondents, document types and custom fields

    async def find_id(self, kind: PaperlessKind, name: str) -> int | None:
        """Return the id of the object with exactly this name. Of several (with different owners), prefer one that we
        may change, then the lowest id."""
        rows = self._transport.iter_rows(f"/api/{kind}/", {"name__iexact": name, "page_size": 100})
        with expect_shape():
            # The filter ignores case, and a server that does not know it returns every row.
            named = [row async for row in rows if row["name"] == name]
            if not named:
                return None
            found = min(named, key=lambda row: (not row.get("user_can_change", True), int(row["id"])))
        if kind is PaperlessKind.CUSTOM_FIELD and found.get("data_type") not in _TEXT_FIELD_TYPES:
            raise PaperlessMisconfigured(f"The Paperless custom field {name} is not a text field")
        return int(found["id"])

    async def get_or_create(self, kind: PaperlessKind, name: str) -> int:
        """Return the id of the object with this name. Create it, with matching disabled, if it is missing."""
        if (found := await self.find_id(kind, name)) is not None:
            return found
        return (await self.create_or_find(kind, name)).id

    async def create_or_find(self, kind: PaperlessKind, name: str) -> CreatedObject:
        """Create the object, with matching disabled, or return the one that exists. One request less than
        `get_or_create` for a name that is probably new."""
        try:
            return CreatedObject(await self._create(kind, name), is_new=True)
        except (RequestRejected, OutcomeUnknown) as error:
            # Another client was faster, or it was created despite the error (as Paperless does without its Redis).
            if (found := await self.find_id(kind, name)) is not None:
                return CreatedObject(found, is_new=False)
            if isinstance(error, OutcomeUnknown):
                raise
            raise PaperlessMisconfigured(f"Paperless could not create {name}: {error.reason}") from None

    async def _create(self, kind: PaperlessKind, name: str) -> int:
        response = await self._transport.post(f"/api/{kind}/", _creation_body(kind, name), kind=CallKind.CREATE)
        with expect_shape():
            return int(response["id"])

    # Documents

    async def find_tagged(self, tag_ids: Collection[int]) -> list[PaperlessDocument]:
        """Return the documents outside the trash that have all of these tags, oldest first."""
        if not tag_ids:
            raise ValueError("Without tags this would match every document")
        found = await self._find({"tags__id__all": ",".join(map(str, sorted(tag_ids)))})
        if not all(document.tags.issuperset(tag_ids) for document in found):
            raise PaperlessMisconfigured("Paperless ignored the tag filter. This version is not supported")
        return found

    async def find_by_checksum(self, content: PdfContent) -> list[PaperlessDocument]:
        """Return the documents outside the trash with this content, by Paperless's own checksum, oldest first.

        Before version 3 that is an MD5: good enough to find candidates, not to verify them.
        """
        algorithm = "sha256" if (await self._transport.version()).has_sha256 else "md5"
        checksum = await asyncio.to_thread(compute_checksum, content, algorithm)
        found = await self._find({"checksum__iexact": checksum})
        return [document for document in found if await self._has_checksum(document.id, checksum)]

    async def find_by_file_name(self, name: str) -> list[PaperlessDocument]:
        """Return the documents outside the trash that were uploaded under exactly this file name, oldest first."""
        if not name:
            raise ValueError("Without a name this would match every document")
        found = await self._find({"original_filename__iexact": name})
        return [document for document in found if document.original_file_name == name]

    async def find_document(self, document_id: int) -> PaperlessDocument | None:
        """Return the document, or `None` if it does not exist, is in the trash or is not visible to this token."""
        try:
            row = await self._transport.get(
                _document_path(document_id), {"fields": PaperlessDocument.FIELDS}, kind=CallKind.DOCUMENT
            )
        except PaperlessDocumentGone:
            return None
        with expect_shape():
            return PaperlessDocument.parse(row)

    async def get_checksum(self, document_id: int) -> str:
        """Return the stored checksum of the original in hexadecimal: SHA-256 since version 3, MD5 before."""
        response = await self._transport.get(f"{_document_path(document_id)}metadata/", kind=CallKind.DOCUMENT)
        with expect_shape():
            return str(response["original_checksum"]).lower()

    async def download_original(self, document_id: int) -> AsyncIterator[bytes]:
        """Yield the file as it was uploaded, in chunks."""
        # Without `original`, Paperless returns its archive version, which is a different file.
        async with self._transport.stream(f"{_document_path(document_id)}download/", {"original": "true"}) as response:
            async for chunk in response.aiter_bytes():
                yield chunk

    async def add_tags(self, document_id: int, tags: Collection[int]) -> None:
        """Add these tags to the document and keep all others. Idempotent."""
        await self._bulk_edit(document_id, "modify_tags", {"add_tags": sorted(tags), "remove_tags": []})

    async def fill_missing_metadata(
        self,
        document_id: int,
        *,
        correspondent: int | None = None,
        document_type: int | None = None,
        custom_fields: Mapping[int, str] | None = None,
    ) -> None:
        """Set the given values where the document has none. Idempotent."""
        document = await self.find_document(document_id)
        if document is None:
            raise PaperlessDocumentGone
        references = {"correspondent": correspondent, "document_type": document_type}
        missing = {
            name: value for name, value in references.items() if value is not None and getattr(document, name) is None
        }
        if missing:
            await self._patch(document_id, missing)
        # Not by PATCH, which replaces the whole list and would lose a field that a user fills in at the same moment.
        fields = {
            str(key): value
            for key, value in (custom_fields or {}).items()
            if document.custom_fields.get(key) in (None, "")
        }
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

    async def _has_checksum(self, document_id: int, checksum: str) -> bool:
        try:
            return await self.get_checksum(document_id) == checksum
        except PaperlessDocumentGone:
            return False

    # Uploads and their tasks

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
        """Upload a PDF and return the id of its task. After `OutcomeUnknown` the document may exist or appear later."""
        await self._transport.version()  # an old server would accept the file and ignore its metadata
        fields = {
            "title": title,
            "created": created.isoformat(),  # without a time, which Paperless would convert to its own time zone
            "correspondent": str(correspondent),
            "document_type": str(document_type),
            "tags": [str(tag) for tag in sorted(tags)],
            "custom_fields": json.dumps({str(field): value for field, value in custom_fields.items()}),
        }
        # From bytes or a file, so that the length is known: Paperless does not find a file in a chunked body.
        files = {"document": (file_name, pdf, "application/pdf")}
        return await self._post_document(content_size(pdf), fields, files)

    async def _post_document(
        self, size: int, fields: Mapping[str, object], files: Mapping[str, tuple[str, PdfContent, str]]
    ) -> str:
        try:
            response = await self._transport.upload(
                "/api/documents/post_document/", size=size, data=fields, files=files
            )
        except RequestRejected as error:
            raise as_stale_object_id(error) or error from None
        with expect_shape():
            return str(UUID(response))

    async def find_task(self, task_id: str) -> ConsumeTask | None:
        """Return the task, or `None` if Paperless has no such task (any more) or it belongs to another user."""
        task = await self._find_task_once(task_id)
        if task is not None and task.is_incomplete:
            await asyncio.sleep(self.reread_after_seconds)
            task = await self._find_task_once(task_id)
        return task

    async def list_tasks(self) -> list[ConsumeTask]:
        """Return all import tasks, oldest first. Expensive: reads the whole task history."""
        return sorted(await self._list_tasks({}), key=lambda task: task.id)

    async def list_tasks_by_file_name(self, name: str) -> list[ConsumeTask]:
        """Return all tasks for files of exactly this name, oldest first. As expensive as `list_tasks`."""
        return [task for task in await self.list_tasks() if task.file_name == name]

    async def _find_task_once(self, task_id: str) -> ConsumeTask | None:
        if not task_id:
            raise ValueError("Without an id this would match every task")
        return next((task for task in await self._list_tasks({"task_id": task_id}) if task.task_id == task_id), None)

    async def _list_tasks(self, params: dict[str, str]) -> list[ConsumeTask]:
        response: Any = await self._transport.get("/api/tasks/", params)
        if not isinstance(response, list):
            raise OutcomeUnknown("Paperless returned an unexpected response")
        with expect_shape():
            return [ConsumeTask.parse(row) for row in response if row["task_name"] == _IMPORT_TASK]

    # Trash

    async def iter_trash(self) -> AsyncIterator[PaperlessDocument]:
        """Yield all documents in the trash that this token may see, in small pages: each row has the full text."""
        async for row in self._transport.iter_rows("/api/trash/", {"page_size": 25}):
            with expect_shape():
                document = PaperlessDocument.parse(row)
            yield document

    async def restore(self, document_id: int) -> None:
        """Restore the document from the trash under its old id. Raise `PaperlessDocumentGone` if it is not there."""
        content = {"documents": [document_id], "action": "restore"}
        try:
            await self._transport.post("/api/trash/", content, kind=CallKind.DOCUMENT)
        except RequestRejected:
            raise PaperlessDocumentGone("The document is not in the Paperless trash") from None

    async def move_to_trash(self, document_id: int) -> None:
        """Move the document to the trash. A missing document is not an error."""
        try:
            response = await self._transport.call("DELETE", f"/api/documents/{document_id}/", kind=CallKind.DOCUMENT)
        except PaperlessDocumentGone:
            return
        if response.content:
            raise OutcomeUnknown("Paperless did not confirm the request")


def _creation_body(kind: PaperlessKind, name: str) -> Mapping[str, Any]:
    return {"name": name, **({"data_type": "string"} if kind is PaperlessKind.CUSTOM_FIELD else _NO_MATCHING)}


def _document_path(document_id: int) -> str:
    return f"/api/documents/{document_id}/"
