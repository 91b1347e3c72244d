"""Titles and custom fields: what people read about a document in Paperless."""

from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

import pytest

from muniment.handover.description import (
    DEFAULT_TITLE,
    DocumentDescription,
    render_title,
    validate_field_names,
    validate_title,
)
from muniment.handover.sidecar import Sidecar
from muniment.settings import Settings
from muniment.settings.sources import SettingsError
from tests.documents.uploads import a_pdf
from tests.handover.archiver.environment import ArchiverEnvironment

TEMPLATE = "{type} {number} — {organization} {date}: {name}"


def a_sidecar(**fields: Any) -> Sidecar:
    given = {
        "organization_id": uuid4(),
        "organization_name": "Firma AS",
        "document_type": "invoice",
        "bilko_document_id": uuid4(),
        "timestamp": datetime(2026, 5, 8, 10, 30, tzinfo=UTC),
        "sha256": "0" * 64,
    }
    return Sidecar(**{**given, **fields})


def title(template: str = TEMPLATE, **fields: Any) -> str:
    return render_title(template, a_sidecar(**fields), type_name="Invoice", max_characters=127)


def test_a_template_adds_number_and_name() -> None:
    described = title(invoice_number="2026-001", document_name="Rent  May.pdf")
    assert described == "Invoice 2026-001 — Firma AS 2026-05-08: Rent May"


def test_what_is_not_known_leaves_nothing_behind() -> None:
    assert title() == "Invoice — Firma AS 2026-05-08"
    assert title("{name}") == "Invoice"
    assert title("{number} {name}", contract_id="C-7") == "C-7"


@pytest.mark.parametrize("template", [DEFAULT_TITLE, TEMPLATE, "{name} {date}"])
def test_a_long_title_is_cut_in_organization_and_name(template: str) -> None:
    long = {"organization_name": "Organization " * 20, "document_name": "Document " * 20 + ".pdf"}
    described = title(template, **long, invoice_number="2026-001")
    assert len(described) <= 127
    assert "2026-05-08" in described
    assert ("2026-001" in described) == ("{number}" in template)


@pytest.mark.parametrize("template", ["{typo}", "{type", "type}", "{type.name}", "{}", " ", "{type!r}"])
def test_an_invalid_template_is_refused_when_the_settings_are_read(
    template: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MUNIMENT_PAPERLESS_TITLE", template)
    with pytest.raises(SettingsError, match="MUNIMENT_PAPERLESS_TITLE"):
        Settings.load()
    with pytest.raises(ValueError, match=r"."):
        validate_title(template)


@pytest.mark.parametrize(
    "names",
    ['{"nonsense": "x"}', '{"sha256": "x"}', '{"document_id": ""}', '{"number": "x", "file_name": "x"}'],
)
def test_invalid_field_names_are_refused_when_the_settings_are_read(
    names: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MUNIMENT_PAPERLESS_CUSTOM_FIELDS", names)
    with pytest.raises(SettingsError, match="MUNIMENT_PAPERLESS_CUSTOM_FIELDS"):
        Settings.load()


def test_the_settings_reach_title_and_fields(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MUNIMENT_PAPERLESS_TITLE", TEMPLATE)
    monkeypatch.setenv("MUNIMENT_PAPERLESS_CUSTOM_FIELDS", '{"number": "Invoice number", "file_name": ""}')
    settings = Settings.load().archiver

    described = DocumentDescription(settings.paperless_title, settings.paperless_custom_fields)

    values = described.field_values("bilko", a_sidecar(invoice_number="7", document_name="name.pdf"))
    assert values.pop("Invoice number") == "7"
    assert values.keys() == {"bilko_document_id", "bilko_organization_id", "bilko_sha256"}
    assert "bilko_file_name" not in described.all_field_names("bilko")
    validate_field_names(settings.paperless_custom_fields)


async def test_name_number_and_id_of_another_applications_document_reach_paperless(
    archiver_env_v3: ArchiverEnvironment,
) -> None:
    document_id = uuid4()
    await archiver_env_v3.office.hand_over(
        a_pdf(), document_id=str(document_id), metadata='{"invoiceNumber": "2026-001"}'
    )

    await archiver_env_v3.run(description=DocumentDescription(TEMPLATE))

    [document] = archiver_env_v3.documents()
    assert document.title.startswith("Invoice 2026-001 — ")
    assert document.title.endswith(": any name")
    assert document.custom_fields["bilko_document_id"] == str(document_id)
    assert document.custom_fields["bilko_number"] == "2026-001"
    assert document.custom_fields["bilko_file_name"] == "any name.pdf"


async def test_the_name_of_our_own_document_reaches_a_field_of_the_operators_choice(
    archiver_env_v3: ArchiverEnvironment,
) -> None:
    office = archiver_env_v3.office
    field = archiver_env_v3.server.create_object("custom_fields", "File", data_type="string")
    document_id = await office.document(a_pdf(), name="Contract with Firma.pdf")
    await office.client.post(f"{office.path(document_id)}/hand-over")

    await archiver_env_v3.run(description=DocumentDescription(field_names={"file_name": "File"}))

    [document] = archiver_env_v3.documents()
    assert document.custom_fields["File"] == "Contract with Firma.pdf"
    assert [thing["id"] for thing in archiver_env_v3.server.objects("custom_fields") if thing["name"] == "File"] == [
        field
    ]
    assert "bilko_file_name" not in document.custom_fields
    assert "bilko_number" not in document.custom_fields


async def test_a_job_that_stays_for_another_document_no_longer_has_the_name_of_a_purged_one(
    archiver_env_v3: ArchiverEnvironment,
) -> None:
    office = archiver_env_v3.office
    first = await office.document(a_pdf(), name="secret name.pdf", status="archived")
    second = await office.document(a_pdf(), name="other name.pdf", status="archived")
    for document_id in (first, second):
        assert (await office.client.post(f"{office.path(document_id)}/hand-over")).status_code == 202
    key = office.key(a_pdf())
    assert (await office.sidecar(key)).document_name == "secret name.pdf"

    purged = await office.client.delete(f"{office.path(first)}/purge", params={"cancel_hand_over": True})

    assert purged.status_code in (200, 202), purged.text
    assert b"secret name" not in await office.queue.get(key.sidecar)
    assert await office.queue.exists(key.pdf)
