"""Verify audit logs and exports, and replace the signing key."""

from collections.abc import Sequence
from pathlib import Path
from uuid import UUID

from rich.progress import TaskID

from muniment.audit.export.file_check import FileVerdict, verify_file
from muniment.audit.hashing import INSTALLATION_CHAIN
from muniment.audit.keys import rotate_key
from muniment.audit.signing import KeyFileSigner
from muniment.audit.verification import Verdict
from muniment.bootstrap.installation import (
    build_signer,
    build_verification,
    open_stores,
    rotate_signing_key,
    signing_key_file,
)
from muniment.bootstrap.stores import build_stores
from muniment.cli.output import FileMissing, progress_bar
from muniment.cli.trusted_key import read_trusted_key
from muniment.settings import Settings
from muniment.settings.sources import SettingsError


async def verify(settings: Settings, chain: UUID | None, *, show: bool) -> Sequence[Verdict]:
    """Verify all chains, or the given one; a UUID of zeros selects the chain of the installation."""
    async with open_stores(settings) as stores:
        verification = build_verification(settings, stores)
        selected = None if chain == INSTALLATION_CHAIN else chain
        chains = await verification.list_chains() if chain is None else [selected]
        verdicts = []
        with progress_bar(show=show, transient=True) as bar:
            for organization_id in chains:
                task = bar.add_task(str(organization_id or "installation"), total=None)

                def report(done: int, total: int, task: TaskID = task) -> None:
                    bar.update(task, completed=done, total=total)

                verdicts.append(await verification.verify(organization_id, report))
                bar.update(task, visible=False)
    return verdicts


def verify_export(path: Path, trusted_key: str | None, *, show: bool) -> FileVerdict:
    """Verify an export file without a server, a database or settings. `trusted_key` is read by `read_trusted_key`."""
    if not path.is_file():
        raise FileMissing(f"File not found: {path}")
    with path.open("rb") as file, progress_bar(show=show, transient=True) as bar:
        task = bar.add_task(path.name, total=path.stat().st_size)
        trusted = None if trusted_key is None else read_trusted_key(trusted_key)
        return verify_file(file, trusted_key=trusted, progress=lambda size: bar.advance(task, size))


async def rotate_generated_key(settings: Settings) -> tuple[str, str | None]:
    """Replace the signing key that this machine has generated. Return the ids of the new and the previous key."""
    if not isinstance(build_signer(settings), KeyFileSigner):
        raise SettingsError(
            "The signing key is set with MUNIMENT_SIGNING_KEY. Set a new one (openssl rand -base64 32), run "
            "`muniment audit replace-key`, and restart every process"
        )
    stores = build_stores(settings)
    try:
        await stores.database.require_current_schema()
        return await rotate_signing_key(stores.database, stores.locks, signing_key_file(settings))
    finally:
        await stores.close()


async def replace_signing_key(settings: Settings) -> bool:
    """Replace the signing key by the configured one. Return False if it is already in use."""
    stores = build_stores(settings)
    try:
        await stores.database.require_current_schema()
        return await rotate_key(stores.database, build_signer(settings))
    finally:
        await stores.close()


def format_verdict(verdict: Verdict) -> Sequence[str]:
    """Describe the verdict in one line if the chain is intact, or else in one line per problem."""
    name = "the installation" if verdict.chain == INSTALLATION_CHAIN else f"organization {verdict.chain}"
    waiting = f", {verdict.unsealed} not sealed yet" if verdict.unsealed else ""
    if verdict.is_intact:
        return [f"ok     {name}: {verdict.events} events in order, signed up to seq {verdict.signed_seq}{waiting}"]
    return [f"FAIL   {name}: {problem.sentence}" for problem in verdict.problems] + _more_problems(verdict)


def format_file_verdict(verdict: FileVerdict, *, is_trusted: bool) -> Sequence[str]:
    if not verdict.is_intact:
        return [f"FAIL   {problem.sentence}" for problem in verdict.problems] + _more_problems(verdict)
    counts = f"{verdict.events} events in order, {verdict.stubs} not included in the file"
    caution = "" if is_trusted else " named in the file itself. Compare it with GET /api/v1/audit/key"
    return [
        f"ok     {counts}, seq {verdict.first_seq} to {verdict.last_seq}, exported at {verdict.exported_at}",
        f"       signed with the key {verdict.key_id}{caution}",
    ]


def _more_problems(verdict: Verdict | FileVerdict) -> list[str]:
    further = verdict.problem_count - len(verdict.problems)
    return [f"       and {further} more problems"] if further else []
