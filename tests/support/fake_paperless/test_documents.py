"""docs/contracts.md#paperless-filters and #paperless-documents: ignored filters, changes, downloads, trash."""

import hashlib
import json
from typing import Any
from uuid import uuid4

import pytest

from tests.support.fake_paperless.fake import FakePaperless
from tests.support.fake_paperless.raw_client import RawClient, a_pdf

IGNORED = [
    {"custom_fields__value": "v"},
    {"custom_fields__value__iexact": "v"},
    {"custom_fields__id": "1"},
    {"tags": "1"},
    {"tags__name": "x"},
    {"title": "x"},
    {"correspondent": "1"},
    {"created": "2020-01-01"},
    {"created__date": "2020-01-01"},
    {"checksum": "0"},
    {"checksum__exact": "0"},
    {"checksum__in": "0"},
    {"original_checksum": "0"},
    {"archive_checksum": "0"},
    {"original_file_name__iexact": "x"},
    {"nosuch": "1"},
    {"external_id": "1"},
    {"tags__id__all": "abc"},
    {"tags__id__in": "abc"},
    {"tags__id__all": ""},
    {"tags__id__in": ""},
    {"checksum__iexact": ""},
    {"custom_field_query": ""},
]


@pytest.fixture
def samples(ask: RawClient, server: FakePaperless) -> dict[str, Any]:
    """Two documents: one with both tags and the field, one with one tag."""
    first, second = server.create_object("tags", "first"), server.create_object("tags", "second")
    field = server.create_object("custom_fields", name := str(uuid4()), data_type="string")
    pdf = a_pdf()
    both = ask.put(pdf, "both.pdf", tags=[str(first), str(second)], custom_fields=json.dumps({field: "Value"}))
    one = ask.put(None, "one.pdf", tags=[str(first)])
    return {
        "first": first,
        "second": second,
        "field": field,
        "both": both["id"],
        "one": one["id"],
        "pdf": pdf,
        "name": name,
    }


def _ids(ask: RawClient, **params: Any) -> set[int]:
    return {row["id"] for row in ask.get("/api/documents/", page_size=10_000, **params)["results"]}


@pytest.mark.parametrize("params", IGNORED, ids=str)
def test_an_unknown_filter_or_value_is_left_out_and_finds_everything(
    ask: RawClient, samples: dict[str, Any], params: dict[str, str]
) -> None:
    assert _ids(ask, **params) == _ids(ask) >= {samples["both"], samples["one"]}


def test_filters_that_are_known(ask: RawClient, samples: dict[str, Any], flavour: int) -> None:
    first, second, both, one = samples["first"], samples["second"], samples["both"], samples["one"]
    checksum = (hashlib.md5 if flavour == 2 else hashlib.sha256)(samples["pdf"]).hexdigest()
    other = (hashlib.sha256 if flavour == 2 else hashlib.md5)(samples["pdf"]).hexdigest()
    for params, wanted in (
        ({"tags__id__all": f"{first},{second}"}, {both}),
        ({"tags__id__in": f"{first},{second}"}, {both, one}),
        ({"tags__id": str(second)}, {both}),
        ({"tags__id__all": "999999"}, set()),
        ({"checksum__iexact": checksum.upper()}, {both}),
        ({"checksum__iexact": other}, set()),
        ({"original_filename__iexact": "BOTH.pdf", "tags__id": str(first)}, {both}),
        ({"custom_field_query": json.dumps([samples["name"], "exact", "Value"]), "tags__id": str(first)}, {both}),
        ({"custom_field_query": json.dumps([samples["field"], "exact", "value"])}, set()),
        ({"custom_fields__icontains": "value", "tags__id": str(first)}, {both}),
        ({"id__in": f"{both},{one}"}, {both, one}),
        ({"id": str(one)}, {one}),
    ):
        assert _ids(ask, **params) == wanted, params


def test_of_a_filter_given_twice_the_last_counts(ask: RawClient, samples: dict[str, Any]) -> None:
    answer = ask("GET", f"/api/documents/?tags__id__all={samples['second']}&tags__id__all={samples['first']}")
    assert {row["id"] for row in answer.json()["results"]} == {samples["both"], samples["one"]}


def test_only_3_searches_by_title_search(ask: RawClient, samples: dict[str, Any], flavour: int) -> None:
    found = _ids(ask, title_search="nothing has this title")
    assert found == (_ids(ask) if flavour == 2 else set())


def test_filters_that_are_refused(ask: RawClient, samples: dict[str, Any], flavour: int) -> None:
    for params in (
        {"tags__id": "abc"},
        {"custom_field_query": "no json"},
        {"custom_field_query": "[]"},
        {"custom_field_query": '["nosuchfield","exact","v"]'},
        {"custom_field_query": json.dumps([samples["field"], "bogusop", "v"])},
    ):
        assert ask("GET", "/api/documents/", params=params).status_code == 400
    assert ask("GET", "/api/documents/", params={"query": 'broken"'}).status_code == {2: 200, 3: 400}[flavour]


def test_fields_cut_the_text_out_of_documents_but_not_of_the_trash(ask: RawClient, server: FakePaperless) -> None:
    ask.put()
    server.put_document(a_pdf(), is_trashed=True)
    assert set(ask.get("/api/documents/", fields="id,tags")["results"][0]) == {"id", "tags"}
    assert "content" in ask.get("/api/trash/", fields="id")["results"][0]


def test_patch_replaces_tags_and_fields_as_a_whole(
    ask: RawClient, server: FakePaperless, samples: dict[str, Any]
) -> None:
    path = f"/api/documents/{samples['both']}/"
    third = server.create_object("custom_fields", "third", data_type="integer")
    changed = ask("PATCH", path, json={"tags": [samples["second"]], "custom_fields": [{"field": third, "value": 3}]})
    assert changed.json()["tags"] == [samples["second"]]
    assert changed.json()["custom_fields"] == [{"value": 3, "field": third}]
    for body in (
        {"tags": [99999]},
        {"custom_fields": {str(third): 3}},
        {"custom_fields": [{"field": third, "value": "x"}]},
        {"custom_fields": [{"field": 999, "value": 1}]},
        {"title": "x" * 129},
    ):
        assert ask("PATCH", path, json=body).status_code == 400
    assert ask("PATCH", path, json={"title": "x" * 128, "nosuch": 1, "id": 7}).status_code == 200
    assert ask.get(path)["tags"] == [samples["second"]]


def test_bulk_edit_adds_and_removes(ask: RawClient, samples: dict[str, Any]) -> None:
    def edit(document: int, method: str, **parameters: Any) -> Any:
        body = {"documents": [document], "method": method, "parameters": parameters}
        return ask("POST", "/api/documents/bulk_edit/", json=body)

    done = edit(samples["one"], "modify_tags", add_tags=[samples["second"]], remove_tags=[samples["first"]])
    assert done.json() == {"result": "OK"}
    assert ask.get(f"/api/documents/{samples['one']}/")["tags"] == [samples["second"]]
    edit(samples["one"], "modify_custom_fields", add_custom_fields={samples["field"]: "v"}, remove_custom_fields=[])
    assert ask.get(f"/api/documents/{samples['one']}/")["custom_fields"] == [{"value": "v", "field": samples["field"]}]
    assert "documents" in edit(99999, "modify_tags", add_tags=[], remove_tags=[]).json()
    unknown = edit(samples["one"], "modify_tags", add_tags=[99999], remove_tags=[])
    assert (unknown.status_code, unknown.json()) == (400, {"non_field_errors": ["Tag does not exist"]})


def test_the_default_download_is_the_archive_version_where_there_is_one(
    ask: RawClient, samples: dict[str, Any], flavour: int
) -> None:
    path = f"/api/documents/{samples['both']}/download/"
    assert ask("GET", path, params={"original": "true"}).content == samples["pdf"]
    default = ask("GET", path)
    assert (default.content == samples["pdf"]) == (flavour == 3)
    assert default.headers["Content-Disposition"].startswith("attachment; ")


def test_the_checksum_in_the_metadata_is_of_the_original(ask: RawClient, samples: dict[str, Any], flavour: int) -> None:
    found = ask.get(f"/api/documents/{samples['both']}/metadata/")
    assert found["original_checksum"] == (hashlib.md5 if flavour == 2 else hashlib.sha256)(samples["pdf"]).hexdigest()
    assert found["has_archive_version"] == (flavour == 2)


def test_what_is_trashed_can_be_restored_once_under_the_same_id(ask: RawClient, samples: dict[str, Any]) -> None:
    one = samples["one"]
    assert ask("DELETE", f"/api/documents/{one}/").status_code == 204
    assert ask("GET", f"/api/documents/{one}/").status_code == 404
    assert one not in _ids(ask)
    assert one in [row["id"] for row in ask.get("/api/trash/", page_size=1000)["results"]]
    restore = {"documents": [one], "action": "restore"}
    assert ask("POST", "/api/trash/", json=restore).json() == {"result": "OK", "doc_ids": [one]}
    again = ask("POST", "/api/trash/", json=restore)
    problem = "Some documents in the list have not yet been deleted."
    assert (again.status_code, again.json()) == (400, {"documents": [problem]})
    assert ask.get(f"/api/documents/{one}/")["deleted_at"] is None


def test_shapes_of_a_document_differ(ask: RawClient, samples: dict[str, Any], flavour: int) -> None:
    document = ask.get(f"/api/documents/{samples['both']}/")
    for name in ("duplicate_documents", "root_document", "versions"):
        assert (name in document) == (flavour == 3)
