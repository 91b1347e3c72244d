"""Build the hand-over services for the API, the worker and `muniment archiver backfill`."""

from muniment.bootstrap.stores import Stores, free_space_check
from muniment.handover.dead_letters import DeadLetterService
from muniment.handover.submission import DocumentHandover, SubmissionService
from muniment.http.services import HandoverServices
from muniment.settings import Settings


def build_document_handover(settings: Settings, stores: Stores) -> DocumentHandover:
    submissions = SubmissionService(stores.database, stores.handover, has_room=free_space_check(settings))
    return DocumentHandover(submissions, stores.objects, stores.locks)


def build_handover_services(settings: Settings, stores: Stores) -> HandoverServices:
    documents = build_document_handover(settings, stores)
    return HandoverServices(
        documents.submissions,
        documents,
        DeadLetterService(stores.database, stores.handover),
        internal_keys=settings.archive.internal_api_keys,
        max_bytes=settings.documents.max_upload_bytes,
    )
