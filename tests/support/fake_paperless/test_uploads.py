"""docs/contracts.md#paperless-uploads and #paperless-tasks: accepted uploads and their tasks."""

import hashlib
import http.client
import json
from urllib.parse import urlsplit
from uuid import UUID

import httpx
import pytest

from tests.support.fake_paperless import outcomes
from tests.support.fake_paperless.fake import FakePaperless
from tests.support.fake_paperless.raw_client import RawClient, a_pdf
from tests.support.fake_paperless.users import ADMIN, COLLEAGUE, UPLOADER


def test_the_answer_is_a_bare_uuid_and_the_row_is_there_at_once(ask: RawClient, server: FakePaperless) -> None:
    server.set(worker="stopped")
    answer = ask.upload(a_pdf())
    assert answer.status_code == 200
    assert str(UUID(answer.json())) == answer.json()
    assert ask.task(answer)["status"] == "PENDING"
    server.set(worker="running")
    assert ask.task(answer)["status"] == "SUCCESS"


def test_the_id_in_the_task_is_a_string_on_2_and_a_number_on_3(ask: RawClient, flavour: int) -> None:
    task = ask.task(ask.upload(a_pdf()))
    assert isinstance(task["related_document"], {2: str, 3: int}[flavour])
    assert task["result"] == f"Success. New document id {task['related_document']} created"
    assert ("duplicate_documents" in task) == (flavour == 3)


def test_version_10_has_other_names(ask: RawClient, flavour: int) -> None:
    if flavour == 2:
        assert ask.in_version(10)("GET", "/api/tasks/").status_code == 406
        return
    task_id = ask.upload(a_pdf()).json()
    [row] = ask.in_version(10).get("/api/tasks/", task_id=task_id)["results"]
    assert (row["status"], row["task_type"]) == ("success", "consume_file")
    assert row["related_document_ids"] == [row["result_data"]["document_id"]]


def test_an_unknown_task_and_another_users_are_an_empty_list(ask: RawClient) -> None:
    task_id = ask.upload(a_pdf()).json()
    for who, wanted in ((ask, 1), (ask.as_(COLLEAGUE), 0), (ask.as_(ADMIN), 1)):
        assert len(who.get("/api/tasks/", task_id=task_id)) == wanted
    for unknown in ("", "nonsense", "00000000-0000-0000-0000-000000000000"):
        assert ask.get("/api/tasks/", task_id=unknown) == []
    assert ask("GET", f"/api/tasks/{task_id}/").status_code == 404


def test_the_document_is_there_before_the_task_says_so(ask: RawClient, server: FakePaperless) -> None:
    server.set(task_lag=3600)
    answer = ask.upload(a_pdf(), "early bird.pdf")
    assert ask.get("/api/documents/", original_filename__iexact="early bird.pdf")["count"] == 1
    assert ask.task(answer)["status"] == "STARTED"


def test_a_delayed_task_waits(ask: RawClient, server: FakePaperless) -> None:
    server.set(task_delay=3600)
    answer = ask.upload(a_pdf(), "late.pdf")
    assert ask.task(answer)["status"] in ("PENDING", "STARTED")
    assert ask.get("/api/documents/", original_filename__iexact="late.pdf")["count"] == 0


def test_tasks_hang_for_ever_when_worker_or_queue_were_lost(ask: RawClient, server: FakePaperless) -> None:
    server.set(worker="killed")
    killed = ask.upload(a_pdf())
    assert ask.task(killed)["status"] == "STARTED"
    server.set(worker="stopped")
    lost = ask.upload(a_pdf())
    server.lose_queue()
    server.set(worker="running")
    assert [ask.task(killed)["status"], ask.task(lost)["status"]] == ["STARTED", "PENDING"]


def test_a_workflow_may_give_the_document_to_somebody_else(ask: RawClient, server: FakePaperless) -> None:
    server.set(workflow_owner=COLLEAGUE.id)
    task = ask.task(ask.upload(a_pdf()))
    assert task["status"] == "SUCCESS"
    path = f"/api/documents/{task['related_document']}/"
    assert ask("GET", path).status_code == 404
    assert ask.as_(COLLEAGUE)("GET", path).status_code == 200


def test_a_split_file_is_a_success_without_a_document_and_parts_with_other_bytes(
    ask: RawClient, server: FakePaperless
) -> None:
    server.next_uploads(outcomes.split(2))
    tag = server.create_object("tags", "ours")
    whole = a_pdf()
    answer = ask.upload(whole, "whole.pdf", tags=[tag])
    assert (ask.task(answer)["status"], ask.task(answer)["related_document"]) == ("SUCCESS", None)
    parts = server.documents()
    assert [(part.file_name, part.tags) for part in parts] == [("whole.pdf", ["ours"])] * 2
    assert len({part.sha256 for part in parts} | {hashlib.sha256(whole).hexdigest()}) == 3


def test_without_redis_every_upload_is_500_and_only_2_leaves_a_row(
    ask: RawClient, server: FakePaperless, flavour: int
) -> None:
    server.set(redis=False)
    answer = ask.upload(a_pdf(), "no redis.pdf")
    assert (answer.status_code, answer.headers["Content-Type"]) == (500, "text/html")
    assert ask("GET", "/api/tasks/").status_code == 200
    server.set(redis=True)
    rows = [row for row in ask.get("/api/tasks/") if row["task_file_name"] == "no redis.pdf"]
    assert [row["status"] for row in rows] == {2: ["PENDING"], 3: []}[flavour]
    assert ask.get("/api/documents/", original_filename__iexact="no redis.pdf")["count"] == 0


def test_a_chunked_body_has_no_file(server: FakePaperless, ask: RawClient) -> None:
    place = urlsplit(server.url)
    connection = http.client.HTTPConnection(place.hostname or "", place.port)
    request = httpx.Request("POST", server.url, files={"document": ("x.pdf", a_pdf())})
    headers = {"Authorization": f"Token {ask.user.token}", "Content-Type": request.headers["Content-Type"]}
    connection.request("POST", "/api/documents/post_document/", iter([request.read()]), headers, encode_chunked=True)
    answer = connection.getresponse()
    assert (answer.status, json.loads(answer.read())) == (400, {"document": ["No file was submitted."]})
    connection.close()


def test_what_is_refused_at_once(ask: RawClient, server: FakePaperless) -> None:
    field = server.create_object("custom_fields", "number", data_type="integer")
    text = server.create_object("custom_fields", "text", data_type="string")
    missing = 'Invalid pk "99999" - object does not exist.'
    wrong_type = "Incorrect type. Expected pk value, received str."
    for fields, problem in (
        ({"tags": "99999"}, {"tags": [missing]}),
        ({"correspondent": "99999"}, {"correspondent": [missing]}),
        ({"document_type": "99999"}, {"document_type": [missing]}),
        ({"tags": "1,2"}, {"tags": [wrong_type]}),
        ({"correspondent": "a name"}, {"correspondent": [wrong_type]}),
        ({"custom_fields": '{"999":"x"}'}, {"custom_fields": ["Custom field with id 999 does not exist"]}),
        ({"custom_fields": '{"cf":"x"}'}, {"custom_fields": ["Custom field id must be an integer: cf"]}),
        ({"custom_fields": f'{{"{field}":"x"}}'}, {"custom_fields": ["Enter a valid integer."]}),
        (
            {"custom_fields": json.dumps({text: "x" * 129})},
            {"custom_fields": ["Ensure this value has at most 128 characters (it has 129)."]},
        ),
        ({"custom_fields": ""}, {"custom_fields": ["Value must be valid JSON."]}),
        (
            {"custom_fields": "[999]"},
            {"custom_fields": ["Some custom fields don't exist or were specified twice."]},
        ),
    ):
        answer = ask.upload(a_pdf(), **fields)
        assert (answer.status_code, answer.json()) == (400, problem)
    assert "created" in ask.upload(a_pdf(), created="08.05.2026").json()
    for content, problem_text in (
        (b"", "The submitted file is empty."),
        (b"PK\x03\x04zip", "File type application/zip not supported"),
        (b"<html></html>", "File type text/html not supported"),
    ):
        answer = ask.upload(content)
        assert (answer.status_code, answer.json()) == (400, {"document": [problem_text]})
    assert ask("POST", "/api/documents/post_document/", json={}).status_code == 415
    nothing = ask("POST", "/api/documents/post_document/", files={"other": ("x.pdf", a_pdf())})
    assert nothing.json() == {"document": ["No file was submitted."]}
    assert ask.as_(UPLOADER).upload(a_pdf()).status_code == 200


def test_a_list_of_custom_fields_leaves_them_empty_and_a_map_fills_them(ask: RawClient, server: FakePaperless) -> None:
    field = server.create_object("custom_fields", "a field", data_type="string")
    filled = ask.put(custom_fields=json.dumps({field: "v"}))
    empty = ask.put(custom_fields=json.dumps([field]))
    assert (filled["custom_fields"], empty["custom_fields"]) == (
        [{"value": "v", "field": field}],
        [{"value": None, "field": field}],
    )


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("2024-03-05", "2024-03-05"),
        ("2024-03-05T00:30:00+02:00", "2024-03-04"),
        ("2024-03-05 23:30:00Z", "2024-03-05"),
    ],
)
def test_a_time_is_moved_to_the_servers_zone_before_it_becomes_a_date(ask: RawClient, given: str, kept: str) -> None:
    assert ask.put(created=given)["created"] == kept


def test_the_servers_zone_decides(ask: RawClient, server: FakePaperless) -> None:
    server.set(time_zone="Europe/Oslo")
    assert ask.put(created="2024-03-05T23:30:00Z")["created"] == "2024-03-06"


def test_a_missing_date_is_read_in_the_text(ask: RawClient) -> None:
    assert ask.put(a_pdf("from the 17.03.2021"))["created"] == "2021-03-17"


def test_titles_and_names_are_cut_and_cleaned(ask: RawClient) -> None:
    document = ask.put(name="../../etc/pass wd.pdf", title=f" {'x' * 200} ")
    assert (document["title"], document["original_file_name"]) == ("x" * 127, "pass wd.pdf")
    assert ask.put(name="no title.pdf")["title"] == "no title"


def test_files_that_are_accepted_and_then_fail(ask: RawClient) -> None:
    for content, name, problem in (
        (b"\x00\xff\x01", "rnd.pdf", "rnd.pdf: Unsupported mime type application/octet-stream"),
        (
            b"%PDF-1.7 cut",
            "trunc.pdf",
            "trunc.pdf: Error occurred while consuming document trunc.pdf: InputFileError: ",
        ),
        (a_pdf(), f"{'x' * 300}.pdf", "File name too long"),
    ):
        task = ask.task(ask.upload(content, name))
        assert (task["status"], task["related_document"]) == ("FAILURE", None)
        assert problem in task["result"]
    assert ask.put(b"plain text\n", "text.pdf")["mime_type"] == "text/plain"


def test_a_failure_can_first_be_a_traceback_object(ask: RawClient, server: FakePaperless) -> None:
    server.next_uploads(outcomes.half_written("the reason"))
    answer = ask.upload(a_pdf())
    assert ask.task(answer)["result"].startswith("<traceback object at 0x7f")
    assert ask.task(answer)["result"] == "the reason"


def test_inbox_tags_and_rules_add_tags_and_fill_only_what_is_empty(ask: RawClient, server: FakePaperless) -> None:
    inbox = server.create_object("tags", "the inbox", is_inbox_tag=True)
    rule = server.create_object("tags", "zebras", match="zebra")
    off = server.create_object("tags", "off", match="zebra", matching_algorithm=0)
    matching = server.create_object("correspondents", "Zoo", match="zebra", matching_algorithm=3)
    ours = server.create_object("correspondents", "ours")
    given = ask.put(a_pdf("a ZEBRA here"), correspondent=str(ours))
    filled = ask.put(a_pdf("a zebra there"))
    for tag in (inbox, rule, off):
        server.delete_object("tags", tag)
    assert set(given["tags"]) == {inbox, rule}
    assert (given["correspondent"], filled["correspondent"]) == (ours, matching)


def test_a_child_brings_its_parent(ask: RawClient, server: FakePaperless) -> None:
    parent = server.create_object("tags", "parent")
    child = server.create_object("tags", "child", parent=parent)
    assert set(ask.put(tags=[str(child), str(child)])["tags"]) == {parent, child}
