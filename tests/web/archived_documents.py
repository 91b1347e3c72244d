"""Archived documents and dead letters for browser tests."""

import asyncio
import json
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any, LiteralString
from uuid import uuid4

import psycopg
from playwright.sync_api import Locator, Page

from muniment.bootstrap.database import database_address
from muniment.bootstrap.object_stores import DEAD_LETTER_FOLDER, QUEUE_FOLDER
from muniment.documents.names import name_key
from muniment.handover.job_key import JobKey
from muniment.settings import Settings
from muniment.settings.server import ServerSettings
from muniment.storage.objects.folder.store import VersionedFolderStore
from tests.documents.uploads import a_pdf
from tests.support.running_server import RunningServer
from tests.web.demo_organization import SignedInPerson, upload, wait_until_final


def add_archived(owner: SignedInPerson, kb_id: str, *names: str) -> dict[str, str]:
    """Upload documents with different contents as their owner, and archive them. Return ids by name."""
    ids = {name: upload(owner, kb_id, name, f"{name} says {uuid4().hex}".encode()) for name in names}
    wait_until_final(owner, kb_id, list(ids.values()))
    for document_id in ids.values():
        move(owner, kb_id, document_id, "archive")
    return ids


def add_archived_pdf(owner: SignedInPerson, kb_id: str, name: str) -> str:
    document_id = upload(owner, kb_id, name, a_pdf(uuid4().hex))
    wait_until_final(owner, kb_id, [document_id])
    move(owner, kb_id, document_id, "archive")
    return document_id


def rename_document(muniment: RunningServer, document_id: str, name: str) -> None:
    """Rename without the API, which reserves archived names: simulates two concurrent requests."""
    run_sql(muniment, "UPDATE documents SET name = %s, name_key = %s WHERE id = %s", name, name_key(name), document_id)


def run_sql(muniment: RunningServer, statement: LiteralString, *values: str, triggers: bool = True) -> None:
    """Run a statement as the superuser."""
    settings = Settings(server=ServerSettings(data_dir=muniment.data_dir)).with_secrets()
    with psycopg.connect(database_address(settings).conninfo) as connection:
        if not triggers:
            connection.execute("SET session_replication_role = replica")
        connection.execute(statement, values)


def move(person: SignedInPerson, kb_id: str, document_id: str, way: str) -> None:
    answer = person.api.post(f"/api/v1/knowledge-bases/{kb_id}/documents/{document_id}/{way}")
    assert answer.is_success, answer.text


def row(page: Page, name: str) -> Locator:
    """Return the table row that contains the name."""
    return page.get_by_role("row").filter(has=page.get_by_text(name, exact=True))


def choose(page: Page, name: str, item: str) -> None:
    """Choose an item of the row menu."""
    page.get_by_role("button", name=f"Actions for {name}", exact=True).click()
    page.get_by_role("menuitem", name=item, exact=True).click()


def add_dead_letter(muniment: RunningServer, person: SignedInPerson, organization_id: str, error: str) -> str:
    """Add a dead letter as the archiver leaves it. Return the id of its document."""
    document_id = str(uuid4())
    answer = person.api.post(
        f"/api/v1/organizations/{organization_id}/archive",
        files={"file": ("any.pdf", a_pdf(document_id))},
        data={"document_type": "invoice", "document_id": document_id},
    )
    assert answer.status_code == 202, answer.text
    key = JobKey.parse(answer.json()["job_id"])
    assert key
    run_in_thread(_give_up(muniment, key, error))
    return document_id


async def _give_up(muniment: RunningServer, key: JobKey, error: str) -> None:
    queue, letters = (
        VersionedFolderStore(muniment.data_dir / QUEUE_FOLDER),
        VersionedFolderStore(muniment.data_dir / DEAD_LETTER_FOLDER),
    )
    sidecar = json.loads(await queue.get(key.sidecar)) | {"retryCount": 5, "lastError": error}
    await letters.put_if_absent(key.pdf, await queue.get(key.pdf))
    await letters.put_if_absent(key.sidecar, json.dumps(sidecar).encode())
    for name in (key.sidecar, key.pdf):
        await queue.delete(name)


def run_in_thread(work: Coroutine[Any, Any, None]) -> None:
    """Run a coroutine in another thread, because Playwright has its own event loop in this one."""
    with ThreadPoolExecutor(1) as threads:
        threads.submit(asyncio.run, work).result()
