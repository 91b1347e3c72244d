"""Handing one PDF to Paperless, with all that is said about it."""

import json
from collections.abc import Collection, Mapping
from datetime import date
from uuid import UUID

from muniment.archival.paperless.connected import Connected
from muniment.archival.paperless.content import Pdf, size_of
from muniment.archival.paperless.errors import Rejected
from muniment.archival.paperless.references import unknown_id
from muniment.archival.paperless.values import reading

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
