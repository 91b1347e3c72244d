"""Uploads with readable defaults."""

import asyncio
import io
import time
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any, Self
from uuid import uuid4

from reportlab.pdfgen.canvas import Canvas

from muniment.handover.paperless.client import PaperlessClient
from muniment.handover.paperless.errors import PaperlessKind
from muniment.handover.paperless.models import ConsumeTask, PaperlessDocument


def a_pdf(text: str | None = None) -> bytes:
    """Return a unique PDF of one page, with enough text that no server starts OCR."""
    file = io.BytesIO()
    page = Canvas(file)
    page.drawString(72, 720, text or f"The contents of this page were written for one test alone: {uuid4()}")
    page.drawString(72, 700, "It has a second line, so that there is a little more to be read on it.")
    page.save()
    return file.getvalue()


def a_name(of: str = "thing") -> str:
    return f"{of}:{uuid4()}"


@dataclass
class UploadTarget:
    """Tags, correspondent, type and field of the documents that a test uploads."""

    paperless: PaperlessClient
    organization: int
    source: int
    correspondent: int
    document_type: int
    field: int

    @classmethod
    async def create(cls, paperless: PaperlessClient) -> Self:
        return cls(
            paperless,
            await paperless.get_or_create(PaperlessKind.TAG, a_name("org")),
            await paperless.get_or_create(PaperlessKind.TAG, a_name("source")),
            await paperless.get_or_create(PaperlessKind.CORRESPONDENT, a_name("org")),
            await paperless.get_or_create(PaperlessKind.DOCUMENT_TYPE, a_name("Invoice")),
            await paperless.get_or_create(PaperlessKind.CUSTOM_FIELD, a_name("sha256")),
        )

    @property
    def tags(self) -> list[int]:
        return [self.organization, self.source]

    async def send(self, pdf: Any = None, **changes: Any) -> str:
        """Upload a PDF with all metadata, and return the id of its task."""
        metadata = {
            "file_name": f"{uuid4()}.pdf",
            "title": "Invoice — Firma AS 2026-05-08",
            "created": date(2026, 5, 8),
            "correspondent": self.correspondent,
            "document_type": self.document_type,
            "tags": self.tags,
            "custom_fields": {self.field: "a value"},
        }
        return await self.paperless.upload(pdf if pdf is not None else a_pdf(), **{**metadata, **changes})

    async def put(self, pdf: Any = None, **changes: Any) -> PaperlessDocument:
        """Upload a PDF and wait for its document."""
        task = await wait_for_task(self.paperless, await self.send(pdf, **changes))
        assert task.document_id is not None, task
        document = await self.paperless.find_document(task.document_id)
        assert document is not None
        return document

    async def raw_fields(self, document_id: int) -> Mapping[str, Any]:
        """Return the document as Paperless describes it, with fields that the client does not need."""
        fields: Mapping[str, Any] = await self.paperless._transport.get(f"/api/documents/{document_id}/")
        return fields


async def wait_for_task(paperless: PaperlessClient, task_id: str) -> ConsumeTask:
    """Wait until the task is done. A real server takes its time."""
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline:
        task = await paperless.find_task(task_id)
        if task is not None and task.is_done:
            return task
        await asyncio.sleep(0.2)
    raise AssertionError("The task does not end")
