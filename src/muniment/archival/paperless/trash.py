"""Into the trash and out of it. Nothing here deletes for good."""

from collections.abc import AsyncIterator

from muniment.archival.paperless.answers import About
from muniment.archival.paperless.connected import Connected
from muniment.archival.paperless.errors import Gone, Rejected, Unclear
from muniment.archival.paperless.values import PaperlessDocument, reading


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
            raise Gone("The document does not lie in Paperless's trash") from None

    async def trash(self, document_id: int) -> None:
        """Put the document into the trash. What is not there is no error."""
        try:
            answer = await self._connection.call("DELETE", f"/api/documents/{document_id}/", about=About.DOCUMENT)
        except Gone:
            return
        if answer.content:
            raise Unclear("Paperless answered something else than that it is done")
