"""Run all diagnostics and print their results, for `muniment doctor`."""

import asyncio
import os
import sys
from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from muniment.cli.output import AsJson, print_json
from muniment.cli.root import app
from muniment.cli.startup import load_existing as _load_existing

if TYPE_CHECKING:
    from muniment.cli.diagnostics import Finding

TIMEOUT_SECONDS = 2.0

Timeout = Annotated[float, typer.Option(help="Seconds after which a check without a response has failed.")]


@app.command()
def doctor(as_json: AsJson = False, timeout: Timeout = TIMEOUT_SECONDS) -> None:
    """Check every component and print a command for each problem. Exits with 1 if a check fails."""
    from muniment.cli.diagnostics import Diagnosis

    async def diagnose() -> int:
        diagnosis = Diagnosis(lambda: _load_existing(generate_secrets=False), timeout_seconds=timeout)
        findings = await diagnosis.run()
        _print(findings, as_json=as_json)
        code = 0 if all(finding.is_ok for finding in findings) else 1
        if diagnosis.is_hanging:  # an orderly end would wait for the check that hangs
            sys.stdout.flush()
            os._exit(code)
        return code

    raise typer.Exit(asyncio.run(diagnose()))


def _print(findings: "Sequence[Finding]", *, as_json: bool) -> None:
    if as_json:
        print_json([asdict(finding) for finding in findings])
        return
    for finding in findings:
        print(f"{'ok   ' if finding.is_ok else 'FAIL '}  {finding.part:<9} {finding.detail}")
        if finding.command:
            print(f"{'':17} run: {finding.command}")
