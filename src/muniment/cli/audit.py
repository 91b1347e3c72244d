"""Commands that verify evidence: `audit verify`, `audit replace-key` and `receipt verify`."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any, NoReturn
from uuid import UUID

import typer

from muniment.cli.output import AsJson, _print_json
from muniment.cli.startup import load_existing as _load_existing

audit = typer.Typer(help="What was done, by whom and when: is the trail as it was written?")


receipt = typer.Typer(help="What proves that a document is gone.")


@audit.command(name="verify")
def verify_audit(
    file: Annotated[Path | None, typer.Argument(help="An export (JSON Lines) to check without a server.")] = None,
    key: Annotated[
        str | None, typer.Option(help="The key that must have signed the file: its id or the public key.")
    ] = None,
    chain: Annotated[
        UUID | None, typer.Option(help="Only this organization's trail; nothing but zeros is the installation's.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Find whatever was changed, removed or put into another order. Ends with 1 if anything was."""
    from muniment.cli import audit_verification

    if file is not None:
        checked = audit_verification.verify_export(file, key, show=not as_json)
        lines = audit_verification.file_sentences(checked, is_trusted=key is not None)
        _report(lines, [{"is_intact": checked.is_intact, **asdict(checked)}], as_json=as_json)
    verdicts = asyncio.run(audit_verification.verify(_load_existing(), chain, show=not as_json))
    told = [line for verdict in verdicts for line in audit_verification.sentences(verdict)]
    facts = [{"is_intact": verdict.is_intact, **asdict(verdict)} for verdict in verdicts]
    _report(told, facts, as_json=as_json)


@audit.command(name="replace-key")
def replace_key(as_json: AsJson = False) -> None:
    """Sign with another MUNIMENT_SIGNING_KEY than before, on purpose. What was signed by the old one stays valid."""
    from muniment.cli.audit_verification import sign_with_new_key

    was_done = asyncio.run(sign_with_new_key(_load_existing()))
    if as_json:
        _print_json({"replaced": was_done})
    else:
        print("Replaced." if was_done else "Nothing to do: the trail is signed with this key already.")


@receipt.command(name="verify")
def verify_receipt(
    file: Annotated[Path, typer.Argument(help="What GET /api/v1/receipts/{id} answered.")],
    key: Annotated[
        str | None, typer.Option(help="The key that must have signed it: its id, the public key, or a file with it.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Check a receipt without a server. Ends with 1, and says what is wrong, unless it is as it was signed."""
    from muniment.cli.receipt_verification import sentences, verify

    verified = verify(file, key)
    if as_json:
        _print_json({"valid": True, "key_known": verified.is_key_known, "record": verified.record})
        return
    for sentence in sentences(verified):
        print(sentence)


def _report(lines: Sequence[str], facts: Sequence[Mapping[str, Any]], *, as_json: bool) -> NoReturn:
    """Print what was found, and end with 1 unless all of it is intact."""
    _print_json(facts) if as_json else print("\n".join(lines))
    raise typer.Exit(0 if all(fact["is_intact"] for fact in facts) else 1)
