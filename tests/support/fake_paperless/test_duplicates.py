"""docs/contracts.md#paperless-duplicates, row by row."""

from pathlib import Path

import httpx
import pytest

from tests.support.fake_paperless.fake import FakePaperless, fake_paperless
from tests.support.fake_paperless.raw_client import RawClient, a_pdf
from tests.support.fake_paperless.users import ADMIN, COLLEAGUE


def test_identical_bytes(ask: RawClient, flavour: int) -> None:
    pdf = a_pdf()
    first = ask.put(pdf, "first.pdf", title="Original one")
    task = ask.task(ask.upload(pdf, "other.pdf", title="changed"))
    if flavour == 2:
        sentence = f"other.pdf: Not consuming other.pdf: It is a duplicate of Original one (#{first['id']})."
        assert (task["status"], task["result"], task["related_document"]) == ("FAILURE", sentence, str(first["id"]))
    else:
        assert task["status"] == "SUCCESS"
        assert task["related_document"] != first["id"]
        assert "duplicate" not in task["result"]
        again = ask.get(f"/api/documents/{first['id']}/")
        assert [copy["id"] for copy in again["duplicate_documents"]] == [task["related_document"]]
    assert ask.get(f"/api/documents/{first['id']}/")["title"] == "Original one"


def test_identical_bytes_where_3_was_told_to_refuse_them(ask: RawClient, server: FakePaperless, flavour: int) -> None:
    server.set(delete_duplicates=True)
    pdf = a_pdf()
    first = ask.put(pdf, title="Original one")["id"]
    answer = ask.upload(pdf)
    task = ask.task(answer)
    assert task["status"] == "FAILURE"
    assert int(task["related_document"]) == first
    if flavour == 3:
        assert task["result"] == f"Not consuming: It is a duplicate of document #{first}"
        assert task["duplicate_documents"] == [{"id": first, "title": "Original one", "deleted_at": None}]
        [row] = ask.in_version(10).get("/api/tasks/", task_id=answer.json())["results"]
        assert row["result_data"] == {"duplicate_of": first, "duplicate_in_trash": False}
        assert row["related_document_ids"] == [first]


@pytest.mark.parametrize("is_refused", [False, True])
def test_the_original_belongs_to_somebody_else(
    ask: RawClient, server: FakePaperless, flavour: int, is_refused: bool
) -> None:
    server.set(delete_duplicates=is_refused)
    pdf = a_pdf()
    theirs = server.put_document(pdf, owner=COLLEAGUE)
    task = ask.task(ask.upload(pdf))
    if flavour == 2 or is_refused:
        assert (task["status"], int(task["related_document"])) == ("FAILURE", theirs)
        assert task.get("duplicate_documents", []) == []
        assert ask("GET", f"/api/documents/{theirs}/").status_code == 404
    else:
        assert task["status"] == "SUCCESS"


@pytest.mark.parametrize("is_refused", [False, True])
def test_the_original_lies_in_the_trash(ask: RawClient, server: FakePaperless, flavour: int, is_refused: bool) -> None:
    server.set(delete_duplicates=is_refused)
    pdf = a_pdf()
    trashed = server.put_document(pdf, is_trashed=True)
    task = ask.task(ask.upload(pdf))
    if flavour == 2:
        assert (task["status"], task["related_document"]) == ("FAILURE", None)
        assert task["result"].endswith(f"(#{trashed}). Note: existing document is in the trash.")
    elif is_refused:
        assert (task["status"], task["related_document"]) == ("FAILURE", trashed)
        assert task["duplicate_documents"][0]["deleted_at"] is not None
    else:
        assert task["status"] == "SUCCESS"


def test_what_was_purged_from_the_trash_is_forgotten(ask: RawClient, server: FakePaperless) -> None:
    server.set(delete_duplicates=True)
    pdf = a_pdf()
    trashed = server.put_document(pdf, is_trashed=True)
    emptied = ask.as_(ADMIN)("POST", "/api/trash/", json={"documents": [trashed], "action": "empty"})
    assert emptied.json() == {"result": "OK", "doc_ids": [trashed]}
    task = ask.task(ask.upload(pdf))
    assert task["status"] == "SUCCESS"
    assert int(task["related_document"]) > trashed


def test_the_archive_version_is_a_duplicate_on_2(ask: RawClient, flavour: int) -> None:
    document = ask.put()
    archive = ask("GET", f"/api/documents/{document['id']}/download/").content
    if flavour == 2:
        assert int(ask.task(ask.upload(archive))["related_document"]) == document["id"]
    else:
        assert document["archived_file_name"] is None


@pytest.mark.slow
def test_an_upgrade_recomputes_the_checksums_and_drops_the_tasks(tmp_path: Path, http_client: httpx.Client) -> None:
    with fake_paperless(tmp_path, flavour=2) as server:
        ask = RawClient(http_client, server.url)
        document = ask.put()["id"]
        assert len(ask.get(f"/api/documents/{document}/metadata/")["original_checksum"]) == 32
        server.upgrade()
        assert len(ask.get(f"/api/documents/{document}/metadata/")["original_checksum"]) == 64
        assert ask.get("/api/tasks/") == []
        assert ask("GET", "/api/tags/").headers["X-Version"] == "3.0.5"
