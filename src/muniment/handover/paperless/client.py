"""Client for Paperless-ngx 2.19 or newer and 3.x."""

import asyncio
import json
from collections.abc import AsyncIterator, Collection, Mapping
from datetime import date
from typing import Any, Self
from uuid import UUID

from muniment.handover.paperless.errors import Gone, Kind, LineStopped, Rejected, Unclear, UnknownId
from muniment.handover.paperless.models import PaperlessDocument, Pdf, Task, Version, checksum, reading, size_of
from muniment.handover.paperless.responses import About, unknown_id
from muniment.handover.paperless.transport import CloudflareAccess, Connection, Timeouts


class Connected:
    def __init__(self, connection: Connection) -> None:
        self._connection = connection


_TEXT_FIELDS = ("string", "longtext")


_NO_MATCHING = {"matching_algorithm": 0, "match": "", "is_insensitive": False}


class Objects(Connected):
    async def find(self, kind: Kind, name: str) -> int | None:
        """The id of what bears exactly this name. Of several (their owners differ) the lowest that we may change."""
        rows = self._connection.rows(f"/api/{kind}/", {"name__iexact": name, "page_size": 100})
        with reading():
            # Whether the filter was understood is seen on the rows; the filter itself does not mind the case.
            named = [row async for row in rows if row["name"] == name]
            if not named:
                return None
            found = min(named, key=lambda row: (not row.get("user_can_change", True), int(row["id"])))
        if kind is Kind.CUSTOM_FIELD and found.get("data_type") not in _TEXT_FIELDS:
            raise LineStopped(f"The Paperless custom field {name} is not a text field")
        return int(found["id"])

    async def find_or_make(self, kind: Kind, name: str) -> int:
        """The id of what bears this name, made with matching off if there is none. Doing it twice changes nothing."""
        if (found := await self.find(kind, name)) is not None:
            return found
        try:
            return await self._make(kind, name)
        except (Rejected, Unclear) as error:
            # Somebody was faster, or it was made in spite of the error (Paperless without its Redis does so).
            if (found := await self.find(kind, name)) is not None:
                return found
            if isinstance(error, Unclear):
                raise
            raise LineStopped(f"Paperless could not create {name}: {error.reason}") from None

    async def _make(self, kind: Kind, name: str) -> int:
        answer = await self._connection.post(f"/api/{kind}/", _new(kind, name), about=About.MAKE)
        with reading():
            return int(answer["id"])


def _new(kind: Kind, name: str) -> Mapping[str, Any]:
    return {"name": name, **({"data_type": "string"} if kind is Kind.CUSTOM_FIELD else _NO_MATCHING)}


_MOST_FOUND = 100
"""More than this is no answer of ours: Paperless leaves out filters that it does not know, and lists everything."""


class Documents(Connected):
    async def find_tagged(self, tag_ids: Collection[int]) -> list[PaperlessDocument]:
        """The documents outside the trash that carry all of these tags, the oldest first."""
        if not tag_ids:
            raise ValueError("Without tags this would be every document")
        found = await self._find({"tags__id__all": ",".join(map(str, sorted(tag_ids)))})
        if not all(document.tags.issuperset(tag_ids) for document in found):
            raise LineStopped("Paperless ignored the tag filter. This version is not supported")
        return found

    async def find_by_checksum(self, content: Pdf) -> list[PaperlessDocument]:
        """The documents outside the trash whose original has these bytes, by Paperless's own checksum, oldest first.

        That is an MD5 before version 3: enough to find, not to prove.
        """
        algorithm = "sha256" if (await self._connection.version()).has_sha256 else "md5"
        wanted = await asyncio.to_thread(checksum, content, algorithm)
        found = await self._find({"checksum__iexact": wanted})
        return [document for document in found if await self._has_checksum(document.id, wanted)]

    async def find_by_file_name(self, name: str) -> list[PaperlessDocument]:
        """The documents outside the trash that were uploaded under exactly this name, the oldest first."""
        if not name:
            raise ValueError("Without a name this would be every document")
        found = await self._find({"original_filename__iexact": name})
        return [document for document in found if document.original_file_name == name]

    async def document(self, document_id: int) -> PaperlessDocument | None:
        """The document, or nothing if it is not there, in the trash, or not for this token."""
        try:
            row = await self._connection.get(
                _of(document_id), {"fields": PaperlessDocument.FIELDS}, about=About.DOCUMENT
            )
        except Gone:
            return None
        with reading():
            return PaperlessDocument.read(row)

    async def checksum(self, document_id: int) -> str:
        """What Paperless keeps as the checksum of the original, in hex: SHA-256 from version 3 on, before it MD5."""
        answer = await self._connection.get(f"{_of(document_id)}metadata/", about=About.DOCUMENT)
        with reading():
            return str(answer["original_checksum"]).lower()

    async def original(self, document_id: int) -> AsyncIterator[bytes]:
        """The bytes as they were uploaded, in pieces."""
        # Without `original` it would be the archive version, which is another file.
        async with self._connection.stream(f"{_of(document_id)}download/", {"original": "true"}) as answer:
            async for piece in answer.aiter_bytes():
                yield piece

    async def add_tags(self, document_id: int, tags: Collection[int]) -> None:
        """Put these tags on the document and leave all others. Doing it twice changes nothing."""
        await self._edit(document_id, "modify_tags", {"add_tags": sorted(tags), "remove_tags": []})

    async def set_where_empty(
        self,
        document_id: int,
        *,
        correspondent: int | None = None,
        document_type: int | None = None,
        custom_fields: Mapping[int, str] | None = None,
    ) -> None:
        """Say what the document does not say already. Doing it twice changes nothing."""
        document = await self.document(document_id)
        if document is None:
            raise Gone
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
            await self._edit(document_id, "modify_custom_fields", parameters)

    async def _patch(self, document_id: int, values: Mapping[str, int]) -> None:
        try:
            await self._connection.patch(_of(document_id), values)
        except Rejected as error:
            raise unknown_id(error) or error from None

    async def _edit(self, document_id: int, method: str, parameters: Mapping[str, Any]) -> None:
        content = {"documents": [document_id], "method": method, "parameters": parameters}
        try:
            await self._connection.post("/api/documents/bulk_edit/", content, about=About.DOCUMENT)
        except Rejected as error:
            if "documents" in error.fields:
                raise Gone from None
            kind = Kind.TAG if method == "modify_tags" else Kind.CUSTOM_FIELD
            raise UnknownId(kind, error.reason) from None

    async def _find(self, by: Mapping[str, Any]) -> list[PaperlessDocument]:
        params = {**by, "fields": PaperlessDocument.FIELDS, "page_size": 25}
        found: list[PaperlessDocument] = []
        async for page in self._connection.pages("/api/documents/", params):
            if page["count"] > _MOST_FOUND:
                raise LineStopped(f"Paperless ignored the filter {', '.join(by)}. This version is not supported")
            with reading():
                found += [PaperlessDocument.read(row) for row in page["results"]]
        return sorted(found, key=lambda document: document.id)

    async def _has_checksum(self, document_id: int, wanted: str) -> bool:
        try:
            return await self.checksum(document_id) == wanted
        except Gone:
            return False


def _of(document_id: int) -> str:
    return f"/api/documents/{document_id}/"


TITLE_CHARACTERS = 127
"""What Paperless keeps of a title at an upload; the rest it cuts off without a word."""


class Uploads(Connected):
    async def upload(
        self,
        pdf: Pdf,
        *,
        file_name: str,
        title: str,
        created: date,
        correspondent: int,
        document_type: int,
        tags: Collection[int],
        custom_fields: Mapping[int, str],
    ) -> str:
        """The id of the task that takes the file in. After `Unclear` the document may be there or come yet."""
        await self._connection.version()  # an old server would take the file and leave out what is said about it
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
        return await self._send(size_of(pdf), fields, files)

    async def _send(self, size: int, fields: Mapping[str, object], files: Mapping[str, tuple[str, Pdf, str]]) -> str:
        try:
            answer = await self._connection.upload("/api/documents/post_document/", size=size, data=fields, files=files)
        except Rejected as error:
            raise unknown_id(error) or error from None
        with reading():
            return str(UUID(answer))


class Tasks(Connected):
    reread_after_seconds: float = 1

    async def task(self, task_id: str) -> Task | None:
        """The task, or nothing if Paperless does not know it: never made, of another user, or its history dropped."""
        task = await self._task(task_id)
        if task is not None and task.is_half_written:
            await asyncio.sleep(self.reread_after_seconds)
            task = await self._task(task_id)
        return task

    async def tasks_of_file(self, name: str) -> list[Task]:
        """Every task for a file of exactly this name, the oldest first. Reads the whole history: be sparing."""
        return sorted((task for task in await self._tasks({}) if task.file_name == name), key=lambda task: task.id)

    async def _task(self, task_id: str) -> Task | None:
        if not task_id:
            raise ValueError("Without its id this would be every task")
        return next((task for task in await self._tasks({"task_id": task_id}) if task.task_id == task_id), None)

    async def _tasks(self, params: dict[str, str]) -> list[Task]:
        answer: Any = await self._connection.get("/api/tasks/", params)
        if not isinstance(answer, list):
            raise Unclear("Paperless returned an unexpected response")
        with reading():
            return [Task.read(row) for row in answer]


class Trash(Connected):
    async def trashed(self) -> AsyncIterator[PaperlessDocument]:
        """Every document in the trash that this token may see, a page at a time: each row brings its whole text."""
        async for row in self._connection.rows("/api/trash/", {"page_size": 25}):
            with reading():
                document = PaperlessDocument.read(row)
            yield document

    async def restore(self, document_id: int) -> None:
        """Take the document out of the trash, under its old id. `Gone` if it does not lie there."""
        content = {"documents": [document_id], "action": "restore"}
        try:
            await self._connection.post("/api/trash/", content, about=About.DOCUMENT)
        except Rejected:
            raise Gone("The document is not in the Paperless trash") from None

    async def trash(self, document_id: int) -> None:
        """Put the document into the trash. What is not there is no error."""
        try:
            answer = await self._connection.call("DELETE", f"/api/documents/{document_id}/", about=About.DOCUMENT)
        except Gone:
            return
        if answer.content:
            raise Unclear("Paperless did not confirm the request")


class Paperless(Objects, Documents, Uploads, Tasks, Trash):
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
            Connection(url, token, access=access, timeouts=timeouts or Timeouts(), connections=connections)
        )

    async def version(self) -> Version:
        """Which version answers; `LineStopped` for one before 2.19 and for what is no Paperless."""
        return await self._connection.version()

    async def close(self) -> None:
        await self._connection.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()
