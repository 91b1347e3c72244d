"""A whole pass: what reaches Paperless, what is reported, what stays in the queue."""

import hashlib

from muniment.handover.archiver.pass_context import PassOutcome
from tests.documents.uploads import a_pdf
from tests.handover.archiver.environment import ArchiverEnvironment


async def test_a_job_ends_in_paperless_with_everything_that_is_said_about_it(archiver_env: ArchiverEnvironment) -> None:
    key = await archiver_env.put()

    report = await archiver_env.run()

    assert report.outcome is PassOutcome.DONE
    [document] = archiver_env.documents()
    organization = archiver_env.office.organization_id
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


async def test_what_is_proven_leaves_the_queue_and_its_row_says_where_it_is(archiver_env: ArchiverEnvironment) -> None:
    key = await archiver_env.put()

    await archiver_env.run()

    [document] = archiver_env.documents()
    assert await archiver_env.waiting() == []
    columns = "r2_object_key, archive_status, paperless_doc_id, paperless_doc_url, last_error"
    url = f"{archiver_env.server.url}/documents/{document.id}/"
    assert archiver_env.office.rows(columns) == [(key.pdf, "archived", document.id, url, None)]


async def test_a_second_pass_changes_nothing(archiver_env: ArchiverEnvironment) -> None:
    await archiver_env.put()
    await archiver_env.run()
    archiver_env.server.clear_requests()

    report = await archiver_env.run()

    assert report.actions == {}
    assert [request.name for request in archiver_env.server.requests()] == ["tasks.list"]  # is the token still valid?


async def test_the_same_job_handed_over_again_is_not_uploaded_again(archiver_env: ArchiverEnvironment) -> None:
    await archiver_env.put()
    await archiver_env.run()
    await archiver_env.put()

    await archiver_env.run()

    assert len(archiver_env.documents()) == 1
    assert await archiver_env.waiting() == []


async def test_the_same_bytes_of_two_types_are_one_document_and_both_jobs_end(
    archiver_env: ArchiverEnvironment,
) -> None:
    await archiver_env.put(document_type="invoice")
    await archiver_env.put(document_type="contract")

    await archiver_env.run(concurrency=1)

    assert len(archiver_env.documents()) == 1
    assert await archiver_env.waiting() == []
    assert set(archiver_env.rows().values()) == {"archived"}


async def test_two_organizations_with_the_same_bytes_both_find_it(archiver_env: ArchiverEnvironment) -> None:
    other = archiver_env.another_organization()
    await archiver_env.put()
    await archiver_env.put(organization_id=other)

    await archiver_env.run(concurrency=1)

    documents = archiver_env.documents()
    is_one = archiver_env.server.switches["flavour"] == 2  # which refuses identical bytes
    assert len(documents) == len(archiver_env.server.requests("upload")) == (1 if is_one else 2)
    for organization in (other, archiver_env.office.organization_id):
        assert sum(f"org:{organization}" in document.tags for document in documents) == 1
    assert await archiver_env.waiting() == []
    assert list(archiver_env.rows().values()) == ["archived", "archived"]


async def test_another_type_with_a_long_name_fits_into_the_title(archiver_env_v3: ArchiverEnvironment) -> None:
    await archiver_env_v3.put(document_type="care-plan", organization_name="An organization with a long name " * 9)

    await archiver_env_v3.run()

    [document] = archiver_env_v3.documents()
    assert len(document.title) <= 127
    assert document.title.startswith("Care plan — An organization")
    assert document.title.endswith(" 2026-05-08")
    assert "doc-type:care-plan" in document.tags


async def test_the_ids_of_the_settings_are_used_and_the_others_are_made(archiver_env_v3: ArchiverEnvironment) -> None:
    given = archiver_env_v3.server.create_object("tags", "what we call invoices")
    await archiver_env_v3.put()

    await archiver_env_v3.run(given_tags={"invoice": given})

    [document] = archiver_env_v3.documents()
    assert "what we call invoices" in document.tags
    assert "doc-type:invoice" not in document.tags


async def test_an_object_that_paperless_no_longer_knows_is_created_again(archiver_env_v3: ArchiverEnvironment) -> None:
    await archiver_env_v3.put("first")
    await archiver_env_v3.run()
    for thing in archiver_env_v3.server.objects("tags"):
        archiver_env_v3.server.delete_object("tags", thing["id"])
    await archiver_env_v3.put("second")

    await archiver_env_v3.run()

    document = archiver_env_v3.documents()[-1]
    assert document.sha256 == hashlib.sha256(a_pdf("second")).hexdigest()
    assert f"org:{archiver_env_v3.office.organization_id}" in document.tags
    assert await archiver_env_v3.waiting() == []


async def test_an_object_deleted_while_its_id_is_cached_is_created_again(archiver_env_v3: ArchiverEnvironment) -> None:
    gone = archiver_env_v3.server.create_object("tags", "gone")
    archiver_env_v3.server.delete_object("tags", gone)
    await archiver_env_v3.put()

    await archiver_env_v3.run(given_tags={"invoice": gone})

    [document] = archiver_env_v3.documents()
    assert "doc-type:invoice" in document.tags


async def test_a_document_takes_at_most_six_requests(archiver_env: ArchiverEnvironment) -> None:
    counts = []
    for documents in (1, 2, 5):  # the first pass creates what all documents share
        for number in range(documents):
            await archiver_env.put(f"{documents} {number}")
        archiver_env.server.clear_requests()
        report = await archiver_env.run()
        assert report.actions == {"archived": documents}
        counts.append(len(archiver_env.server.requests()))

    assert (counts[2] - counts[1]) / 3 <= 6, [request.name for request in archiver_env.server.requests()]
