"""Build the services behind the endpoints."""

from collections.abc import Callable

from muniment.accounts.credentials import Passwords
from muniment.accounts.sign_in import SignIn
from muniment.bootstrap.database import app_address
from muniment.bootstrap.handover import build_handover_services
from muniment.bootstrap.health_checks import build_health_checks
from muniment.bootstrap.installation import build_audit_service
from muniment.bootstrap.maintenance import build_purge_prover
from muniment.bootstrap.object_stores import secret_value
from muniment.bootstrap.processing import IMAGE_TIMEOUT, build_embedders, build_sandbox
from muniment.bootstrap.stores import Stores, build_content_keys, free_space_check
from muniment.documents.intake import Intake
from muniment.documents.quotas import Quotas
from muniment.documents.request_limits import RequestLimits
from muniment.documents.staging import Staging
from muniment.handover.cancellation import HandoverCancellation
from muniment.http.services import Services
from muniment.lifecycle.engine import MoveEngine
from muniment.processing.events.stream import EventStreams
from muniment.processing.events.subscriptions import ChangeListener
from muniment.processing.results.images import ImageService
from muniment.search.query.service import SearchService
from muniment.settings import Settings
from muniment.storage.vectors.external_index_updates import (
    ExternalIndexUpdates,
    NoExternalIndex,
    RecordedIndexUpdates,
)


def build_services(settings: Settings, stores: Stores, passwords: Passwords | None = None) -> Services:
    passwords = passwords or Passwords()
    room, index = free_space_check(settings), stores.vectors
    staging, engine = _build_staging(settings, stores, room), _build_engine(settings, stores)
    return Services(
        database=stores.database,
        objects=stores.objects,
        tasks=stores.tasks,
        engine=engine,
        handover=build_handover_services(settings, stores),
        passwords=passwords,
        sign_in=SignIn(stores.database, passwords, lifetime=settings.server.session_lifetime),
        staging=staging,
        intake=Intake(stores.database, staging, stores.ledger, stores.tasks, engine.quotas),
        request_limits=RequestLimits(settings.documents.max_request_files, settings.documents.max_request_bytes),
        images=ImageService(stores.objects, build_sandbox(settings, timeout=IMAGE_TIMEOUT)),
        events=EventStreams(stores.database, ChangeListener(app_address(settings))),
        search=SearchService(
            stores.database,
            index,
            embedders={embedder.model: embedder for embedder in build_embedders(settings)},
            audit_queries=settings.search.audit_queries,
        ),
        audit=build_audit_service(settings, stores),
        checks=build_health_checks(
            stores.database,
            stores.objects,
            index,
            stores.handover.queue,
            stores.tasks,
            has_free_space=room,
            stalled_after=settings.worker.stalled_after,
        ),
        secure_cookies=settings.base_url.startswith("https://"),
        metrics_token=secret_value(settings.telemetry.metrics_token),
    )


def _build_engine(settings: Settings, stores: Stores) -> MoveEngine:
    return MoveEngine(
        stores.database,
        build_index_updates(stores),
        stores.tasks,
        stores.ledger,
        HandoverCancellation(stores.database, stores.handover),
        build_purge_prover(settings, stores),
        Quotas(settings.quotas.max_bytes, settings.quotas.max_documents, settings.quotas.max_queued_runs),
    )


def build_index_updates(stores: Stores) -> ExternalIndexUpdates:
    """Build the updates of the external index, if there is one."""
    if stores.external_index is None:
        return NoExternalIndex(stores.database)
    return RecordedIndexUpdates(stores.database, stores.external_index)


def _build_staging(settings: Settings, stores: Stores, has_free_space: Callable[[], bool]) -> Staging:
    return Staging(
        stores.database,
        stores.objects,
        stores.ledger,
        build_content_keys(settings),
        has_room=has_free_space,
        max_bytes=settings.documents.max_upload_bytes,
        lifetime=settings.documents.upload_lifetime,
    )
