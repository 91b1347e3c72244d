"""Diagnostics of every component, for `muniment doctor`: what is wrong and how to fix it."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass

import psycopg
from sqlalchemy.exc import SQLAlchemyError

from muniment.bootstrap.database import database_address, login_passwords
from muniment.bootstrap.installation import require_known_secret, require_known_signing_key
from muniment.bootstrap.object_stores import (
    DEAD_LETTER_FOLDER,
    QUEUE_FOLDER,
    OriginalsFolderMissing,
    QueueFolderMissing,
)
from muniment.bootstrap.processing import build_sandbox
from muniment.bootstrap.services import build_services
from muniment.bootstrap.stores import Stores, build_stores, free_space_check
from muniment.embedded.child_process import responds_ok
from muniment.errors import MunimentError, Unavailable
from muniment.http.health import run_check
from muniment.processing.readers.ocr.engine import require_languages
from muniment.settings import Settings
from muniment.storage.db.address import SERVICE_LOGIN, DatabaseAddress
from muniment.storage.disk import disk_floor_bytes, free_bytes

TIMEOUT_SECONDS = 15


@dataclass(frozen=True)
class Finding:
    part: str
    is_ok: bool
    detail: str


class TransactionPooler(Unavailable):
    """A transaction pooler is in front of the database and breaks session locks and LISTEN. Use session pooling"""


async def run_diagnostics(load: Callable[[], Settings]) -> AsyncIterator[Finding]:
    """Yield one finding per component. If the settings are invalid, nothing else can be checked."""
    try:
        settings = load()
        stores = build_stores(settings)
    except (OriginalsFolderMissing, QueueFolderMissing) as error:
        part = "blobs" if isinstance(error, OriginalsFolderMissing) else "queue"
        yield Finding(part, is_ok=False, detail=error.message)
        return
    except MunimentError as error:
        yield Finding("settings", is_ok=False, detail=error.message)
        return
    yield Finding("settings", is_ok=True, detail=_describe_installation(settings))
    try:
        async for finding in _check_components(settings, stores):
            yield finding
    finally:
        await stores.close()


async def _check_components(settings: Settings, stores: Stores) -> AsyncIterator[Finding]:
    checks = build_services(settings, stores).checks
    database = await run_check(checks["database"])
    yield Finding(
        "database", database.status == "ok", database.detail if database.status == "ok" else _database_advice(settings)
    )
    if database.status == "ok":
        yield await _run_check("tables", lambda: _check_schema(stores))
        yield await _run_check("secret", lambda: _check_secrets(settings, stores))
        yield await _run_check("pooling", lambda: _check_pooling(settings))
        tasks = await run_check(checks["tasks"])
        yield Finding("tasks", tasks.status == "ok", tasks.detail)
    yield await _run_check("blobs", lambda: _check_objects(settings, stores))
    yield await _run_check("queue", lambda: _check_queue(settings, stores))
    yield await _run_check("reader", lambda: _check_reader(settings))
    index = await run_check(checks["index"])
    yield Finding("index", index.status == "ok", index.detail)
    yield _check_disk(settings)
    if settings.database.is_embedded:  # otherwise the API may run on another machine
        yield await _run_check("api", lambda: _check_api(settings))


async def _run_check(part: str, check: Callable[[], Awaitable[str]]) -> Finding:
    try:
        async with asyncio.timeout(TIMEOUT_SECONDS):
            return Finding(part, is_ok=True, detail=await check())
    except TimeoutError:
        return Finding(part, is_ok=False, detail=f"no response within {TIMEOUT_SECONDS} seconds")
    except MunimentError as error:
        return Finding(part, is_ok=False, detail=error.message)
    except (SQLAlchemyError, psycopg.Error) as error:
        return Finding(part, is_ok=False, detail=str(error).splitlines()[0])


async def _check_schema(stores: Stores) -> str:
    await stores.database.require_current_schema()
    return "schema is current"


async def _check_secrets(settings: Settings, stores: Stores) -> str:
    await require_known_secret(settings, stores)
    await require_known_signing_key(settings, stores)
    return "match the stored documents and the audit log"


async def _check_api(settings: Settings) -> str:
    if not await asyncio.to_thread(responds_ok, f"{settings.listening_url}/health/live"):
        raise Unavailable(f"The API is not responding at {settings.listening_url}. Start it with `muniment serve`")
    return f"responding at {settings.listening_url}"


async def _check_objects(settings: Settings, stores: Stores) -> str:
    await stores.objects.check()
    if settings.s3.bucket is None:
        return f"folder {settings.server.data_dir / 'blobs'}; encryption at rest depends on the disk"
    encryption = settings.s3.server_side_encryption
    return f"bucket {settings.s3.bucket}; encryption at rest: {encryption or 'bucket default'}"


async def _check_queue(settings: Settings, stores: Stores) -> str:
    await stores.handover.queue.check()
    await stores.handover.dead_letters.check()
    if settings.s3.bucket is None:
        return f"folders {QUEUE_FOLDER} and {DEAD_LETTER_FOLDER} in {settings.server.data_dir}"
    return f"buckets {settings.archive.queue_bucket} and {settings.archive.dead_letter_bucket}"


PROTECTIONS = {
    "user": "separate user",
    "network": "no network access",
    "files": "no file access",
    "system_calls": "system call filter",
    "no_new_privileges": "no new privileges",
}


async def _check_reader(settings: Settings) -> str:
    """Start a real sandbox and report which protections this kernel allows."""
    require_languages(settings.reader.languages)
    sandbox = build_sandbox(settings)
    try:
        available = await sandbox.probe()
    finally:
        await sandbox.close()
    if not available["ocr"]:
        raise Unavailable(
            "Tesseract is missing, so scanned pages have no text. Install it (apt-get install tesseract-ocr)"
        )
    active = [label for name, label in PROTECTIONS.items() if available.get(name)]
    missing = [label for name, label in PROTECTIONS.items() if not available.get(name)]
    return f"sandbox with {', '.join(active)}" + (
        f"; not available on this machine: {', '.join(missing)}" if missing else ""
    )


async def _check_pooling(settings: Settings) -> str:
    address = database_address(settings).as_login(SERVICE_LOGIN, login_passwords(settings).service)
    return await asyncio.to_thread(_detect_pooler, address)


def _detect_pooler(address: DatabaseAddress) -> str:
    # Two clients: if the second transaction of the first one runs in another server process while the second client has
    # a transaction open, a pooler assigns server processes per transaction.
    with psycopg.connect(address.conninfo) as first, psycopg.connect(address.conninfo) as second:
        before = _backend_pid(first)
        first.commit()
        other = _backend_pid(second)
        if other == before or _backend_pid(first) != before:
            raise TransactionPooler
    return "no transaction pooler"


def _backend_pid(connection: psycopg.Connection[tuple[int]]) -> int:
    row = connection.execute("SELECT pg_backend_pid()").fetchone()
    assert row is not None
    return row[0]


def _check_disk(settings: Settings) -> Finding:
    folder = settings.server.data_dir
    free, floor = free_bytes(folder), disk_floor_bytes(folder, settings.documents.disk_floor_bytes)
    detail = f"{free / 1e9:.1f} GB free, uploads stop below {floor / 1e9:.1f} GB"
    if not free_space_check(settings)():
        return Finding("disk", is_ok=False, detail=f"{detail}: make room, or lower MUNIMENT_DISK_FLOOR_BYTES")
    return Finding("disk", is_ok=True, detail=detail)


def _describe_installation(settings: Settings) -> str:
    return (
        "single machine, data in " + str(settings.server.data_dir)
        if settings.database.is_embedded
        else "external database"
    )


def _database_advice(settings: Settings) -> str:
    if settings.database.is_embedded:
        log = settings.server.data_dir / "postgres.log"
        return f"The embedded PostgreSQL is not running. Start `muniment serve` or see {log}"
    host = database_address(settings).host
    return f"Cannot connect to the database at {host}. Check DATABASE_URL, and that `muniment migrate` has run"
