"""How far a long reading is, for those who wait. Not each page: every half second at most."""

import time

from sqlalchemy import text

from muniment.processing.context import Context

INTERVAL_SECONDS = 0.5
CHANNEL = "muniment_documents"
"""Where the database tells that a document changed; who may know what is asked of the tables by whoever listens."""


class Progress:
    def __init__(self, context: Context, step: str, total_pages: int) -> None:
        self._context = context
        self._step = step
        self._total_pages = total_pages
        self._told_at = time.monotonic()

    async def note(self, page: int) -> None:
        """Written behind the fence, so that a run that was taken away stops here and not at its end."""
        if time.monotonic() - self._told_at < INTERVAL_SECONDS:
            return
        snapshot = {"page": page, "pages": self._total_pages}
        async with self._context.within(self._step, snapshot) as work:
            document_id = str(self._context.run.document_id)
            await work.session.execute(text("SELECT pg_notify(:channel, :id)"), {"channel": CHANNEL, "id": document_id})
        self._told_at = time.monotonic()
