"""Baseline: the uploads, and the archiver's calls and durable writes without the archiver."""

import asyncio
import hashlib
import json
import os
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from time import perf_counter
from typing import Any
from uuid import uuid4

import httpx
from tests.support.fake_paperless.fake import FakePaperless

from benchmarks.handover.archivers import CONCURRENCY

Call = Callable[[httpx.AsyncClient, bytes], Awaitable[None]]
SIDECAR = b"{}" * 300
_POLL_SECONDS, _MAX_POLLS = 0.1, 6000


async def baseline_uploads(server: FakePaperless, contents: Sequence[bytes]) -> float:
    """Return seconds."""
    return await _each(server, contents, _upload)


async def baseline_effects(server: FakePaperless, api: str, folder: Path, contents: Sequence[bytes]) -> float:
    """Return seconds."""
    for content in contents:
        name = folder / hashlib.sha256(content).hexdigest()
        name.with_suffix(".pdf").write_bytes(content)
        name.with_suffix(".json").write_bytes(SIDECAR)

    fields = _shared_fields(server)

    async def archive(client: httpx.AsyncClient, content: bytes) -> None:
        await _archive(client, api, folder / hashlib.sha256(content).hexdigest(), fields)

    return await _each(server, contents, archive)


async def baseline_import(server: FakePaperless, contents: Sequence[bytes]) -> float:
    """Upload everything with the archiver's fields, and wait until Paperless has imported it. Return seconds."""
    fields, task_ids = _shared_fields(server), list[str]()

    async def upload(client: httpx.AsyncClient, content: bytes) -> None:
        tag = await _make_tag(client, f"bilko-source-uuid:{hashlib.sha256(content).hexdigest()}")
        files = {"document": (f"{uuid4().hex}.pdf", content, "application/pdf")}
        data = {**fields, "tags": [*fields["tags"], tag]}
        task_ids.append((await client.post("/api/documents/post_document/", files=files, data=data)).json())
        if len(task_ids) == len(contents):
            await _wait_for_import(client, task_ids[-1])

    return await _each(server, contents, upload)


async def _wait_for_import(client: httpx.AsyncClient, last_task_id: str) -> None:
    """Wait for the last task: Paperless processes them in order."""
    for _ in range(_MAX_POLLS):
        [task] = (await client.get("/api/tasks/", params={"task_id": last_task_id})).json()
        if task["status"] == "SUCCESS":
            return
        await asyncio.sleep(_POLL_SECONDS)
    raise TimeoutError


def _shared_fields(server: FakePaperless) -> dict[str, Any]:
    """Everything that the archiver says about a document, except the tag of its content."""
    names = ("bilko_document_id", "bilko_organization_id", "bilko_sha256")
    values = {server.create_object("custom_fields", name, owner=None, data_type="string"): "0" * 36 for name in names}
    return {
        "title": "Invoice — Firma AS 2026-05-08",
        "created": "2026-05-08",
        "correspondent": server.create_object("correspondents", "org-1"),
        "document_type": server.create_object("document_types", "Invoice"),
        "tags": [server.create_object("tags", name) for name in ("org:1", "doc-type:invoice", "bilko-source")],
        "custom_fields": json.dumps({str(key): value for key, value in values.items()}),
    }


async def _each(server: FakePaperless, contents: Sequence[bytes], call: Call) -> float:
    headers = {"Authorization": f"Token {server.token}", "Accept": "application/json; version=9"}
    waiting = iter(contents)

    async def work(client: httpx.AsyncClient) -> None:
        for content in waiting:
            await call(client, content)

    async with httpx.AsyncClient(base_url=server.url, headers=headers) as client:
        began = perf_counter()
        await asyncio.gather(*(work(client) for _ in range(CONCURRENCY)))
        return perf_counter() - began


async def _upload(client: httpx.AsyncClient, content: bytes) -> None:
    files = {"document": (f"{uuid4().hex}.pdf", content, "application/pdf")}
    answer = await client.post("/api/documents/post_document/", files=files, data={"title": "Invoice"})
    answer.raise_for_status()


async def _archive(client: httpx.AsyncClient, api: str, name: Path, shared: dict[str, Any]) -> None:
    """The requests and writes of one job: lookup, notes, upload, task, proof, report, deletion of both files."""
    content = name.with_suffix(".pdf").read_bytes()
    tag = await _make_tag(client, f"bilko-source-uuid:{name.name}")
    await _look(client, {"checksum__iexact": name.name})
    await asyncio.to_thread(_replace, name.with_suffix(".json"))
    fields = {**shared, "tags": [*shared["tags"], tag]}
    files = {"document": (f"{uuid4().hex}.pdf", content, "application/pdf")}
    task_id = (await client.post("/api/documents/post_document/", files=files, data=fields)).json()
    await asyncio.to_thread(_replace, name.with_suffix(".json"))
    [task] = (await client.get("/api/tasks/", params={"task_id": task_id})).json()
    document = f"/api/documents/{task['related_document']}/"
    (await client.get(document, params={"fields": "id,tags,correspondent"})).raise_for_status()
    assert (await client.get(f"{document}metadata/")).json()["original_checksum"] == name.name
    (await client.patch(f"{api}/internal/v1/archive-audit/{uuid4()}", json={"archive_status": "archived"}))
    await asyncio.to_thread(_delete, name)


async def _make_tag(client: httpx.AsyncClient, name: str) -> int:
    made = await client.post("/api/tags/", json={"name": name, "matching_algorithm": 0})
    return int(made.json()["id"])


async def _look(client: httpx.AsyncClient, by: dict[str, str | int]) -> None:
    found = await client.get("/api/documents/", params={**by, "fields": "id,tags,correspondent", "page_size": 25})
    assert found.json()["count"] == 0


def _replace(path: Path) -> None:
    draft = path.with_suffix(".tmp")
    with draft.open("wb") as file:
        file.write(SIDECAR)
        file.flush()
        os.fsync(file.fileno())
    draft.rename(path)
    _sync(path.parent)


def _delete(name: Path) -> None:
    for ending in (".pdf", ".json"):
        name.with_suffix(ending).unlink()
        _sync(name.parent)


def _sync(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
