"""docs/contracts.md#paperless-access: authentication, versions and paths."""

import pytest

from tests.support.fake_paperless.fake import FakePaperless
from tests.support.fake_paperless.raw_client import RawClient
from tests.support.fake_paperless.users import ADMIN, COLLEAGUE, UPLOADER, WITHOUT_TASKS


@pytest.mark.parametrize(
    ("header", "detail"),
    [
        ("", "Authentication credentials were not provided."),
        (f"Bearer {'b' * 40}", "Authentication credentials were not provided."),
        ("Token nobody", "Invalid token."),
        ("Token", "Invalid token header. No credentials provided."),
    ],
)
def test_a_wrong_token_is_401_without_the_versions(ask: RawClient, header: str, detail: str) -> None:
    answer = ask("GET", "/api/tags/", headers={"Authorization": header})
    assert (answer.status_code, answer.json()) == (401, {"detail": detail})
    assert answer.headers["WWW-Authenticate"] == "Token"
    assert "X-Version" not in answer.headers


def test_which_versions_are_spoken(ask: RawClient, flavour: int) -> None:
    spoken = {2: {1, 8, 9, None}, 3: {9, 10, None}}[flavour]
    for version in (1, 8, 9, 10, 11, "x", None):
        answer = ask.in_version(version)("GET", "/api/tags/")
        if version in spoken:
            assert answer.headers["X-Version"] == {2: "2.20.15", 3: "3.0.5"}[flavour]
            assert answer.headers["X-Api-Version"] == {2: "9", 3: "10"}[flavour]
        else:
            assert (answer.status_code, answer.json()["detail"]) == (406, 'Invalid version in "Accept" header.')
            assert "X-Version" not in answer.headers


def test_without_a_version_the_servers_newest_is_spoken(ask: RawClient, flavour: int) -> None:
    assert ("all" in ask.in_version(None).get("/api/tags/")) == (flavour == 2)
    assert isinstance(ask.in_version(None).get("/api/tasks/"), list) == (flavour == 2)
    assert isinstance(ask.get("/api/tasks/"), list)


def test_a_missing_slash_and_an_unknown_path_lead_to_the_login(ask: RawClient) -> None:
    for path in ("/api/tags", "/api/nosuch/"):
        answer = ask("GET", path)
        assert (answer.status_code, answer.headers["Location"]) == (302, f"/accounts/login/?next={path}")
        answer = ask("POST", path, json={})
        assert (answer.status_code, answer.headers["Content-Type"]) == (403, "text/html; charset=utf-8")
    assert ask("POST", "/api/documents/", json={}).status_code == 405
    assert ask("GET", "/api/documents/post_document/").status_code == 405


def test_missing_permissions_are_403_in_two_ways(ask: RawClient, server: FakePaperless) -> None:
    listing = ask.as_(UPLOADER)("GET", "/api/documents/")
    assert (listing.status_code, listing.headers["Content-Type"]) == (403, "application/json")
    assert ask.as_(WITHOUT_TASKS)("GET", "/api/tasks/").status_code == 403
    theirs = server.put_document(b"%PDF- theirs", owner=COLLEAGUE)
    trashed = server.put_document(b"%PDF- trashed", owner=COLLEAGUE, is_trashed=True)
    edit = {"documents": [theirs], "method": "modify_tags", "parameters": {"add_tags": [], "remove_tags": []}}
    for answer in (
        ask("GET", "/api/status/"),
        ask("POST", "/api/documents/bulk_edit/", json=edit),
        ask("POST", "/api/trash/", json={"documents": [trashed], "action": "restore"}),
    ):
        assert (answer.status_code, answer.text) == (403, "Insufficient permissions")
        assert answer.headers["Content-Type"].startswith("text/html")


def test_what_belongs_to_another_user_is_not_there_but_for_the_superuser(ask: RawClient, server: FakePaperless) -> None:
    document = server.put_document(b"%PDF- theirs", owner=COLLEAGUE)
    tag = server.create_object("tags", "theirs", owner=COLLEAGUE)
    for path, detail in (
        (f"/api/documents/{document}/", "No Document matches the given query."),
        (f"/api/documents/{document}/download/", "Not found."),
        (f"/api/tags/{tag}/", "No Tag matches the given query."),
        ("/api/documents/x/", "Not found."),
    ):
        answer = ask("GET", path)
        assert (answer.status_code, answer.json()) == (404, {"detail": detail})
    assert document not in [row["id"] for row in ask.get("/api/documents/", page_size=1000)["results"]]
    assert ask.as_(ADMIN).get(f"/api/documents/{document}/")["id"] == document


def test_only_3_throttles_and_only_the_call_for_tokens(ask: RawClient, flavour: int) -> None:
    given = {"username": "archiver", "password": "secret"}
    answers = [ask("POST", "/api/token/", json=given) for _ in range(6)]
    assert answers[0].json() == {"token": ask.user.token}
    assert answers[-1].status_code == {2: 200, 3: 429}[flavour]
    assert ("Retry-After" in answers[-1].headers) == (flavour == 3)
    assert ask("GET", "/api/tags/").status_code == 200
