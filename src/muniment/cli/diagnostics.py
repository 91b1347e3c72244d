"""Diagnostics of every component, for `muniment doctor`: what is wrong and how to fix it."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass

import psycopg
from sqlalchemy.exc import SQLAlchemyError

from muniment.bootstrap.database import database_address, login_passwords
from muniment.bootstrap.installation import require_same_key, require_same_secret
from muniment.bootstrap.object_stores import DEAD_LETTERS, QUEUE, QueueGone, StoreGone
from muniment.bootstrap.ocr import require_ocr_languages
from muniment.bootstrap.process import answers
from muniment.bootstrap.processing import build_sandbox
from muniment.bootstrap.services import build_parts
from muniment.bootstrap.stores import Stores, build_stores, room_check
from muniment.errors import MunimentError, Unavailable
from muniment.http.health import run_check
from muniment.settings import Settings
from muniment.storage.db.address import SERVICE_LOGIN, DatabaseAddress
from muniment.storage.disk import disk_floor_bytes, free_bytes

PATIENCE_SECONDS = 15


@dataclass(frozen=True)
class Finding:
    part: str
    is_ok: bool
    detail: str


class TransactionPooler(Unavailable):
    """A transaction pooler is in front of the database and breaks session locks and LISTEN. Use session pooling"""


async def examine(load: Callable[[], Settings]) -> AsyncIterator[Finding]:
    """One finding a part. When the settings are wrong, nothing else can be asked."""
    try:
        settings = load()
        stores = build_stores(settings)
    except (StoreGone, QueueGone) as error:
        part = "blobs" if isinstance(error, StoreGone) else "queue"
        yield Finding(part, is_ok=False, detail=error.message)
        return
    except MunimentError as error:
        yield Finding("settings", is_ok=False, detail=error.message)
        return
    yield Finding("settings", is_ok=True, detail=_where(settings))
    try:
        async for finding in _parts(settings, stores):
            yield finding
    finally:
        await stores.close()


async def _parts(settings: Settings, stores: Stores) -> AsyncIterator[Finding]:
    looks = build_parts(settings, stores).checks
    database = await run_check(looks["database"])
    yield Finding(
        "database", database.status == "ok", database.detail if database.status == "ok" else _advice(settings)
    )
    if database.status == "ok":
        yield await _finding("tables", lambda: _tables(stores))
        yield await _finding("secret", lambda: _secret(settings, stores))
        yield await _finding("pooling", lambda: _no_pooler(settings))
        tasks = await run_check(looks["tasks"])
        yield Finding("tasks", tasks.status == "ok", tasks.detail)
    yield await _finding("blobs", lambda: _blobs(settings, stores))
    yield await _finding("queue", lambda: _archive_queue(settings, stores))
    yield await _finding("reader", lambda: _reader(settings))
    index = await run_check(looks["index"])
    yield Finding("index", index.status == "ok", index.detail)
    yield _disk(settings)
    if settings.database.is_embedded:  # elsewhere the API may well be on another machine
        yield await _finding("api", lambda: _api(settings))


async def _finding(part: str, look: Callable[[], Awaitable[str]]) -> Finding:
    try:
        async with asyncio.timeout(PATIENCE_SECONDS):
            return Finding(part, is_ok=True, detail=await look())
    except TimeoutError:
        return Finding(part, is_ok=False, detail=f"no response within {PATIENCE_SECONDS} seconds")
    except MunimentError as error:
        return Finding(part, is_ok=False, detail=error.message)
    except (SQLAlchemyError, psycopg.Error) as error:
        return Finding(part, is_ok=False, detail=str(error).splitlines()[0])


async def _tables(stores: Stores) -> str:
    await stores.database.require_current()
    return "schema is current"


async def _secret(settings: Settings, stores: Stores) -> str:
    await require_same_secret(settings, stores)
    await require_same_key(settings, stores)
    return "match the stored documents and the audit log"


async def _api(settings: Settings) -> str:
    if not await asyncio.to_thread(answers, settings, "/health/live"):
        raise Unavailable(f"The API is not responding at {settings.listening_url}. Start it with `muniment serve`")
    return f"responding at {settings.listening_url}"


async def _blobs(settings: Settings, stores: Stores) -> str:
    await stores.blobs.check()
    if settings.s3.bucket is None:
        return f"folder {settings.server.data_dir / 'blobs'}; encryption at rest depends on the disk"
    asked = settings.s3.server_side_encryption
    return f"bucket {settings.s3.bucket}; encryption at rest: {asked or 'bucket default'}"


async def _archive_queue(settings: Settings, stores: Stores) -> str:
    await stores.archive.queue.check()
    await stores.archive.dead_letters.check()
    if settings.s3.bucket is None:
        return f"folders {QUEUE} and {DEAD_LETTERS} in {settings.server.data_dir}"
    return f"buckets {settings.archive.queue_bucket} and {settings.archive.dead_letter_bucket}"


PROTECTIONS = {
    "user": "separate user",
    "network": "no network access",
    "files": "no file access",
    "system_calls": "system call filter",
    "no_new_privileges": "no new privileges",
}


async def _reader(settings: Settings) -> str:
    """Starts the sandbox for real: that tells what this kernel allows."""
    require_ocr_languages(settings)
    sandbox = build_sandbox(settings)
    try:
        holds = await sandbox.describe()
    finally:
        await sandbox.close()
    if not holds["ocr"]:
        raise Unavailable(
            "Tesseract is missing, so scanned pages have no text. Install it (apt-get install tesseract-ocr)"
        )
    kept = [words for name, words in PROTECTIONS.items() if holds.get(name)]
    missing = [words for name, words in PROTECTIONS.items() if not holds.get(name)]
    return f"sandbox with {', '.join(kept)}" + (
        f"; not available on this machine: {', '.join(missing)}" if missing else ""
    )


async def _no_pooler(settings: Settings) -> str:
    address = database_address(settings).as_login(SERVICE_LOGIN, login_passwords(settings).service)
    return await asyncio.to_thread(_look_for_pooler, address)


def _look_for_pooler(address: DatabaseAddress) -> str:
    # Two clients. If the first one's second transaction runs in another server process than its first, while the
    # second client holds a transaction open, somebody is handing server processes out by the transaction.
    with psycopg.connect(address.conninfo) as first, psycopg.connect(address.conninfo) as second:
        before = _backend(first)
        first.commit()
        other = _backend(second)
        if other == before or _backend(first) != before:
            raise TransactionPooler
    return "no transaction pooler"


def _backend(connection: psycopg.Connection[tuple[int]]) -> int:
    row = connection.execute("SELECT pg_backend_pid()").fetchone()
    assert row is not None
    return row[0]


def _disk(settings: Settings) -> Finding:
    folder = settings.server.data_dir
    free, floor = free_bytes(folder), disk_floor_bytes(folder, settings.documents.disk_floor_bytes)
    detail = f"{free / 1e9:.1f} GB free, uploads stop below {floor / 1e9:.1f} GB"
    if not room_check(settings)():
        return Finding("disk", is_ok=False, detail=f"{detail}: make room, or lower MUNIMENT_DISK_FLOOR_BYTES")
    return Finding("disk", is_ok=True, detail=detail)


def _where(settings: Settings) -> str:
    return (
        "single machine, data in " + str(settings.server.data_dir)
        if settings.database.is_embedded
        else "external database"
    )


def _advice(settings: Settings) -> str:
    if settings.database.is_embedded:
        log = settings.server.data_dir / "postgres.log"
        return f"The embedded PostgreSQL is not running. Start `muniment serve` or see {log}"
    host = database_address(settings).host
    return f"Cannot connect to the database at {host}. Check DATABASE_URL, and that `muniment migrate` has run"
