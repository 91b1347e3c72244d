"""Commands that verify evidence: `audit verify`, `audit rotate-key`, `audit replace-key` and `receipt verify`."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any, NoReturn
from uuid import UUID

import typer

from muniment.cli.output import AsJson, print_json
from muniment.cli.startup import load_existing as _load_existing

audit_app = typer.Typer(help="Verify the audit log.")


receipt_app = typer.Typer(help="Verify deletion receipts.")


@audit_app.command(name="verify")
def verify_audit(
    file: Annotated[Path | None, typer.Argument(help="Export file (JSON Lines) to verify offline.")] = None,
    key: Annotated[
        str | None,
        typer.Option(
            help="Key that must have signed the file: ID, public key, or a file (response of GET /api/v1/audit/key)."
        ),
    ] = None,
    chain: Annotated[
        UUID | None, typer.Option(help="Only this organization's log. All zeros selects the log of the installation.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Verify that no event was changed, removed or reordered. Exits with 1 on any problem."""
    from muniment.cli import audit_verification

    if file is not None:
        checked = audit_verification.verify_export(file, key, show=not as_json)
        file_lines = audit_verification.format_file_verdict(checked, is_trusted=key is not None)
        _print_verification(file_lines, [{"is_intact": checked.is_intact, **asdict(checked)}], as_json=as_json)
    verdicts = asyncio.run(audit_verification.verify(_load_existing(), chain, show=not as_json))
    lines = [line for verdict in verdicts for line in audit_verification.format_verdict(verdict)]
    results = [{"is_intact": verdict.is_intact, **asdict(verdict)} for verdict in verdicts]
    _print_verification(lines, results, as_json=as_json)


@audit_app.command(name="rotate-key")
def rotate_key(as_json: AsJson = False) -> None:
    """Generate a new signing key and use it, while the server runs. Existing signatures stay valid."""
    from muniment.cli.audit_verification import rotate_generated_key

    new, previous = asyncio.run(rotate_generated_key(_load_existing()))
    if as_json:
        print_json({"key_id": new, "previous_key_id": previous})
    else:
        print(f"New signing key: {new}. Running processes use it from now on.")
        print(f"What the key before it signed stays valid: {previous}.")


@audit_app.command(name="replace-key")
def replace_key(as_json: AsJson = False) -> None:
    """Switch to the configured MUNIMENT_SIGNING_KEY. Existing signatures stay valid."""
    from muniment.cli.audit_verification import replace_signing_key

    has_replaced = asyncio.run(replace_signing_key(_load_existing()))
    if as_json:
        print_json({"replaced": has_replaced})
    else:
        print("Replaced." if has_replaced else "Nothing to do: the audit log is already signed with this key.")


@receipt_app.command(name="verify")
def verify_receipt(
    file: Annotated[Path, typer.Argument(help="Receipt file (response of GET /api/v1/receipts/{id}).")],
    key: Annotated[
        str | None,
        typer.Option(
            help="Key that must have signed it: ID, public key, or a file (response of GET /api/v1/audit/key)."
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Verify a deletion receipt offline. Exits with 1 if it is invalid."""
    from muniment.cli.receipt_verification import format_receipt, verify

    verified = verify(file, key)
    if as_json:
        print_json({"valid": True, "key_known": verified.is_key_known, "record": verified.record})
        return
    for sentence in format_receipt(verified):
        print(sentence)


def _print_verification(lines: Sequence[str], results: Sequence[Mapping[str, Any]], *, as_json: bool) -> NoReturn:
    """Print the result and exit with 1 unless everything is intact."""
    print_json(results) if as_json else print("\n".join(lines))
    raise typer.Exit(0 if all(result["is_intact"] for result in results) else 1)
