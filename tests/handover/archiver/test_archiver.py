"""A whole pass: what reaches Paperless, what is reported, what stays in the queue."""

import hashlib

from muniment.handover.archiver.pass_context import PassOutcome
from tests.documents.uploads import a_pdf
from tests.handover.archiver.environment import ArchiverEnvironment


async def test_a_job_ends_in_paperless_with_everything_that_is_said_about_it(stage: ArchiverEnvironment) -> None:
    key = await stage.put()

    report = await stage.run()

    assert report.outcome is PassOutcome.DONE
    [document] = stage.documents()
    organization = stage.office.organization_id
    assert document.sha256 == key.sha256
    assert document.title == "Invoice — Firma AS 2026-05-08"
    assert document.created == "2026-05-08"
    assert document.correspondent == f"org-{organization}"
    assert document.document_type == "Invoice"
    assert set(document.tags) == {
        f"org:{organization}",
        "doc-type:invoice",
        "bilko-source",
        f"bilko-source-uuid:{key.sha256}",
    }
    assert document.custom_fields["bilko_organization_id"] == str(organization)
    assert document.custom_fields["bilko_sha256"] == key.sha256


async def test_what_is_proven_leaves_the_queue_and_its_row_says_where_it_is(stage: ArchiverEnvironment) -> None:
    key = await stage.put()

    await stage.run()

    [document] = stage.documents()
    assert await stage.waiting() == []
    columns = "r2_object_key, archive_status, paperless_doc_id, paperless_doc_url, last_error"
    url = f"{stage.server.url}/documents/{document.id}/"
    assert stage.office.rows(columns) == [(key.pdf, "archived", document.id, url, None)]


async def test_a_second_pass_changes_nothing(stage: ArchiverEnvironment) -> None:
    await stage.put()
    await stage.run()
    stage.server.clear_requests()

    report = await stage.run()

    assert report.actions == {}
    assert stage.server.requests() == []


async def test_the_same_job_handed_over_again_is_not_uploaded_again(stage: ArchiverEnvironment) -> None:
    await stage.put()
    await stage.run()
    await stage.put()

    await stage.run()

    assert len(stage.documents()) == 1
    assert await stage.waiting() == []


async def test_the_same_bytes_of_two_types_are_one_document_and_both_jobs_end(stage: ArchiverEnvironment) -> None:
    await stage.put(document_type="invoice")
    await stage.put(document_type="contract")

    await stage.run(concurrency=1)

    assert len(stage.documents()) == 1
    assert await stage.waiting() == []
    assert set(stage.rows().values()) == {"archived"}


async def test_two_organizations_with_the_same_bytes_both_find_it(stage: ArchiverEnvironment) -> None:
    other = stage.another_organization()
    await stage.put()
    await stage.put(organization_id=other)

    await stage.run(concurrency=1)

    documents = stage.documents()
    is_one = stage.server.switches["flavour"] == 2  # which refuses the same bytes
    assert len(documents) == len(stage.server.requests("upload")) == (1 if is_one else 2)
    for organization in (other, stage.office.organization_id):
        assert sum(f"org:{organization}" in document.tags for document in documents) == 1
    assert await stage.waiting() == []
    assert list(stage.rows().values()) == ["archived", "archived"]


async def test_another_type_with_a_long_name_fits_into_the_title(stage3: ArchiverEnvironment) -> None:
    await stage3.put(document_type="care-plan", organization_name="An organization with a long name " * 9)

    await stage3.run()

    [document] = stage3.documents()
    assert len(document.title) <= 127
    assert document.title.startswith("Care plan — An organization")
    assert document.title.endswith(" 2026-05-08")
    assert "doc-type:care-plan" in document.tags


async def test_the_ids_of_the_settings_are_used_and_the_others_are_made(stage3: ArchiverEnvironment) -> None:
    given = stage3.server.create_object("tags", "what we call invoices")
    await stage3.put()

    await stage3.run(given_tags={"invoice": given})

    [document] = stage3.documents()
    assert "what we call invoices" in document.tags
    assert "doc-type:invoice" not in document.tags


async def test_an_id_that_paperless_no_longer_knows_is_made_anew(stage3: ArchiverEnvironment) -> None:
    await stage3.put("first")
    await stage3.run()
    for thing in stage3.server.objects("tags"):
        stage3.server.delete_object("tags", thing["id"])
    await stage3.put("second")

    await stage3.run()

    document = stage3.documents()[-1]
    assert document.sha256 == hashlib.sha256(a_pdf("second")).hexdigest()
    assert f"org:{stage3.office.organization_id}" in document.tags
    assert await stage3.waiting() == []


async def test_an_id_that_vanishes_while_it_is_remembered_is_made_anew(stage3: ArchiverEnvironment) -> None:
    gone = stage3.server.create_object("tags", "gone")
    stage3.server.delete_object("tags", gone)
    await stage3.put()

    await stage3.run(given_tags={"invoice": gone})

    [document] = stage3.documents()
    assert "doc-type:invoice" in document.tags
