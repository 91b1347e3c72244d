import json
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import pytest

from muniment.handover.sidecar import InvalidSidecar, Sidecar, parse_sidecar

VERSION_1: dict[str, Any] = {
    "schemaVersion": "1",
    "r2Uuid": "ab" * 32,
    "organizationId": "550e8400-e29b-41d4-a716-446655440000",
    "organizationName": "Firma Å AS",
    "documentType": "care-plan",
    "bilkoDocumentId": "1f8a4b6e-7a52-4f0e-9e0c-5a6f7b8c9d0e",
    "invoiceNumber": "2024-001",
    "contractId": None,
    "timestamp": "2026-05-08T10:30:00Z",
    "sha256": "ab" * 32,
    "retryCount": 2,
    "lastAttemptAt": "2026-05-08T10:35:00Z",
    "lastError": "503",
}


def a_sidecar(**fields: Any) -> bytes:
    return json.dumps({**VERSION_1, **fields}).encode()


def test_what_another_producer_wrote_is_read_and_written_as_it_was() -> None:
    sidecar = parse_sidecar(a_sidecar())

    assert sidecar.organization_id == UUID(VERSION_1["organizationId"])
    assert sidecar.timestamp == datetime(2026, 5, 8, 10, 30, tzinfo=UTC)
    assert (sidecar.retry_count, sidecar.last_error) == (2, "503")
    assert json.loads(sidecar.to_bytes()) == VERSION_1


def test_a_new_one_has_exactly_the_fields_of_version_1() -> None:
    sidecar = Sidecar(
        UUID(VERSION_1["organizationId"]),
        "Firma Å AS",
        "invoice",
        UUID(VERSION_1["bilkoDocumentId"]),
        datetime(2026, 5, 8, tzinfo=UTC),
        "ab" * 32,
    )

    written = json.loads(sidecar.to_bytes())
    assert set(written) == set(VERSION_1)
    assert written["retryCount"] == 0
    assert written["lastAttemptAt"] is written["lastError"] is written["invoiceNumber"] is None


def test_a_hidden_document_is_written_only_where_there_is_one() -> None:
    sidecar = parse_sidecar(a_sidecar(paperlessDocumentId=7))

    assert sidecar.paperless_document_id == 7
    assert json.loads(sidecar.to_bytes())["paperlessDocumentId"] == 7
    for wrong in ("7", 7.5, True, -1):
        with pytest.raises(InvalidSidecar):
            parse_sidecar(a_sidecar(paperlessDocumentId=wrong))


def test_unknown_fields_are_kept_and_our_own_are_written_where_they_are_set() -> None:
    sidecar = replace(parse_sidecar(a_sidecar(theirs={"a": [1]}, attemptId="x")), task_id="t")

    written = json.loads(sidecar.to_bytes())
    assert written["theirs"] == {"a": [1]}
    assert (written["attemptId"], written["taskId"]) == ("x", "t")
    assert "uploadedAt" not in written
    assert "cancelledAt" not in written
    assert parse_sidecar(sidecar.to_bytes()) == sidecar


def test_it_names_the_job_that_it_belongs_to() -> None:
    assert parse_sidecar(a_sidecar()).key.sidecar.endswith(f"/care-plan/{'ab' * 32}.meta.json")


@pytest.mark.parametrize(
    ("broken", "why"),
    [
        (b"", "JSON"),
        (b"{", "JSON"),
        (b"[]", "object"),
        (b"\xff", "JSON"),
        (b"[" * 60_000, "JSON"),
        (b" " * 70_000, "longer"),
        (a_sidecar(schemaVersion="2"), "schemaVersion"),
        (a_sidecar(schemaVersion=1), "schemaVersion"),
        (a_sidecar(organizationId="x"), "organizationId"),
        (a_sidecar(organizationId=None), "organizationId"),
        (a_sidecar(bilkoDocumentId=7), "bilkoDocumentId"),
        (a_sidecar(sha256="AB" * 32), "sha256"),
        (a_sidecar(sha256="cd" * 32), "r2Uuid"),
        (a_sidecar(documentType="../x"), "documentType"),
        (a_sidecar(organizationName=None), "organizationName"),
        (a_sidecar(organizationName="a\0b"), "organizationName"),
        (a_sidecar(organizationName="\ud800"), "organizationName"),
        (a_sidecar(timestamp="2026-05-08T10:30:00"), "timestamp"),
        (a_sidecar(timestamp="yesterday"), "timestamp"),
        (a_sidecar(timestamp="0001-01-01T00:00:00+23:59"), "timestamp"),
        (a_sidecar(timestamp=None), "timestamp"),
        (a_sidecar(retryCount=-1), "retryCount"),
        (a_sidecar(retryCount=True), "retryCount"),
        (a_sidecar(retryCount="1"), "retryCount"),
        (a_sidecar(retryCount=2**31), "retryCount"),
        (a_sidecar(invoiceNumber=7), "invoiceNumber"),
    ],
)
def test_anything_else_is_refused_with_the_name_of_what_is_wrong(broken: bytes, why: str) -> None:
    with pytest.raises(InvalidSidecar, match=why):
        parse_sidecar(broken)
