"""Raw requests that bypass our client, to check the statements of docs/contracts.md#paperless."""

import json
from dataclasses import dataclass, replace
from typing import Any
from uuid import uuid4

import httpx

from tests.support.fake_paperless.users import ARCHIVER, User


def a_pdf(text: str = "") -> bytes:
    return f"%PDF-1.7 {uuid4()} {text} %%EOF".encode()


@dataclass(frozen=True)
class RawClient:
    http_client: httpx.Client
    url: str
    user: User = ARCHIVER
    version: int | str | None = 9

    def as_(self, user: User) -> "RawClient":
        return replace(self, user=user)

    def in_version(self, version: int | str | None) -> "RawClient":
        return replace(self, version=version)

    def __call__(self, method: str, path: str, **content: Any) -> httpx.Response:
        accept = "application/json" + (f"; version={self.version}" if self.version is not None else "")
        headers = {"Authorization": f"Token {self.user.token}", "Accept": accept, **content.pop("headers", {})}
        return self.http_client.request(method, self.url + path, headers=headers, **content)

    def get(self, path: str, **params: Any) -> Any:
        answer = self("GET", path, params=params)
        assert answer.status_code == 200, answer.text
        return answer.json()

    def make(self, kind: str, name: str | None = None, **values: Any) -> int:
        answer = self("POST", f"/api/{kind}/", json={"name": name or str(uuid4()), **values})
        assert answer.status_code == 201, answer.text
        return int(answer.json()["id"])

    def upload(self, pdf: bytes, name: str = "x.pdf", **fields: Any) -> httpx.Response:
        return self("POST", "/api/documents/post_document/", files={"document": (name, pdf)}, data=fields)

    def task(self, answer: httpx.Response) -> dict[str, Any]:
        """Return the task row of an upload response, in version 9."""
        assert answer.status_code == 200, answer.text
        [row] = self.in_version(9).get("/api/tasks/", task_id=json.loads(answer.text))
        return dict(row)

    def put(self, pdf: bytes | None = None, name: str = "x.pdf", **fields: Any) -> dict[str, Any]:
        """Upload a document and return it after it was consumed."""
        task = self.task(self.upload(pdf or a_pdf(), name, **fields))
        return dict(self.get(f"/api/documents/{task['related_document']}/"))
