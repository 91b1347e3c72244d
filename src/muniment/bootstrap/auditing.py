"""What seals, signs and verifies the audit trail."""

from muniment.audit.heads import Heads
from muniment.audit.sealing import Sealer
from muniment.audit.service import Auditing
from muniment.audit.signing import Signer
from muniment.audit.verification import Verification
from muniment.bootstrap.stores import Stores
from muniment.settings import Settings


def signer_of(settings: Settings) -> Signer:
    assert settings.audit.signing_key is not None
    return Signer.from_text(settings.audit.signing_key.get_secret_value())


def build_sealer(settings: Settings, stores: Stores) -> Sealer:
    return Sealer(stores.database, signer_of(settings))


def build_heads(settings: Settings, stores: Stores) -> Heads:
    return Heads(stores.database, stores.blobs, signer_of(settings))


def build_verification(settings: Settings, stores: Stores) -> Verification:
    return Verification(stores.database, stores.blobs, signer_of(settings))


def build_auditing(settings: Settings, stores: Stores) -> Auditing:
    sealer, heads = build_sealer(settings, stores), build_heads(settings, stores)
    return Auditing(stores.database, sealer, heads, build_verification(settings, stores))
