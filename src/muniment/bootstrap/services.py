"""Build the services behind the endpoints."""

from collections.abc import Callable

from muniment.accounts.credentials import Passwords
from muniment.accounts.sign_in import SignIn
from muniment.bootstrap.database import app_address
from muniment.bootstrap.handover import build_archiving
from muniment.bootstrap.health_checks import checks
from muniment.bootstrap.installation import build_auditing
from muniment.bootstrap.maintenance import build_finishing
from muniment.bootstrap.object_stores import revealed
from muniment.bootstrap.processing import PICTURE_PATIENCE, build_embedders, build_sandbox
from muniment.bootstrap.stores import Stores, content_keys_of, room_check
from muniment.documents.intake import Intake
from muniment.documents.staging import Staging
from muniment.handover.cancellation import QueueWithdrawal
from muniment.http.services import Parts
from muniment.lifecycle.engine import Mover
from muniment.lifecycle.moves.purge import Removal
from muniment.lifecycle.moves.replace import Replacing
from muniment.processing.events.stream import Streams
from muniment.processing.events.subscriptions import Changes
from muniment.processing.results.images import Pictures
from muniment.search.query.service import Searching
from muniment.settings import Settings
from muniment.storage.tasks.procrastinate.queue import QueuedTasks
from muniment.storage.vectors.external_index_updates import IndexMoves


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
