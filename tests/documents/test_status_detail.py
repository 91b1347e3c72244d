"""The status details of a document during and after processing."""

from datetime import UTC, datetime
from typing import Any

import pytest

from tests.documents.uploads import KB
from tests.support.seed import Seed

AT = datetime(2026, 11, 16, 9, 30, tzinfo=UTC)
READ = {
    "processing_status": "basic_complete",
    "processing_started_at": AT,
    "processing_completed_at": AT,
    "total_pages": 3,
    "total_word_count": 420,
    "text_extraction_method": "text",
}


async def shown(kb: KB, seed: Seed, **columns: Any) -> dict[str, Any]:
    document_id = seed.document(kb.id, kb.owner, **columns)
    answer: dict[str, Any] = (await kb.client.get(f"{kb.path}/{document_id}")).json()
    return answer


@pytest.mark.parametrize(
    ("status", "sentence"),
    [
        ("pending", "Stored and waiting to be processed."),
        ("processing", "Processing."),
        ("failed", "It is encrypted."),
        ("completed", None),
    ],
)
async def test_every_status_has_its_sentence(kb: KB, seed: Seed, status: str, sentence: str | None) -> None:
    error = "It is encrypted." if status == "failed" else None
    assert (await shown(kb, seed, status=status, last_error=error))["status_detail"] == sentence


async def test_a_document_that_was_read_says_what_was_read(kb: KB, seed: Seed) -> None:
    document = await shown(kb, seed, **READ)
    times = {"processing_started_at": "2026-11-16T09:30:00Z", "processing_completed_at": "2026-11-16T09:30:00Z"}
    assert {name: document[name] for name in READ} == READ | times
