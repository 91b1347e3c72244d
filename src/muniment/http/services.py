"""Services used by the endpoints.

`bootstrap/services.py` builds them once; they are stored on the application.
"""

from dataclasses import dataclass

from muniment.accounts.credentials import Passwords
from muniment.accounts.sign_in import SignIn
from muniment.audit.service import AuditService
from muniment.documents.intake import Intake
from muniment.documents.request_limits import RequestLimits
from muniment.documents.staging import Staging
from muniment.handover.dead_letters import DeadLetterService
from muniment.handover.submission import DocumentHandover, SubmissionService
from muniment.http.health_checks import HealthChecks
from muniment.lifecycle.engine import MoveEngine
from muniment.processing.events.stream import EventStreams
from muniment.processing.results.images import ImageService
from muniment.search.query.service import SearchService
from muniment.storage.db.work import Database
from muniment.storage.objects.port import ObjectStore
from muniment.storage.tasks.port import TaskQueue


@dataclass(frozen=True)
class HandoverServices:
    """Services of the hand-over endpoints. They never access Paperless."""

    submissions: SubmissionService
    documents: DocumentHandover
    dead_letters: DeadLetterService
    internal_keys: tuple[str, ...]
    """Keys of the archiver. Without any, `/internal/v1` does not exist."""
    max_bytes: int


@dataclass(frozen=True)
class Services:
    database: Database
    passwords: Passwords
    sign_in: SignIn
    staging: Staging
    intake: Intake
    request_limits: RequestLimits
    objects: ObjectStore
    tasks: TaskQueue
    engine: MoveEngine
    handover: HandoverServices
    images: ImageService
    events: EventStreams
    search: SearchService
    audit: AuditService
    checks: HealthChecks
    secure_cookies: bool
    metrics_token: str | None
