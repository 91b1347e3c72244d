"""docs/contracts.md#paperless-objects: names, owners, collisions, pages."""

from concurrent.futures import ThreadPoolExecutor
from uuid import uuid4

from tests.support.fake_paperless.fake import FakePaperless
from tests.support.fake_paperless.raw_client import RawClient
from tests.support.fake_paperless.users import COLLEAGUE


def test_names_collide_by_owner_and_with_regard_to_case(ask: RawClient, server: FakePaperless) -> None:
    name = f"alpha {uuid4()}"
    assert ask("POST", "/api/tags/", json={"name": f" {name} "}).json()["name"] == name
    again = ask("POST", "/api/tags/", json={"name": name})
    assert (again.status_code, again.json()) == (400, {"error": "Object violates owner / name unique constraint"})
    assert ask("POST", "/api/tags/", json={"name": name.upper()}).status_code == 201
    assert ask.as_(COLLEAGUE)("POST", "/api/tags/", json={"name": name}).status_code == 201
    for kind, noun in {"tags": "tag", "correspondents": "correspondent", "document_types": "document type"}.items():
        server.create_object(kind, f"{name} of all", owner=None)
        shared = ask("POST", f"/api/{kind}/", json={"name": f"{name} of all"})
        assert (shared.status_code, shared.json()) == (400, {"name": [f"{noun} with this name already exists."]})


def test_custom_fields_belong_to_nobody(ask: RawClient) -> None:
    name = f"field {uuid4()}"
    assert ask("POST", "/api/custom_fields/", json={"name": name, "data_type": "string"}).status_code == 201
    again = ask("POST", "/api/custom_fields/", json={"name": name, "data_type": "string"})
    assert again.json() == {"name": ["custom field with this name already exists."]}
    bogus = ask("POST", "/api/custom_fields/", json={"name": f"{name} 2", "data_type": "bogus"})
    assert bogus.json() == {"data_type": ['"bogus" is not a valid choice.']}


def test_of_eight_at_once_one_is_made(ask: RawClient) -> None:
    name = f"race {uuid4()}"
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda _: ask("POST", "/api/tags/", json={"name": name}).status_code, range(8)))
    assert sorted(answers) == [201] + [400] * 7


def test_names_have_limits(ask: RawClient) -> None:
    for body, problem in (
        ({"name": "x" * 129}, "Ensure this field has no more than 128 characters."),
        ({"name": " "}, "This field may not be blank."),
        ({"name": None}, "This field may not be null."),
        ({}, "This field is required."),
    ):
        answer = ask("POST", "/api/tags/", json=body)
        assert (answer.status_code, answer.json()) == (400, {"name": [problem]})
    broken = ask("POST", "/api/tags/", content=b"{", headers={"Content-Type": "application/json"})
    assert (broken.status_code, list(broken.json())) == (400, ["detail"])


def test_only_some_filters_of_names_are_known(ask: RawClient) -> None:
    name = f"Šišmiš {uuid4()}"
    made = ask.make("tags", name)
    everything = ask.get("/api/tags/")["count"]
    assert [row["id"] for row in ask.get("/api/tags/", name__iexact=name.replace("mi", "MI"))["results"]] == [made]
    assert ask.get("/api/tags/", name__iexact=name.upper())["count"] == 0  # only ASCII letters are folded
    assert ask.get("/api/tags/", name=name)["count"] == ask.get("/api/tags/", name__exact=name)["count"] == everything


def test_lists_come_in_pages_with_absolute_links(ask: RawClient, server: FakePaperless, flavour: int) -> None:
    for _ in range(30):
        server.create_object("correspondents", str(uuid4()))
    page = ask.get("/api/correspondents/")
    assert len(page["results"]) == 25
    assert page["next"] == f"{server.url}/api/correspondents/?page=2"
    assert len(page["all"]) == page["count"]
    assert ask.get("/api/correspondents/", page_size="x")["count"] == page["count"]
    assert "all" not in ask.in_version(10 if flavour == 3 else 9).get("/api/tags/") or flavour == 2
    assert ("display_count" in ask.get("/api/tags/")) == (flavour == 3)
    for number in ("0", "99"):
        beyond = ask("GET", "/api/correspondents/", params={"page": number})
        assert (beyond.status_code, beyond.json()) == (404, {"detail": "Invalid page."})


def test_without_redis_a_tag_is_made_and_a_document_changed_though_the_answer_is_500(
    ask: RawClient, server: FakePaperless
) -> None:
    name, document = f"tag {uuid4()}", ask.put()
    server.set(redis=False)
    assert ask("POST", "/api/tags/", json={"name": name}).status_code == 500
    assert ask("PATCH", f"/api/documents/{document['id']}/", json={"title": "changed"}).status_code == 500
    assert ask.get("/api/tags/", name__iexact=name)["count"] == 1
    assert ask.get(f"/api/documents/{document['id']}/")["title"] == "changed"


def test_a_thing_that_is_deleted_leaves_its_documents(ask: RawClient, server: FakePaperless) -> None:
    tag, field = (
        server.create_object("tags", str(uuid4())),
        server.create_object("custom_fields", str(uuid4()), data_type="string"),
    )
    document = ask.put(tags=[str(tag)], custom_fields=f'{{"{field}": "v"}}')
    server.delete_object("tags", tag)
    server.delete_object("custom_fields", field)
    again = ask.get(f"/api/documents/{document['id']}/")
    assert (again["tags"], again["custom_fields"]) == ([], [])
    assert ask.get("/api/documents/", tags__id__all=tag)["count"] == 0
