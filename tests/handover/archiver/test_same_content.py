"""The same bytes as several document types: one document in Paperless with the tags of all, whatever the order."""

import pytest

from muniment.handover.job_key import JobKey
from tests.documents.uploads import a_pdf
from tests.handover.archiver.environment import ArchiverEnvironment, open_archiver

TYPES = ("invoice", "contract", "care-plan")


async def put_all(archiver_env: ArchiverEnvironment, *types: str) -> list[JobKey]:
    return [await archiver_env.put(document_type=document_type) for document_type in types or TYPES]


def check_one_document(archiver_env: ArchiverEnvironment, *types: str) -> int:
    """Return the id of the only document, which has the tags of all types."""
    [document] = archiver_env.documents()
    assert {f"doc-type:{document_type}" for document_type in types or TYPES} <= set(document.tags)
    assert archiver_env.server.documents(is_trashed=True) == []
    assert set(archiver_env.rows().values()) == {"archived"}
    return document.id


async def test_three_types_in_one_pass_are_one_upload_with_three_type_tags(archiver_env: ArchiverEnvironment) -> None:
    await put_all(archiver_env)

    await archiver_env.run()

    document_id = check_one_document(archiver_env)
    assert archiver_env.office.rows("paperless_doc_id") == [document_id] * 3
    assert len(archiver_env.server.requests("upload")) == 1
    assert await archiver_env.waiting() == []


async def test_another_type_in_a_later_pass_adds_its_tag_to_the_document(archiver_env: ArchiverEnvironment) -> None:
    for document_type in TYPES:
        await archiver_env.put(document_type=document_type)
        await archiver_env.run()

    check_one_document(archiver_env)


async def test_another_type_waits_while_paperless_has_not_processed_the_upload(
    archiver_env: ArchiverEnvironment,
) -> None:
    await put_all(archiver_env, "invoice", "contract")
    archiver_env.server.set(worker="stopped")

    reports = [await archiver_env.run() for _ in range(2)]
    archiver_env.server.set(worker="running")
    last = await archiver_env.run()

    assert [report.actions for report in reports] == [{"left": 2}, {"left": 2}]
    assert last.actions == {"archived": 2}
    assert len(archiver_env.server.requests("upload")) == 1
    check_one_document(archiver_env, "invoice", "contract")


async def test_a_type_beyond_the_limit_of_a_pass_is_not_uploaded_beside_the_first(
    archiver_env_v3: ArchiverEnvironment,
) -> None:
    first = await archiver_env_v3.put(document_type="invoice")
    archiver_env_v3.server.set(worker="stopped")
    await archiver_env_v3.run()
    await archiver_env_v3.put(document_type="contract")
    await archiver_env_v3.write(first.pdf, a_pdf())  # submitted again, so that it is now the younger one

    await archiver_env_v3.run(batch_size=1)

    assert len(archiver_env_v3.server.requests("upload")) == 1


async def test_one_type_that_fails_before_its_upload_does_not_keep_the_other_waiting(
    archiver_env_v3: ArchiverEnvironment,
) -> None:
    first = await archiver_env_v3.put(document_type="invoice")
    await archiver_env_v3.write(first.pdf, a_pdf("damaged"))
    await archiver_env_v3.put(document_type="contract")

    report = await archiver_env_v3.run()

    assert report.actions == {"dead_letter": 1, "archived": 1}


async def two_copies(archiver_env: ArchiverEnvironment, *, confirm: str) -> tuple[int, int]:
    """Two live documents of ours, of which the records name the lower, the higher or both."""
    key = await archiver_env.put()
    await archiver_env.run()
    [first] = archiver_env.documents()
    tags = {thing["name"]: thing["id"] for thing in archiver_env.server.objects("tags")}
    second = archiver_env.server.put_document(
        a_pdf(), file_name=first.file_name, tags=[tags[name] for name in first.tags]
    )
    if confirm != "lower":
        archiver_env.office.seed.execute("UPDATE archive_audit_log SET paperless_doc_id = %s", second)
    if confirm == "both":
        contract = key.pdf.replace("invoice", "contract")
        said = {"paperless_doc_id": first.id, "paperless_doc_url": "https://p/documents/1/"}
        await archiver_env.office.patch(archiver_env.office.kb_id, contract, "archived", **said)
    return first.id, second


@pytest.mark.parametrize(("confirm", "kept"), [("lower", {0}), ("higher", {1}), ("both", {0, 1})])
async def test_a_confirmed_document_is_never_moved_to_the_trash(
    archiver_env_v3: ArchiverEnvironment, confirm: str, kept: set[int]
) -> None:
    copies = await two_copies(archiver_env_v3, confirm=confirm)
    await archiver_env_v3.put(document_type="onboarding")

    await archiver_env_v3.run()

    assert [document.id for document in archiver_env_v3.documents()] == [copies[index] for index in sorted(kept)]
    assert await archiver_env_v3.waiting() == []


async def test_the_proof_includes_the_tag_of_the_type(archiver_env_v3: ArchiverEnvironment) -> None:
    key = await archiver_env_v3.put()
    async with open_archiver(archiver_env_v3.archiver()) as archiver:
        ids = await archiver.build_objects().resolve(await archiver_env_v3.sidecar(key))
    archiver_env_v3.server.put_document(a_pdf(), tags=sorted(ids.identity_tags))

    await archiver_env_v3.run()

    [document] = archiver_env_v3.documents()
    assert "doc-type:invoice" in document.tags


async def test_a_leftover_sidecar_is_closed_only_with_the_tag_of_its_type(archiver_env_v3: ArchiverEnvironment) -> None:
    await archiver_env_v3.put(document_type="invoice")
    await archiver_env_v3.run()
    key = await archiver_env_v3.put(document_type="contract")
    await archiver_env_v3.office.queue.delete(key.pdf)

    report = await archiver_env_v3.run()

    assert report.actions == {"closed": 1}
    check_one_document(archiver_env_v3, "invoice", "contract")
