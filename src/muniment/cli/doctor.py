"""Run all diagnostics and print their results, for `muniment doctor`."""

import asyncio
from dataclasses import asdict

import typer

from muniment.cli.output import AsJson, print_json
from muniment.cli.root import app
from muniment.cli.startup import load_existing as _load_existing


@app.command()
def doctor(as_json: AsJson = False) -> None:
    """Check every component and suggest fixes. Exits with 1 if a check fails."""
    from muniment.cli.diagnostics import Finding, run_diagnostics

    async def collect() -> list[Finding]:
        return [finding async for finding in run_diagnostics(_load_existing)]

    findings = asyncio.run(collect())
    if as_json:
        print_json([asdict(finding) for finding in findings])
    else:
        for finding in findings:
            print(f"{'ok   ' if finding.is_ok else 'FAIL '}  {finding.part:<9} {finding.detail}")
    raise typer.Exit(0 if all(finding.is_ok for finding in findings) else 1)
