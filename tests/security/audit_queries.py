"""Every query about the audit log, aimed at the one of a `World`."""

from collections.abc import Awaitable, Callable
from typing import Any

from sqlalchemy.ext.asyncio import AsyncSession

from muniment.audit.hashing import to_rfc3339
from muniment.audit.heads import Head, HeadRepository
from muniment.audit.keys import KeyRepository, PublicKey
from muniment.audit.repository import EventFilter, TrailRepository
from muniment.audit.sealing import SealRepository
from muniment.audit.signing import Signer
from muniment.audit.verification import VerificationRepository
from muniment.storage.db.base import new_id, now
from tests.security.world import SIGNER, World

NEW_SIGNER = Signer.from_text("A" * 43)
ALL = EventFilter()


def _new_seal(world: World) -> dict[str, Any]:
    hashes = dict.fromkeys(("salt", "payload_hash", "event_hash", "hash"), b"new")
    return {"chain": world.organization_id, "seq": 2, "event_id": new_id(), **hashes, "sealed_at": now()}


def _new_head(world: World) -> Head:
    return Head(world.organization_id, 2, "00", to_rfc3339(now()), 1, SIGNER.key_id, "00")


def _known_key() -> PublicKey:
    return PublicKey(SIGNER.key_id, SIGNER.public_key, None, to_rfc3339(now()), b"")


AUDIT_QUERIES: dict[str, Callable[[AsyncSession, World], Awaitable[Any]]] = {
    "SealRepository.lock": lambda s, w: SealRepository(s).lock(w.organization_id),
    "SealRepository.find_last": lambda s, w: SealRepository(s).find_last(w.organization_id),
    "SealRepository.find_hash": lambda s, w: SealRepository(s).find_hash(w.organization_id, 1),
    "SealRepository.list_links": lambda s, w: SealRepository(s).list_links(w.organization_id, after=0, limit=10),
    "SealRepository.list_unsealed": lambda s, w: SealRepository(s).list_unsealed(w.organization_id, limit=10),
    "SealRepository.add": lambda s, w: SealRepository(s).add([_new_seal(w)]),
    "SealRepository.oldest_unsealed_seconds": lambda s, w: SealRepository(s).oldest_unsealed_seconds(w.organization_id),
    "HeadRepository.find_newest": lambda s, w: HeadRepository(s).find_newest(w.organization_id),
    "HeadRepository.list_": lambda s, w: HeadRepository(s).list_(w.organization_id, after=0, until=9),
    "HeadRepository.add_once": lambda s, w: HeadRepository(s).add_once(_new_head(w)),
    "KeyRepository.add_once": lambda s, _: KeyRepository(s).add_once(NEW_SIGNER, _known_key()),
    "VerificationRepository.list_sealed": lambda s, w: VerificationRepository(s).list_sealed(
        w.organization_id, after=0, until=9
    ),
    "VerificationRepository.count_unsealed": lambda s, _: VerificationRepository(s).count_unsealed(),
    "TrailRepository.list_": lambda s, _: TrailRepository(s).list_(ALL, offset=0, limit=10),
    "TrailRepository.list_of_document": lambda s, w: TrailRepository(s).list_of_document(w.gone_id, ["test"], limit=10),
    "TrailRepository.may_read": lambda s, w: TrailRepository(s).may_read(w.organization_id),
    "TrailRepository.find_first_seq": lambda s, w: TrailRepository(s).find_first_seq(w.organization_id, ALL),
    "TrailRepository.list_links": lambda s, w: TrailRepository(s).list_links(w.organization_id, after=0, limit=10),
    "TrailRepository.list_sealed": lambda s, w: TrailRepository(s).list_sealed(
        w.organization_id, ALL, after=0, until=9
    ),
}
