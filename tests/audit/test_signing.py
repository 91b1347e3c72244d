import base64
from uuid import uuid4

import pytest
from cryptography.hazmat.primitives.asymmetric import ec, ed25519
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from hypothesis import given
from hypothesis import strategies as st

from muniment.audit.hashing import canonical_json
from muniment.audit.signing import InvalidSigningKey, Signer, key_id_of, verify
from muniment.settings.sources import read_or_generate_secret
from tests.support.seed import SIGNING_KEY

SEED_BYTES = bytes(range(224, 256))
PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


def pem(key: ed25519.Ed25519PrivateKey | ec.EllipticCurvePrivateKey) -> str:
    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()


def test_what_was_signed_is_recognised_and_nothing_else() -> None:
    signer, other = Signer.from_text(SIGNING_KEY), Signer.from_text("A" * 43)
    signature = signer.sign(b"message")
    assert verify(signer.public_key, b"message", signature)
    assert not verify(signer.public_key, b"another", signature)
    assert not verify(other.public_key, b"message", signature)
    assert not verify(signer.public_key, b"message", b"rubbish")
    assert not verify(b"rubbish", b"message", signature)


@pytest.mark.parametrize(
    "text",
    [
        base64.b64encode(SEED_BYTES).decode(),
        base64.urlsafe_b64encode(SEED_BYTES).decode(),
        base64.urlsafe_b64encode(SEED_BYTES).decode().rstrip("="),
        f"  {base64.b64encode(SEED_BYTES).decode()}\n",
        pem(ed25519.Ed25519PrivateKey.from_private_bytes(SEED_BYTES)),
        pem(ed25519.Ed25519PrivateKey.from_private_bytes(SEED_BYTES)).replace("\n", "\\n"),
    ],
)
def test_the_same_key_is_understood_in_every_form(text: str) -> None:
    expected = ed25519.Ed25519PrivateKey.from_private_bytes(SEED_BYTES).public_key().public_bytes_raw()
    signer = Signer.from_text(text)
    assert (signer.public_key, signer.key_id) == (expected, key_id_of(expected))


@pytest.mark.parametrize(
    "text",
    ["", "too short", "!" * 43, "A" * 42, "A" * 44, pem(ec.generate_private_key(ec.SECP256R1())), "-----BEGIN X-----"],
)
def test_what_is_no_key_is_refused_without_repeating_it(text: str) -> None:
    with pytest.raises(InvalidSigningKey) as refused:
        Signer.from_text(text)
    assert not text or text not in refused.value.message


def test_a_generated_secret_is_a_key(tmp_path_factory: pytest.TempPathFactory) -> None:
    path = tmp_path_factory.mktemp("secrets") / "audit_signing_key"
    assert (
        Signer.from_text(read_or_generate_secret(path)).key_id == Signer.from_text(read_or_generate_secret(path)).key_id
    )


@given(PLAIN)
def test_a_value_is_always_written_the_same(value: object) -> None:
    assert canonical_json(value) == canonical_json(value)
    assert b"\n" not in canonical_json(value)


def test_order_does_not_matter_and_no_space_is_written() -> None:
    assert canonical_json({"b": 1, "a": ["ø", None]}) == '{"a":["ø",null],"b":1}'.encode()
    assert canonical_json({"a": 1, "b": 2}) == canonical_json({"b": 2, "a": 1})


@pytest.mark.parametrize("value", [float("nan"), float("inf"), uuid4(), b"bytes", {1, 2}])
def test_what_is_not_plain_is_refused(value: object) -> None:
    with pytest.raises((TypeError, ValueError)):
        canonical_json(value)
