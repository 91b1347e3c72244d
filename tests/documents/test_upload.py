"""What an accepted upload stores."""

import hashlib
from uuid import UUID

import pytest

from muniment.artifacts.keys import ContentKeyFactory, SharingScope
from muniment.settings import Settings
from tests.documents.uploads import BOUNDARY, KB, a_pdf, stored_keys, temporary_files, upload, with_documents
from tests.support import corpus
from tests.support.live_api import RunningApi, running_api
from tests.support.seed import Seed

SECRET = "secret of the tests"


async def test_answer_names_the_document_and_says_that_it_waits(kb: KB) -> None:
    content = a_pdf()

    answer = await kb.upload(content)

    body = answer.json()
    assert answer.status_code == 201
    assert UUID(body["id"]).version == 7
    assert (body["name"], body["status"], body["kb_id"]) == ("report.pdf", "pending", str(kb.id))
    assert (body["file_size"], body["sha256"]) == (len(content), hashlib.sha256(content).hexdigest())
    assert (body["media_type"], body["document_type"]) == ("application/pdf", "other")
    assert body["status_detail"] == "Stored and waiting to be processed."
    assert "auto_cleared_document_id" not in body
    assert "content_hmac" not in body
    read = (await kb.client.get(f"{kb.path}/{body['id']}")).json()
    only_when_read = {"uploaded_by_email": kb.owner.email, "passages": 0, "passages_embedded": 0}
    assert read == body | only_when_read


async def test_rows_job_audit_line_and_object_are_all_there(api: RunningApi, kb: KB, seed: Seed) -> None:
    content = a_pdf()

    document_id = UUID((await kb.upload(content)).json()["id"])

    digest, key = hashlib.sha256(content).hexdigest(), f"{kb.id}/{document_id}/1/original"
    columns = "name, original_uri, file_size, sha256, content_hmac, uploaded_by, organization_id"
    [document] = seed.rows(f"SELECT {columns} FROM documents WHERE id = %s AND status = 'pending'", document_id)
    [revision] = seed.rows(f"SELECT {columns} FROM document_revisions WHERE document_id = %s", document_id)
    assert document == revision
    assert document[:4] == ("report.pdf", key, len(content), digest)
    [(run_id, job_id)] = seed.rows("SELECT run_id, job_id FROM document_processing_runs WHERE status = 'queued'")
    [(job, arguments)] = seed.rows("SELECT id, args FROM procrastinate_jobs WHERE status = 'todo'")
    assert (job, arguments["run_id"]) == (job_id, str(run_id))
    [(actor, payload)] = seed.rows("SELECT actor, payload FROM audit_events WHERE action = 'document_uploaded'")
    assert actor == str(kb.owner.id)
    assert (payload["doc_id"], payload["doc_name"], payload["sha256"]) == (str(document_id), "report.pdf", digest)
    assert seed.one("SELECT count(*) FROM uploads") == 0
    assert await api.stores.objects.get(key) == content
    assert await stored_keys(api) == [key]
    assert temporary_files(api) == []


@pytest.mark.parametrize("scope", SharingScope)
async def test_content_key_is_shared_within_its_scope_only(settings: Settings, seed: Seed, scope: SharingScope) -> None:
    mine, foreign = seed.person(), seed.person()
    targets = [
        (mine, seed.knowledge_base(mine)),
        (mine, seed.knowledge_base(mine)),
        (foreign, seed.knowledge_base(foreign)),
    ]
    async with running_api(with_documents(settings, artifact_scope=scope)) as api:
        keys = []
        for person, kb_id in targets:
            async with api.client(person) as client:
                document_id = (await upload(client, kb_id)).json()["id"]
            keys.append(seed.one("SELECT content_hmac FROM documents WHERE id = %s", document_id))
            expected = ContentKeyFactory(SECRET, scope).new_hasher(
                organization_id=person.organization_id, document_id=UUID(document_id)
            )
            expected.update(a_pdf())
            assert keys[-1] == expected.content_key
    assert len(set(keys)) == {SharingScope.SHARED: 1, SharingScope.ORGANIZATION: 2, SharingScope.DOCUMENT: 3}[scope]


@pytest.mark.parametrize("is_before", [True, False], ids=["before", "after"])
async def test_document_type_may_stand_before_or_after_the_file(kb: KB, is_before: bool) -> None:
    field = f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="document_type"\r\n\r\ncare_plan\r\n'.encode()
    file = f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="file"; filename="x.pdf"\r\n\r\n'.encode()
    file += a_pdf() + b"\r\n"
    body = (field + file if is_before else file + field) + f"--{BOUNDARY}--\r\n".encode()

    answer = await kb.client.post(
        kb.path, content=body, headers={"Content-Type": f"multipart/form-data; boundary={BOUNDARY}"}
    )

    assert (answer.status_code, answer.json()["document_type"]) == (201, "care_plan")


async def test_files_come_out_as_they_went_in(kb: KB) -> None:
    real = {path.name: path.read_bytes() for path in corpus.FILES}
    for name, content in {"made.pdf": a_pdf(), **real}.items():
        answer = await kb.upload(content, name)
        assert (answer.status_code, answer.json()["media_type"]) == (201, "application/pdf"), name
        downloaded = await kb.client.get(f"{kb.path}/{answer.json()['id']}/download")
        assert downloaded.content == content, name
