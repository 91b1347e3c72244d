"""Finding documents, reading them, and adding to what is said about them."""

import asyncio
from collections.abc import AsyncIterator, Collection, Mapping
from typing import Any

from muniment.archival.paperless.answers import About
from muniment.archival.paperless.connected import Connected
from muniment.archival.paperless.content import Pdf, checksum
from muniment.archival.paperless.errors import Gone, LineStopped, Rejected, UnknownId
from muniment.archival.paperless.kinds import Kind
from muniment.archival.paperless.references import unknown_id
from muniment.archival.paperless.values import PaperlessDocument, reading

_MOST_FOUND = 100
"""More than this is no answer of ours: Paperless leaves out filters that it does not know, and lists everything."""


class Documents(Connected):
    async def find_tagged(self, tag_ids: Collection[int]) -> list[PaperlessDocument]:
        """The documents outside the trash that carry all of these tags, the oldest first."""
        if not tag_ids:
            raise ValueError("Without tags this would be every document")
        found = await self._find({"tags__id__all": ",".join(map(str, sorted(tag_ids)))})
        if not all(document.tags.issuperset(tag_ids) for document in found):
            raise LineStopped("Paperless left out our filter by tags; this version is not known")
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
                raise LineStopped(f"Paperless left out our filter {', '.join(by)}; this version is not known")
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
