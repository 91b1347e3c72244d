import hashlib
import hmac
from uuid import uuid4

import pytest

from muniment.artifacts.keys import ContentKeyFactory, SharingScope

ORGANIZATION, DOCUMENT = uuid4(), uuid4()


def key_of(content: bytes, keys: ContentKeyFactory, **ids: object) -> str:
    content_hash = keys.new_hasher(**{"organization_id": ORGANIZATION, "document_id": DOCUMENT, **ids})  # type: ignore[arg-type]
    content_hash.update(content)
    return content_hash.content_key


def test_it_is_an_hmac_with_the_id_of_its_key_in_front() -> None:
    keys = ContentKeyFactory("secret", SharingScope.SHARED)

    key_id, digest = key_of(b"content", keys).split(":")

    derived = hmac.digest(b"secret", b"content key: shared", "sha256")
    assert key_id == keys.key_id
    assert digest == hmac.digest(derived, b"content", "sha256").hex()


def test_chunks_do_not_count() -> None:
    whole = ContentKeyFactory("secret", SharingScope.SHARED).new_hasher(
        organization_id=ORGANIZATION, document_id=DOCUMENT
    )
    whole.update(b"content")
    pieces = ContentKeyFactory("secret", SharingScope.SHARED).new_hasher(
        organization_id=ORGANIZATION, document_id=DOCUMENT
    )
    for piece in (b"con", b"", b"tent"):
        pieces.update(piece)
    assert (pieces.content_key, pieces.sha256) == (whole.content_key, whole.sha256)
    assert whole.sha256 == hashlib.sha256(b"content").hexdigest()


@pytest.mark.parametrize(
    ("scope", "with_other_document", "with_other_organization"),
    [
        (SharingScope.SHARED, True, True),
        (SharingScope.ORGANIZATION, True, False),
        (SharingScope.DOCUMENT, False, False),
    ],
)
def test_scope_decides_who_has_the_same_key(
    scope: SharingScope, with_other_document: bool, with_other_organization: bool
) -> None:
    keys = ContentKeyFactory("secret", scope)
    key = key_of(b"content", keys)
    assert key == key_of(b"content", keys)
    assert (key == key_of(b"content", keys, document_id=uuid4())) is with_other_document
    assert (key == key_of(b"content", keys, organization_id=uuid4(), document_id=uuid4())) is with_other_organization


def test_another_secret_has_another_id_and_other_keys() -> None:
    one, other = ContentKeyFactory("secret", SharingScope.SHARED), ContentKeyFactory("Secret", SharingScope.SHARED)
    assert one.key_id != other.key_id
    assert key_of(b"content", one).split(":")[1] != key_of(b"content", other).split(":")[1]


def test_id_of_the_key_tells_nothing_of_the_keys_that_are_used() -> None:
    keys = ContentKeyFactory("secret", SharingScope.ORGANIZATION)
    assert len(keys.key_id) == 8
    derived = hmac.digest(b"secret", f"content key: organization {ORGANIZATION}".encode(), "sha256").hex()
    assert not derived.startswith(keys.key_id)
