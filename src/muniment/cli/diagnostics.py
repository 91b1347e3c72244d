"""Diagnostics of every component, for `muniment doctor`: what is wrong and how to fix it."""

import asyncio
import math
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass

import psycopg

from muniment.bootstrap.database import database_address, login_passwords
from muniment.bootstrap.installation import (
    RotationInterrupted,
    build_verification,
    require_known_secret,
    require_known_signing_key,
)
from muniment.bootstrap.object_stores import (
    DEAD_LETTER_FOLDER,
    QUEUE_FOLDER,
    OriginalsFolderMissing,
    QueueFolderMissing,
)
from muniment.bootstrap.processing import build_sandbox
from muniment.bootstrap.services import build_services
from muniment.bootstrap.stores import Stores, build_stores
from muniment.cli.paperless_check import check_paperless
from muniment.cli.startup import DataDirectoryForbidden
from muniment.embedded.child_process import responds_ok
from muniment.errors import MunimentError, StorageFull, Unavailable
from muniment.http.health_checks import HealthCheck, HealthCheckRead, HealthChecks
from muniment.processing.readers.ocr.engine import require_languages
from muniment.reconcile.spot_check import SpotCheck
from muniment.settings import Settings
from muniment.storage.db.address import SERVICE_LOGIN, DatabaseAddress
from muniment.storage.db.schema_version import SchemaTooNew
from muniment.storage.disk import disk_floor_bytes, free_bytes

NEEDS_DATABASE = frozenset({"tables", "secret", "pooling", "tasks", "originals", "audit", "index"})
COMMANDS_BY_MESSAGE = {
    SchemaTooNew().message: "muniment version",
    RotationInterrupted().message: "muniment audit rotate-key",
}
SHARE_OF_TIME = 0.6
"""Part of the time limit after which a check that could go on for hours ends with what it knows."""


@dataclass(frozen=True)
class Finding:
    """State of one component in a sentence and, if there is a problem, the command to run."""

    part: str
    is_ok: bool
    detail: str
    command: str | None = None


class TransactionPooler(Unavailable):
    """A transaction pooler is in front of the database and breaks session locks and LISTEN. Use session pooling"""


class AuditLogBroken(Unavailable):
    """The audit log was changed outside Muniment"""


class NoDataDirectory(Unavailable):
    """The data directory does not exist"""


class Diagnosis:
    """All checks of an installation. Nothing is written."""

    def __init__(self, load: Callable[[], Settings], *, timeout_seconds: float) -> None:
        self._load = load
        self._timeout_seconds = timeout_seconds
        self.is_hanging = False
        """Whether a check did not end in time. Closing would wait for it."""

    async def run(self) -> Sequence[Finding]:
        """Return one finding per component. If the settings are invalid, nothing else can be checked."""
        try:
            settings = self._load()
            stores = build_stores(settings, create=False)
        except (OriginalsFolderMissing, QueueFolderMissing) as error:
            part = "blobs" if isinstance(error, OriginalsFolderMissing) else "queue"
            return [Finding(part, is_ok=False, detail=_first_sentence(error.message), command="df -h")]
        except DataDirectoryForbidden as error:
            command = f"ls -ld {Settings.load().server.data_dir}"
            return [Finding("settings", is_ok=False, detail=_first_sentence(error.message), command=command)]
        except MunimentError as error:
            command = "muniment serve" if "muniment serve" in error.message else "muniment settings"
            return [Finding("settings", is_ok=False, detail=_first_sentence(error.message), command=command)]
        findings = await self._check(settings, stores)
        if not self.is_hanging:
            await stores.close()
        return [Finding("settings", is_ok=True, detail=_describe_installation(settings)), *findings]

    async def _check(self, settings: Settings, stores: Stores) -> Sequence[Finding]:
        ends_at = math.inf
        checks = HealthChecks(_build_checks(settings, stores, keep_going=lambda: time.monotonic() < ends_at))
        ends_at = time.monotonic() + self._timeout_seconds * SHARE_OF_TIME  # building them loads modules for a second
        results = await checks.run(timeout_seconds=self._timeout_seconds)
        self.is_hanging = checks.are_hanging
        is_connected = results["database"].status == "ok"
        commands = _commands(settings)
        return [
            _finding(part, result, commands[part])
            for part, result in results.items()
            if is_connected or part not in NEEDS_DATABASE
        ]


def _finding(part: str, result: HealthCheckRead, command: str) -> Finding:
    if result.status == "ok":
        return Finding(part, is_ok=True, detail=result.detail)
    return Finding(
        part,
        is_ok=False,
        detail=_first_sentence(result.detail),
        command=COMMANDS_BY_MESSAGE.get(result.detail, command),
    )


def _first_sentence(message: str) -> str:
    """Return what is wrong. The rest of a message says what to do, which is the command's part here."""
    return message.split(". ", 1)[0]


def _build_checks(settings: Settings, stores: Stores, *, keep_going: Callable[[], bool]) -> Mapping[str, HealthCheck]:
    components = build_services(settings, stores).checks.checks
    checks: dict[str, Callable[[], Awaitable[str]]] = {
        "database": lambda: _check_database(settings, components["database"]),
        "tables": lambda: _check_schema(stores),
        "secret": lambda: _check_secrets(settings, stores),
        "pooling": lambda: _check_pooling(settings),
        "tasks": components["tasks"].run,
        "blobs": lambda: _check_objects(settings, stores),
        "queue": lambda: _check_queue(settings, stores),
        "originals": SpotCheck(stores.database, stores.objects, stores.ledger, keep_going).run,
        "audit": lambda: _check_audit(settings, stores, keep_going),
        "reader": lambda: _check_reader(settings),
        "index": components["index"].run,
        "disk": lambda: _check_disk(settings),
    }
    if settings.archiver.paperless_url:
        checks["paperless"] = lambda: check_paperless(settings)
    if settings.database.is_embedded:  # otherwise the API may run on another machine
        checks["api"] = lambda: _check_api(settings)
    return {part: HealthCheck(check, is_critical=False) for part, check in checks.items()}


def _commands(settings: Settings) -> Mapping[str, str]:
    """Return what to run if a component has a problem."""
    folder = settings.server.data_dir
    start = "muniment serve" if settings.database.is_embedded else "muniment worker"
    store, disk = "muniment settings" if settings.s3.bucket else f"ls -la {folder}", f"du -xhd1 {folder}"
    if not settings.s3.bucket and not folder.is_dir():  # the first start creates it
        store = disk = "muniment serve" if settings.database.is_embedded else "muniment api"
    return {
        "database": "muniment serve" if settings.database.is_embedded else 'psql "$DATABASE_URL" -c "SELECT 1"',
        "tables": "muniment migrate",
        "secret": "muniment settings",
        "pooling": "muniment settings",
        "tasks": start,
        "blobs": store,
        "queue": store,
        "originals": "muniment reconcile --read-data-subset 100%",
        "audit": "muniment audit verify",
        "reader": "apt-get install tesseract-ocr",
        "index": "muniment index status",
        "disk": disk,
        "paperless": "muniment archiver run",
        "api": "muniment serve",
    }


async def _check_database(settings: Settings, check: HealthCheck) -> str:
    try:
        return await check.run()
    except Unavailable:
        raise Unavailable(_database_problem(settings)) from None


async def _check_audit(settings: Settings, stores: Stores, keep_going: Callable[[], bool]) -> str:
    verification, is_complete = build_verification(settings, stores), True
    async for organization_id in verification.iter_chains(keep_going=keep_going):
        if not keep_going():
            break
        verdict = await verification.verify(organization_id, keep_going=keep_going)
        if verdict.problems:
            raise AuditLogBroken(verdict.problems[0].sentence)
        is_complete = is_complete and verdict.is_complete
    return "all chains are intact" if is_complete and keep_going() else "no problem found in the time available"


async def _check_schema(stores: Stores) -> str:
    await stores.database.require_current_schema()
    return "schema is current"


async def _check_secrets(settings: Settings, stores: Stores) -> str:
    await require_known_secret(settings, stores)
    await require_known_signing_key(settings, stores)
    return "match the stored documents and the audit log"


async def _check_api(settings: Settings) -> str:
    if not await asyncio.to_thread(responds_ok, f"{settings.listening_url}/health/live"):
        raise Unavailable(f"The API is not responding at {settings.listening_url}")
    return f"responding at {settings.listening_url}"


async def _check_objects(settings: Settings, stores: Stores) -> str:
    await stores.objects.check_access()
    if settings.s3.bucket is None:
        return f"folder {settings.server.data_dir / 'blobs'}; encryption at rest depends on the disk"
    encryption = settings.s3.server_side_encryption
    return f"bucket {settings.s3.bucket}; encryption at rest: {encryption or 'bucket default'}"


async def _check_queue(settings: Settings, stores: Stores) -> str:
    await stores.handover.queue.check_access()
    await stores.handover.dead_letters.check_access()
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
        raise Unavailable("Tesseract is missing, so scanned pages have no text")
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


async def _check_disk(settings: Settings) -> str:
    if settings.s3.bucket and not settings.database.is_embedded:
        return "no documents are stored on this machine"
    return await asyncio.to_thread(_measure_disk, settings)


def _measure_disk(settings: Settings) -> str:
    folder = settings.server.data_dir
    if not folder.is_dir():
        raise NoDataDirectory(f"The data directory {folder} does not exist")
    free, floor = free_bytes(folder), disk_floor_bytes(folder, settings.documents.disk_floor_bytes)
    detail = f"{free / 1e9:.1f} GB free, uploads stop below {floor / 1e9:.1f} GB"
    if free < floor:
        raise StorageFull(detail)
    return detail


def _describe_installation(settings: Settings) -> str:
    return (
        "single machine, data in " + str(settings.server.data_dir)
        if settings.database.is_embedded
        else "external database"
    )


def _database_problem(settings: Settings) -> str:
    if settings.database.is_embedded:
        return f"The embedded PostgreSQL is not responding (log: {settings.server.data_dir / 'postgres.log'})"
    return f"Cannot connect to the database at {database_address(settings).host}, which DATABASE_URL names"
