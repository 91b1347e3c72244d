"""Open the stores of an existing installation and build the audit services.

A changed HMAC secret or signing key is refused.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import structlog

from muniment.audit.heads import HeadSigner
from muniment.audit.keys import KeyRepository, SigningKeyMismatch, register_first_key, require_current_key, rotate_key
from muniment.audit.sealing import Sealer
from muniment.audit.service import AuditService
from muniment.audit.signing import KeyFileSigner, Signer
from muniment.audit.verification import Verification
from muniment.bootstrap.stores import Stores, build_content_keys, build_stores
from muniment.errors import Conflict, MunimentError
from muniment.settings import Settings
from muniment.settings.sources import SettingsError, read_or_generate_secret
from muniment.storage.db.advisory_locks import AdvisoryLocks
from muniment.storage.db.principal import Service
from muniment.storage.db.work import Database

log = structlog.get_logger()

PROBE_SECONDS = 5
ROTATION_LOCK = "audit signing key"


class RotationInProgress(Conflict):
    """The signing key is being rotated by another command"""


class RotationInterrupted(SettingsError):
    """A rotation of the signing key was interrupted. Complete it with `muniment audit rotate-key`"""


def build_signer(settings: Settings) -> Signer:
    assert settings.audit.signing_key is not None
    key, path = settings.audit.signing_key.get_secret_value(), signing_key_file(settings)
    if settings.database.is_embedded and path.is_file() and path.read_text(encoding="utf-8").strip() == key:
        return KeyFileSigner(path)
    return Signer.from_text(key)


def signing_key_file(settings: Settings) -> Path:
    """Return where a single machine keeps the key that it has generated."""
    return settings.secrets_dir / "audit_signing_key"


def _new_key_file(path: Path) -> Path:
    return path.with_name(f"{path.name}.new")


async def rotate_signing_key(database: Database, locks: AdvisoryLocks, path: Path) -> tuple[str, str | None]:
    """Generate a new signing key and use it from now on. Return its id and that of the key before it.

    The new key is registered first, with the public keys before it, and then takes its place in the file, where running
    processes find it. If this is interrupted, the next call completes it. Raise `RotationInProgress` during another.
    """
    new_path = _new_key_file(path)
    async with locks.try_acquire(ROTATION_LOCK) as is_held:
        if not is_held:
            raise RotationInProgress
        signer = Signer.from_text(read_or_generate_secret(new_path))
        await rotate_key(database, signer)
        async with database.service_work(Service()) as work:
            keys = {key.key_id: key for key in await KeyRepository(work.session).list_()}
        with suppress(FileNotFoundError):  # a process that started meanwhile has done it
            new_path.replace(path)
    return signer.key_id, keys[signer.key_id].previous_key_id


def build_sealer(settings: Settings, stores: Stores) -> Sealer:
    return Sealer(stores.database, build_signer(settings))


def build_heads(settings: Settings, stores: Stores) -> HeadSigner:
    return HeadSigner(stores.database, stores.objects, build_signer(settings))


def build_verification(settings: Settings, stores: Stores) -> Verification:
    return Verification(stores.database, stores.objects, build_signer(settings))


def build_audit_service(settings: Settings, stores: Stores) -> AuditService:
    sealer, heads = build_sealer(settings, stores), build_heads(settings, stores)
    return AuditService(stores.database, sealer, heads, build_verification(settings, stores))


@asynccontextmanager
async def open_stores(settings: Settings) -> AsyncIterator[Stores]:
    stores = build_stores(settings)
    try:
        await stores.database.require_current_schema()
        await require_known_secret(settings, stores)
        await _require_known_signing_key_or_complete_rotation(settings, stores)
        await register_first_key(stores.database, build_signer(settings))
        yield stores
    finally:
        await stores.close()


async def probe_stores(stores: Stores) -> None:
    """Write, read and delete an object in every store, when a process starts.

    A store that fails is logged and does not prevent the start: it may only be unavailable for a moment.
    """
    probes = {
        "blobs": stores.objects.check,
        "queue": stores.handover.queue.check,
        "dead_letters": stores.handover.dead_letters.check,
    }
    await asyncio.gather(*(_probe_store(name, probe) for name, probe in probes.items()))


async def _probe_store(name: str, probe: Callable[[], Awaitable[None]]) -> None:
    try:
        async with asyncio.timeout(PROBE_SECONDS):
            await probe()
    except TimeoutError:
        log.error("startup.store_unusable", store=name, error=f"no response within {PROBE_SECONDS} seconds")
    except MunimentError as error:
        log.error("startup.store_unusable", store=name, error=error.message)


async def require_known_secret(settings: Settings, stores: Stores) -> None:
    """Raise `SettingsError` if the HMAC secret is another one than before.

    Equal files would no longer be recognized as equal, and it could take months until someone notices.
    """
    known = await stores.database.find_content_key_id()
    if known not in (None, build_content_keys(settings).key_id):
        raise SettingsError(
            "DOCUMENT_HMAC_SECRET does not match the stored documents. Restore the previous secret "
            f"(single machine: {settings.secrets_dir / 'documents_hmac_secret'})"
        )


async def require_known_signing_key(settings: Settings, stores: Stores) -> None:
    """Raise `SettingsError` if the signing key is another one than before.

    A lost key must not be replaced silently: new signatures would look like those of another installation. Nothing is
    written: `muniment doctor` calls this too.
    """
    try:
        await require_current_key(stores.database, build_signer(settings))
    except SigningKeyMismatch as error:
        if await _was_rotation_interrupted(stores.database, signing_key_file(settings)):
            raise RotationInterrupted from None
        raise SettingsError(
            f"{error.message}. Restore the previous key "
            f"(single machine: {settings.secrets_dir / 'audit_signing_key'}), "
            "or, if it is lost, run `muniment audit replace-key` to use the configured one"
        ) from None


async def _was_rotation_interrupted(database: Database, path: Path) -> bool:
    """Return whether a new key is registered that did not get its place in the file."""
    new_path = _new_key_file(path)
    if not new_path.is_file():
        return False
    try:
        await require_current_key(database, Signer.from_text(new_path.read_text(encoding="utf-8")))
    except SigningKeyMismatch:
        return False
    return True


async def _require_known_signing_key_or_complete_rotation(settings: Settings, stores: Stores) -> None:
    try:
        await require_known_signing_key(settings, stores)
    except RotationInterrupted:
        path = signing_key_file(settings)
        with suppress(FileNotFoundError):  # another process has done it
            _new_key_file(path).replace(path)
        raise SettingsError("An interrupted rotation of the signing key is complete now. Start again") from None
