"""Verify audit trails and exports, and replace the signing key."""

from collections.abc import Sequence
from pathlib import Path
from uuid import UUID

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeElapsedColumn

from muniment.audit.export.file_check import FileVerdict, verify_file
from muniment.audit.hashing import INSTALLATION_CHAIN
from muniment.audit.keys import rotate_key
from muniment.audit.verification import Verdict
from muniment.bootstrap.installation import build_signer, build_verification, open_stores
from muniment.bootstrap.stores import build_stores
from muniment.errors import NotFound
from muniment.settings import Settings


class _ExportFileMissing(NotFound):
    """File not found"""


async def verify(settings: Settings, chain: UUID | None, *, show: bool) -> Sequence[Verdict]:
    """All chains, or the one that is named; nothing but zeros names the installation's."""
    async with open_stores(settings) as stores:
        verification = build_verification(settings, stores)
        named = None if chain == INSTALLATION_CHAIN else chain
        chains = await verification.list_chains() if chain is None else [named]
        verdicts = []
        with _progress_bar(show=show) as bar:
            for organization_id in chains:
                task = bar.add_task(str(organization_id or "installation"), total=None)

                def told(done: int, total: int, task: TaskID = task) -> None:
                    bar.update(task, completed=done, total=total)

                verdicts.append(await verification.verify(organization_id, told))
                bar.update(task, visible=False)
    return verdicts


def verify_export(path: Path, trusted_key: str | None, *, show: bool) -> FileVerdict:
    """Without a server, a database or settings."""
    if not path.is_file():
        raise _ExportFileMissing(f"File not found: {path}")
    with path.open("rb") as file, _progress_bar(show=show) as bar:
        task = bar.add_task(path.name, total=path.stat().st_size)
        return verify_file(file, trusted_key=trusted_key, progress=lambda size: bar.advance(task, size))


async def replace_signing_key(settings: Settings) -> bool:
    """Whether it was another one before."""
    stores = build_stores(settings)
    try:
        await stores.database.require_current_schema()
        return await rotate_key(stores.database, build_signer(settings))
    finally:
        await stores.close()


def format_verdict(verdict: Verdict) -> Sequence[str]:
    """For people: one line if all is well, else one for each problem."""
    name = "the installation" if verdict.chain == INSTALLATION_CHAIN else f"organization {verdict.chain}"
    waiting = f", {verdict.unsealed} not sealed yet" if verdict.unsealed else ""
    if verdict.is_intact:
        return [f"ok     {name}: {verdict.events} events in order, signed up to seq {verdict.signed_seq}{waiting}"]
    return [f"FAIL   {name}: {problem.sentence}" for problem in verdict.problems] + _more_problems(verdict)


def format_file_verdict(verdict: FileVerdict, *, is_trusted: bool) -> Sequence[str]:
    if not verdict.is_intact:
        return [f"FAIL   {problem.sentence}" for problem in verdict.problems] + _more_problems(verdict)
    shown = f"{verdict.events} events in order, {verdict.stubs} not included in the file"
    caution = "" if is_trusted else " named in the file itself. Compare it with GET /api/v1/audit/key"
    return [
        f"ok     {shown}, seq {verdict.first_seq} to {verdict.last_seq}, exported at {verdict.exported_at}",
        f"       signed with the key {verdict.key_id}{caution}",
    ]


def _more_problems(verdict: Verdict | FileVerdict) -> list[str]:
    further = verdict.problem_count - len(verdict.problems)
    return [f"       and {further} more problems"] if further else []


def _progress_bar(*, show: bool) -> Progress:
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    console = Console(stderr=True)
    return Progress(*columns, console=console, disable=not (show and console.is_terminal), transient=True)
