"""Users, knowledge bases and documents for one test, created through the API."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

import httpx

from tests.support.running_server import EMAIL, PASSWORD, RunningServer, wait_until

FINAL = ("completed", "failed", "archived")


@dataclass
class SignedInPerson:
    """A user and a client that is signed in as them."""

    id: str
    email: str
    password: str
    api: httpx.Client

    @property
    def session(self) -> tuple[str, str]:
        """Return name and value of their session cookie."""
        [(name, secret)] = self.api.cookies.items()
        return name, secret


@dataclass
class DemoOrganization:
    """An organization for one test. Other tests cannot see or change it."""

    muniment: RunningServer
    organization_id: str
    name: str
    _operator: httpx.Client
    _clients: list[httpx.Client] = field(default_factory=list)

    def add_person(self, who: str = "owner", *, is_admin: bool = False, is_operator: bool = False) -> SignedInPerson:
        """Add a user. Their e-mail address starts with `who` and is made unique."""
        email, password = f"{who}.{uuid4().hex[:8]}@example.org", "correct horse battery"
        wanted = {"email": email, "password": password, "organization_id": self.organization_id}
        answer = self._operator.post("/api/v1/users", json=wanted | {"is_admin": is_admin, "is_operator": is_operator})
        assert answer.status_code == 201, answer.text
        return SignedInPerson(answer.json()["id"], email, password, self._signed_in(email, password))

    def add_account(self, email: str, password: str) -> None:
        """Add a user whose address another organization may have too."""
        wanted = {"email": email, "password": password, "organization_id": self.organization_id}
        answer = self._operator.post("/api/v1/users", json=wanted)
        assert answer.status_code == 201, answer.text

    def _signed_in(self, email: str, password: str) -> httpx.Client:
        client = new_client(self.muniment, email, password)
        self._clients.append(client)
        return client

    def close(self) -> None:
        for client in self._clients:
            client.close()


def new_client(muniment: RunningServer, email: str = EMAIL, password: str = PASSWORD) -> httpx.Client:
    client = httpx.Client(base_url=muniment.url, timeout=30, trust_env=False)
    answer = client.post("/api/v1/auth/login", json={"email": email, "password": password})
    assert answer.status_code == 200, answer.text
    return client


def create_demo_organization(muniment: RunningServer, operator: httpx.Client) -> DemoOrganization:
    name = f"Fjordblick {uuid4().hex[:6]}"
    answer = operator.post("/api/v1/organizations", json={"name": name})
    assert answer.status_code == 201, answer.text
    return DemoOrganization(muniment, answer.json()["id"], name, operator)


def new_kb(owner: SignedInPerson, name: str = "Contracts and invoices") -> str:
    answer = owner.api.post("/api/v1/knowledge-bases", json={"name": name})
    assert answer.status_code == 201, answer.text
    return str(answer.json()["id"])


def add_member(owner: SignedInPerson, kb_id: str, person: SignedInPerson, role: str) -> None:
    answer = owner.api.put(f"/api/v1/knowledge-bases/{kb_id}/members/{person.id}", json={"role": role})
    assert answer.status_code == 200, answer.text


def upload(
    person: SignedInPerson, kb_id: str, name: str, content: bytes = b"The tenant pays on the third of the month."
) -> str:
    """Upload a document and return its id. It is processed in the background."""
    answer = person.api.post(f"/api/v1/knowledge-bases/{kb_id}/documents", files={"file": (name, content)})
    assert answer.status_code == 201, answer.text
    return str(answer.json()["id"])


def wait_until_final(person: SignedInPerson, kb_id: str, document_ids: Sequence[str]) -> list[dict[str, Any]]:
    """Wait until the documents have been processed, and return them."""
    url = f"/api/v1/knowledge-bases/{kb_id}/documents"
    wait_until(lambda: all(person.api.get(f"{url}/{one}").json()["status"] in FINAL for one in document_ids))
    return [person.api.get(f"{url}/{one}").json() for one in document_ids]
