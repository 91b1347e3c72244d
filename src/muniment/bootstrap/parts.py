"""The parts of the API."""

from collections.abc import Callable

from muniment.accounts.passwords import Passwords
from muniment.accounts.sign_in import SignIn
from muniment.archival.withdrawal import QueueWithdrawal
from muniment.bootstrap.archiving import build_archiving
from muniment.bootstrap.auditing import build_auditing
from muniment.bootstrap.reading import PICTURE_PATIENCE, build_embedders, build_sandbox
from muniment.bootstrap.removal import build_finishing
from muniment.bootstrap.stores import Stores, app_address, content_keys_of, room_check
from muniment.checks import checks
from muniment.documents.intake import Intake
from muniment.documents.staging import Staging
from muniment.http.parts import Parts
from muniment.lifecycle.mover import Mover
from muniment.lifecycle.removal.removing import Removal
from muniment.lifecycle.replacing.service import Replacing
from muniment.processing.events.changes import Changes
from muniment.processing.events.stream import Streams
from muniment.processing.results.pictures import Pictures
from muniment.search.service import Searching
from muniment.settings import Settings
from muniment.storage.index_intents.moves import IndexMoves
from muniment.storage.tasks.queue import QueuedTasks
from muniment.store_places import revealed


def build_parts(settings: Settings, stores: Stores, passwords: Passwords | None = None) -> Parts:
    passwords = passwords or Passwords()
    room, index = room_check(settings), stores.index
    staging = _build_staging(settings, stores, room)
    mover = Mover(stores.database, IndexMoves(stores.database, index), QueuedTasks())
    return Parts(
        database=stores.database,
        blobs=stores.blobs,
        tasks=QueuedTasks(),
        mover=mover,
        removal=Removal(mover, build_finishing(settings, stores), QueueWithdrawal(stores.database, stores.archive)),
        archive=build_archiving(settings, stores),
        replacing=Replacing(mover, staging, stores.ledger),
        passwords=passwords,
        sign_in=SignIn(stores.database, passwords, lifetime=settings.server.session_lifetime),
        intake=Intake(stores.database, staging, stores.ledger, QueuedTasks()),
        pictures=Pictures(stores.blobs, build_sandbox(settings, patience=PICTURE_PATIENCE)),
        events=Streams(stores.database, Changes(app_address(settings))),
        searching=Searching(
            stores.database,
            index,
            embedders={embedder.model: embedder for embedder in build_embedders(settings)},
            audit_queries=settings.search.audit_queries,
        ),
        audit=build_auditing(settings, stores),
        checks=checks(
            stores.database,
            stores.blobs,
            index,
            stores.archive.queue,
            has_room=room,
            stalled_after=settings.worker.stalled_after,
        ),
        secure_cookies=settings.base_url.startswith("https://"),
        metrics_token=revealed(settings.telemetry.metrics_token),
    )


def _build_staging(settings: Settings, stores: Stores, room: Callable[[], bool]) -> Staging:
    return Staging(
        stores.database,
        stores.blobs,
        stores.ledger,
        content_keys_of(settings),
        has_room=room,
        max_bytes=settings.documents.max_upload_bytes,
        lifetime=settings.documents.upload_lifetime,
    )
