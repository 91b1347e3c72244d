"""`muniment doctor`: run all diagnostics and print their results."""

import asyncio
from dataclasses import asdict

import typer

from muniment.cli.output import AsJson, _print_json
from muniment.cli.root import app
from muniment.cli.startup import load_existing as _load_existing


@app.command()
def doctor(as_json: AsJson = False) -> None:
    """Look at every part, and say what is wrong and how to mend it. Ends with 1 if anything is."""
    from muniment.cli.diagnostics import Finding, examine

    async def look() -> list[Finding]:
        return [finding async for finding in examine(_load_existing)]

    findings = asyncio.run(look())
    if as_json:
        _print_json([asdict(finding) for finding in findings])
    else:
        for finding in findings:
            print(f"{'ok   ' if finding.is_ok else 'WRONG'}  {finding.part:<9} {finding.detail}")
    raise typer.Exit(0 if all(finding.is_ok for finding in findings) else 1)
