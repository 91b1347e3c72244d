"""Build the hand-over services. The API, the worker and `muniment archiver backfill` need them."""

from muniment.bootstrap.stores import Stores, room_check
from muniment.handover.dead_letters import DeadLetters
from muniment.handover.submission import HandOver, OwnDocuments
from muniment.http.services import Archiving
from muniment.settings import Settings


def build_own_documents(settings: Settings, stores: Stores) -> OwnDocuments:
    hand_over = HandOver(stores.database, stores.archive, has_room=room_check(settings))
    return OwnDocuments(hand_over, stores.blobs, stores.locks)


def build_archiving(settings: Settings, stores: Stores) -> Archiving:
    own = build_own_documents(settings, stores)
    return Archiving(
        own.hand_over,
        own,
        DeadLetters(stores.database, stores.archive),
        internal_keys=settings.archive.internal_api_keys,
        max_bytes=settings.documents.max_upload_bytes,
    )
