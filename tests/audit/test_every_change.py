"""Every route that changes something is listed here and records its event with actor and address."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from uuid import UUID

from httpx import Response

from muniment.accounts.credentials import digest
from muniment.storage.db.base import new_id, now
from tests.accounts.browser import browser_of
from tests.handover.test_audit_events import CHANGES as OF_THE_ARCHIVE
from tests.security.test_routes import operations
from tests.security.world import World, a_world
from tests.support.live_api import RunningApi
from tests.support.seed import PASSWORD, Person, Seed

READING = {"GET", "HEAD", "OPTIONS"}
DOCUMENTS = "/api/v1/knowledge-bases/{kb_id}/documents"
DOCUMENT = DOCUMENTS + "/{doc_id}"


@dataclass(frozen=True)
class ChangeSetup:
    """A world whose owner may do everything, and objects created just before a test changes them."""

    seed: Seed
    world: World

    def document(self, status: str, **columns: Any) -> UUID:
        name = f"{new_id()}.pdf"
        return self.seed.document(self.world.kb_id, self.world.owner, name=name, status=status, **columns)

    def shown(self) -> dict[str, Any]:
        """Return the document with pages, paragraphs and diagrams."""
        shows = "UPDATE documents SET artifact_text_id = %s WHERE id = %s"
        self.seed.execute(shows, self.world.artifact_id, self.world.document_id)
        return {"doc_id": self.world.document_id, "number": 1, "index": 0, "key": "p1-0"}

    def colleague(self) -> Person:
        return self.seed.person(self.world.organization_id)


Prepared = dict[str, Any]
"""Values of the path; `json` and `files` are sent, `actor` is the caller if not the owner."""
Prepare = Callable[[ChangeSetup], Prepared]


def on(status: str, **sent: Any) -> Prepare:
    return lambda setup: {"doc_id": setup.document(status), **sent}


def sent(**values: Any) -> Prepare:
    return lambda setup: {"json": values}


def to_shown(**values: Any) -> Prepare:
    return lambda setup: {**setup.shown(), "json": values}


def a_file() -> dict[str, Any]:
    return {"file": (f"{new_id()}.txt", b"Something to keep")}


def a_link(setup: ChangeSetup) -> Prepared:
    person = setup.colleague()
    setup.seed.execute("UPDATE users SET password_hash = NULL WHERE id = %s", person.id)
    of_person = {"user_id": person.id, "organization_id": person.organization_id}
    setup.seed.insert("sign_in_links", token_hash=digest("a link"), **of_person, expires_at=now() + timedelta(days=1))
    return {"json": {"token": "a link"}, "actor": person.id}


def a_failed_replacement(setup: ChangeSetup) -> Prepared:
    """Return a document that was reverted automatically."""
    document_id = setup.document("completed")
    setup.seed.failed_replacement(document_id, name=f"{new_id()}.pdf", expires_at=now() + timedelta(days=1))
    return {"doc_id": document_id}


def the_replacement(setup: ChangeSetup) -> Prepared:
    """Return the replacement made just before, which failed."""
    document_id = setup.seed.one("SELECT id FROM documents WHERE revision = 2")
    setup.seed.execute("UPDATE documents SET status = 'failed' WHERE id = %s", document_id)
    return {"doc_id": document_id}


def a_member(setup: ChangeSetup) -> Prepared:
    person = setup.colleague()
    setup.seed.member(setup.world.kb_id, person, "viewer")
    return {"user_id": person.id}


CHANGES: dict[tuple[str, str], tuple[str, Prepare]] = {
    ("POST", "/api/v1/auth/login"): (
        "signed_in",
        lambda setup: {"json": {"email": setup.world.owner.email, "password": PASSWORD}},
    ),
    ("POST", "/api/v1/auth/redeem"): ("signed_in", a_link),
    ("POST", "/api/v1/auth/tokens"): ("token_created", sent(name="laptop")),
    ("DELETE", "/api/v1/auth/tokens/{token_id}"): (
        "token_revoked",
        lambda setup: {"token_id": setup.world.token_id},
    ),
    ("POST", "/api/v1/organizations"): ("organization_created", sent(name="Ny AS")),
    ("PATCH", "/api/v1/organizations/{organization_id}"): (
        "organization_renamed",
        lambda setup: {"organization_id": setup.world.organization_id, "json": {"name": "Etter AS"}},
    ),
    ("POST", "/api/v1/users"): ("user_created", sent(email="new@example.org", password="a password of theirs")),
    ("PATCH", "/api/v1/users/{user_id}"): (
        "user_changed",
        lambda setup: {"user_id": setup.colleague().id, "json": {"is_admin": True}},
    ),
    ("POST", "/api/v1/knowledge-bases"): ("knowledge_base_created", sent(name="New")),
    ("PATCH", "/api/v1/knowledge-bases/{kb_id}"): ("knowledge_base_changed", sent(name="Renamed")),
    ("DELETE", "/api/v1/knowledge-bases/{kb_id}"): (
        "knowledge_base_deleted",
        lambda setup: {"kb_id": setup.world.empty_kb_id},
    ),
    ("PUT", "/api/v1/knowledge-bases/{kb_id}/members/{user_id}"): (
        "member_set",
        lambda setup: {"user_id": setup.colleague().id, "json": {"role": "viewer"}},
    ),
    ("DELETE", "/api/v1/knowledge-bases/{kb_id}/members/{user_id}"): ("member_removed", a_member),
    ("POST", DOCUMENTS): ("document_uploaded", lambda setup: {"files": a_file()}),
    ("POST", f"{DOCUMENT}/archive"): ("document_archived", on("completed")),
    ("POST", f"{DOCUMENTS}/bulk-archive"): (
        "document_archived",
        lambda setup: {"json": {"document_ids": [str(setup.document("completed"))]}},
    ),
    ("POST", f"{DOCUMENT}/restore"): ("document_restored", on("archived")),
    ("DELETE", f"{DOCUMENT}/purge"): ("document_purged", on("archived")),
    ("POST", f"{DOCUMENTS}/bulk-purge"): (
        "document_purged",
        lambda setup: {"json": {"document_ids": [str(setup.document("archived"))]}},
    ),
    ("DELETE", f"{DOCUMENT}/clear"): ("document_cleared", on("failed")),
    ("POST", f"{DOCUMENT}/cancel"): ("document_cancelled", on("pending")),
    ("POST", f"{DOCUMENT}/retry"): ("document_retried", on("failed", json={})),
    ("POST", f"{DOCUMENT}/replace"): ("document_replaced", on("completed", files=a_file())),
    ("POST", f"{DOCUMENT}/replace/revert"): ("document_reverted", the_replacement),
    ("POST", f"{DOCUMENT}/replace/retry"): ("document_replaced", a_failed_replacement),
    ("DELETE", f"{DOCUMENT}/replace/failed"): ("failed_replacement_deleted", a_failed_replacement),
    ("PATCH", f"{DOCUMENT}/pages/{{number}}"): ("document_annotated", to_shown(flags={"a": 1})),
    ("PATCH", f"{DOCUMENT}/pages/{{number}}/paragraphs/{{index}}"): (
        "document_annotated",
        to_shown(annotations={"a": 1}),
    ),
    ("PATCH", f"{DOCUMENT}/diagrams/{{key}}"): ("document_annotated", to_shown(annotations={"a": 1})),
    ("PUT", "/api/v1/auth/password"): (
        "password_changed",
        sent(current_password=PASSWORD, new_password="the newest of all"),
    ),
    ("POST", "/api/v1/auth/logout"): ("signed_out", lambda setup: {}),
}

PREFERENCES = {
    ("POST", "/api/v1/saved-searches"),
    ("PATCH", "/api/v1/saved-searches/{search_id}"),
    ("DELETE", "/api/v1/saved-searches/{search_id}"),
}
"""Routes that change only what the user alone sees: what someone searches for does not belong in the audit log."""


def test_every_route_that_changes_something_has_its_event_here(api: RunningApi) -> None:
    changing = {(method, path) for method, path in operations(api.app) if method not in READING}
    assert changing - set(OF_THE_ARCHIVE) - PREFERENCES == set(CHANGES)


async def test_every_change_writes_its_event_with_who_did_it_from_where(api: RunningApi, seed: Seed) -> None:
    setup = ChangeSetup(seed, a_world(seed))
    for (method, path), (action, prepare) in CHANGES.items():
        prepared = prepare(setup)
        before = len(seed.audit_lines())
        answer = await carry_out(api, setup, method, path, prepared)
        assert answer.status_code in (200, 201, 202, 204), (method, path, answer.text)
        written = seed.audit_lines()[before:]
        assert [line["action"] for line in written].count(action) == 1, (method, path)
        (line,) = (line for line in written if line["action"] == action)
        who = (line["actor"], line["address"])
        assert who == (str(prepared.get("actor", setup.world.owner.id)), "127.0.0.1"), (method, path)
        if action != "organization_created":
            assert line["organization_id"] == setup.world.organization_id, (method, path)


async def carry_out(api: RunningApi, setup: ChangeSetup, method: str, path: str, prepared: Prepared) -> Response:
    named = path.format(**{"kb_id": setup.world.kb_id, **prepared})
    body = {name: prepared[name] for name in ("json", "files") if name in prepared}
    async with browser_of(api, setup.seed, setup.world.owner) as client:
        return await client.request(method, named, **body)
