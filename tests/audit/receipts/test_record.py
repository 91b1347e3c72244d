"""`muniment receipt verify`: the file and the public key are enough to check a receipt."""

import base64
import json
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from muniment.audit.hashing import canonical_json
from muniment.audit.receipts.record import InvalidReceipt, InventoryResult, sign_receipt, verify_receipt
from muniment.audit.receipts.tables import Receipt
from muniment.audit.sealing import SealPosition
from muniment.audit.signing import Signer
from muniment.cli.root import app
from muniment.storage.db.base import new_id

AT = datetime(2026, 11, 16, 10, 0, tzinfo=UTC)
SIGNER = Signer.from_text(base64.b64encode(b"1" * 32).decode())
OTHER = Signer.from_text(base64.b64encode(b"2" * 32).decode())
KEY = base64.b64encode(SIGNER.public_key).decode()
LEFT = {"rows": 0, "blobs": 0, "artifacts": 0, "index": 0, "jobs": 0}
FOUND = {
    "originals": [{"key": "k/d/1/original", "sha256": "0"}],
    "rows": {"documents": 1},
    "artifacts": [],
    "jobs": [7],
}


def a_receipt(signer: Signer = SIGNER, **left: int) -> dict[str, Any]:
    """Return the file that the API sends."""
    receipt = Receipt(
        id=new_id(),
        organization_id=new_id(),
        kb_id=new_id(),
        document_id=new_id(),
        document_name="Straße.pdf",
        move="purge",
        actor="somebody",
        event_id=new_id(),
        found=FOUND,
        created_at=AT,
    )
    signed = sign_receipt(
        receipt, InventoryResult(AT, {"blobs": 2}, {**LEFT, **left}, []), SealPosition(12, "ab" * 32), signer
    )
    return {"id": str(receipt.id), "signed_at": AT.isoformat(), "record": signed.record, "signature": signed.signature}


def test_a_receipt_is_valid_after_a_trip_through_json() -> None:
    for written in (json.dumps(a_receipt()), json.dumps(a_receipt(), indent=2, ensure_ascii=False)):
        verified = verify_receipt(written, KEY)
        assert verified.is_key_known
        assert verified.record["audit"]["seq"] == 12
        assert not verify_receipt(written).is_key_known


def every_place(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    if isinstance(value, dict) and value:
        return [place for key, inner in value.items() for place in every_place(inner, (*path, key))]
    if isinstance(value, list) and value:
        return [place for key, inner in enumerate(value) for place in every_place(inner, (*path, key))]
    return [path]


@pytest.mark.parametrize("place", every_place(a_receipt()["record"]), ids=str)
def test_no_part_of_the_record_can_be_changed(place: tuple[Any, ...]) -> None:
    changed = a_receipt()
    at: Any = changed["record"]
    for key in place[:-1]:
        at = at[key]
    at[place[-1]] = "changed" if at[place[-1]] != "changed" else "otherwise"
    with pytest.raises(InvalidReceipt):
        verify_receipt(json.dumps(changed), KEY)


def without(name: str) -> Callable[[dict[str, Any]], Any]:
    def change(receipt: dict[str, Any]) -> Any:
        del receipt["record"][name]
        return receipt

    return change


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda _: "", "not valid JSON"),
        (lambda _: "[1]", "record is missing"),
        (lambda receipt: receipt["record"], "record is missing"),
        (lambda receipt: {**receipt, "signature": "?"}, "signature is not valid base64"),
        (lambda receipt: {**receipt, "signature": None}, "signature is not valid base64"),
        (lambda receipt: {**receipt, "signature": base64.b64encode(b"0" * 64).decode()}, "Invalid signature"),
        (without("kept"), "is missing kept"),
        (without("format"), "format"),
    ],
)
def test_it_says_what_is_wrong(change: Callable[[dict[str, Any]], Any], said: str) -> None:
    changed = change(a_receipt())
    with pytest.raises(InvalidReceipt, match=said):
        verify_receipt(changed if isinstance(changed, str) else json.dumps(changed))


def test_a_receipt_of_somebody_elses_key_is_not_ours() -> None:
    foreign = a_receipt(OTHER)
    for key in (KEY, SIGNER.key_id):
        with pytest.raises(InvalidReceipt, match="another key"):
            verify_receipt(json.dumps(foreign), key)
    # Not even if it claims our key.
    record = {**foreign["record"], "public_key": KEY, "key_id": SIGNER.key_id}
    signature = base64.b64encode(OTHER.sign(canonical_json(record))).decode()
    with pytest.raises(InvalidReceipt, match="Invalid signature"):
        verify_receipt(json.dumps({"record": record, "signature": signature}), KEY)


def test_a_signed_record_that_found_something_left_proves_nothing() -> None:
    with pytest.raises(InvalidReceipt, match="was not deleted: blobs"):
        verify_receipt(json.dumps(a_receipt(blobs=1)), KEY)


def test_the_command_tells_by_its_exit_code_and_in_a_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file, key = tmp_path / "receipt.json", tmp_path / "key"
    key.write_bytes(SIGNER.public_key)
    receipt = a_receipt()
    file.write_text(json.dumps(receipt))
    monkeypatch.setattr("sys.argv", ["muniment"])
    for given in (KEY, SIGNER.key_id, str(key)):
        result = CliRunner().invoke(app, ["receipt", "verify", str(file), "--key", given])
        assert result.exit_code == 0, result.output
        assert "Valid. Purge of 'Straße.pdf'" in result.output
        assert "the given key" in result.output
    assert "named in the receipt" in CliRunner().invoke(app, ["receipt", "verify", str(file)]).output
    receipt["record"]["by"] = "somebody else"
    file.write_text(json.dumps(receipt))
    result = CliRunner().invoke(app, ["receipt", "verify", str(file)])
    assert result.exit_code == 1
    assert isinstance(result.exception, InvalidReceipt)  # which `main` prints as a message
    result = CliRunner().invoke(app, ["receipt", "verify", str(tmp_path / "missing.json")])
    assert result.exit_code == 1
