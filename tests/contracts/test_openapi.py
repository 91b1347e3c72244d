"""The API behaves as its OpenAPI document says: generated requests, each response compared with the document."""

import asyncio
import json
from collections.abc import Callable
from typing import Any
from uuid import UUID

import pytest
import requests
import schemathesis
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis.errors import Unsatisfiable
from schemathesis.checks import not_a_server_error
from schemathesis.core.failures import FailureGroup
from schemathesis.generation import GenerationMode
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from muniment.api import build_documented_app
from tests.support.live_api import RunningApi
from tests.support.seed import Seed

EXAMPLES = 3
"""Requests per operation and kind, valid and invalid."""
CHECKS = [not_a_server_error, status_code_conformance, content_type_conformance, response_schema_conformance]
ENDLESS = "/api/v1/events"


class GeneratedRequests:
    """Sends generated requests to every operation of the API and collects what contradicts the document."""

    def __init__(self, url: str, token: str, ids: dict[str, UUID]) -> None:
        self._url = url
        self._session = requests.Session()
        self._session.trust_env = False
        self._session.headers["Authorization"] = f"Bearer {token}"
        self._ids = ids
        self.sent = 0
        self.problems: list[str] = []

    def send_all(self) -> None:
        document = schemathesis.openapi.from_dict(without_unicode_properties(build_documented_app().openapi()))
        for found in document.get_all_operations():
            operation: Any = found.ok()  # type: ignore[union-attr]  # the document is valid
            if operation.path == ENDLESS:
                continue
            for mode in (GenerationMode.POSITIVE, GenerationMode.NEGATIVE):
                self._send(operation, mode)

    def _send(self, operation: Any, mode: GenerationMode) -> None:
        try:
            requests_of(operation, mode, self._send_one)()
        except Unsatisfiable:
            assert mode is GenerationMode.NEGATIVE, operation.label  # without input, nothing can be invalid
        except FailureGroup as found:  # the other operations are tested too
            self.problems.append(f"{operation.label}: {found}")

    def _send_one(self, case: Any) -> None:
        self.sent += 1
        if self.sent % 2:  # the other half gets random ids
            known = {name: str(self._ids[name]) for name in case.path_parameters or {} if name in self._ids}
            case.path_parameters = {**(case.path_parameters or {}), **known}
        response = case.call(base_url=self._url, session=self._session, timeout=30)
        case.validate_response(response, checks=CHECKS)


def without_unicode_properties(document: dict[str, Any]) -> dict[str, Any]:
    """Write the character classes of patterns out: the generator does not know `\\p{Cc}`, which JavaScript does."""
    text = json.dumps(document)
    for name, characters in (("Cc", r"\x00-\x1f\x7f-\x9f"), ("Zl", r"\u2028"), ("Zp", r"\u2029")):
        text = text.replace(rf"\\p{{{name}}}", characters.replace("\\", r"\\"))
    plain: dict[str, Any] = json.loads(text)
    return plain


def requests_of(operation: Any, mode: GenerationMode, send: Callable[[Any], None]) -> Callable[[], None]:
    """Return a function that sends the same requests whenever it is called."""

    @seed(17)
    @settings(
        max_examples=EXAMPLES,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(case=operation.as_strategy(generation_mode=mode))
    def send_generated(case: Any) -> None:
        send(case)

    return send_generated


@pytest.mark.slow
@pytest.mark.timeout(300)
async def test_every_response_is_one_that_the_document_describes(api: RunningApi, seed: Seed) -> None:
    person = seed.person(is_admin=True, is_operator=True)
    kb_id = seed.knowledge_base(person)
    colleague = seed.person(person.organization_id)
    ids = {"kb_id": kb_id, "organization_id": person.organization_id, "user_id": colleague.id}
    async with api.client(person) as client:
        uploaded = await client.post(f"/api/v1/knowledge-bases/{kb_id}/documents", files={"file": ("a.txt", b"Text.")})
    ids["doc_id"] = uploaded.json()["id"]
    generated = GeneratedRequests(api.url, person.token, ids)

    await asyncio.to_thread(generated.send_all)

    assert generated.problems == []
    assert generated.sent > 250


def test_every_operation_lists_its_errors_and_every_422_has_one_shape() -> None:
    document = build_documented_app().openapi()
    for path, operations in document["paths"].items():
        if path.startswith("/api/v1"):
            for operation in operations.values():
                assert {"400", "401", "403", "422", "500", "503"} <= set(operation["responses"])
                assert operation["responses"]["422"] == {"$ref": "#/components/responses/Error422"}


DOCUMENT = "/api/v1/knowledge-bases/{kb_id}/documents/{doc_id}"


@pytest.mark.parametrize(
    ("operation", "statuses"),
    [
        (f"get {DOCUMENT}/download", {"206", "416"}),
        (f"get {DOCUMENT}/pages/{{number}}/image", {"304", "413", "415", "429"}),
        (f"get {DOCUMENT}/diagrams/{{key}}/image", {"304", "413", "415", "429"}),
        ("get /api/v1/events", {"429"}),
        ("post /api/v1/auth/login", {"408", "413"}),
        ("get /api/v1/auth/me", {"413"}),
    ],
)
def test_statuses_that_few_requests_get_are_listed(operation: str, statuses: set[str]) -> None:
    method, path = operation.split()
    assert statuses <= set(build_documented_app().openapi()["paths"][path][method]["responses"])


def test_every_successful_response_has_its_body() -> None:
    for path, operations in build_documented_app().openapi()["paths"].items():
        for method, operation in operations.items():
            for status, response in operation["responses"].items():
                has_body = "content" in response or "$ref" in response
                assert has_body is (status not in ("204", "304")), f"{method} {path} {status}"


def test_whoever_may_wait_for_the_queue_gets_the_code_of_the_quota() -> None:
    paths = build_documented_app().openapi()["paths"]
    for path in (
        f"{DOCUMENT}/retry",
        f"{DOCUMENT}/replace",
        f"{DOCUMENT}/replace/retry",
        DOCUMENT[: -len("/{doc_id}")],
    ):
        body = paths[path]["post"]["responses"]["429"]["content"]["application/json"]["schema"]
        assert {"$ref": "#/components/schemas/QuotaBody"} in body["anyOf"], path


async def test_responses_without_json_are_as_documented(api: RunningApi, seed: Seed) -> None:
    person = seed.person()
    kb_id = seed.knowledge_base(person)
    async with api.client(person) as client:
        uploaded = await client.post(f"/api/v1/knowledge-bases/{kb_id}/documents", files={"file": ("a.txt", b"Text.")})
        url = f"/api/v1/knowledge-bases/{kb_id}/documents/{uploaded.json()['id']}/download"
        assert (await client.get(url, headers={"Range": "bytes=0-1"})).status_code == 206
        large = await client.request("GET", "/api/v1/auth/me", content=bytes(2_000_000))
        assert (large.status_code, set(large.json())) == (413, {"detail"})


async def test_invalid_input_has_the_same_body_whoever_finds_it(api: RunningApi, seed: Seed) -> None:
    async with api.client(seed.person(is_admin=True)) as client:
        by_the_schema = await client.post("/api/v1/users", json={"email": 1})
        by_a_rule = await client.post("/api/v1/users", json={"email": "new@example.org", "password": "short"})
    for answer in (by_the_schema, by_a_rule):
        assert answer.status_code == 422
        [problem, *_] = answer.json()["detail"]
        assert set(problem) == {"loc", "msg", "type"}
    assert by_a_rule.json()["detail"][0]["loc"] == ["body"]
