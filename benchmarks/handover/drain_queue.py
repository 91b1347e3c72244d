"""Cost of the archiver on top of Paperless: drain a queue while Paperless answers immediately."""

import asyncio
import hashlib
import json
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path
from time import perf_counter
from uuid import UUID, uuid4

from tests.documents.uploads import a_pdf
from tests.support.fake_paperless.fake import FakePaperless, fake_paperless

from benchmarks.handover.archivers import build_archiver
from benchmarks.handover.baseline_archiving import baseline_effects, baseline_import, baseline_uploads
from benchmarks.handover.instant_api import instant_api
from benchmarks.report import Report
from muniment.handover.archiver.job_state import JobAction
from muniment.handover.archiver.pass_context import PassOutcome
from muniment.handover.queue import HandoverStores
from muniment.handover.sidecar import Sidecar
from muniment.storage.objects.folder.store import VersionedFolderStore
from muniment.telemetry.logs import configure_logs

JOBS = 500
WANTED_RATIO = 1.5
VERSIONS = {2: "2.x", 3: "3.x"}
IMPORTED, IMPORT_SECONDS, WANTED_IMPORT_RATIO = 60, 0.1, 1.2
LONG_QUEUE, WANTED_MB = 100_000, 150
ORGANIZATION = UUID(int=1)


def measure_drain_queue(report: Report) -> None:
    configure_logs("json", "CRITICAL")
    _measure_cost(report)
    for flavour, version in VERSIONS.items():
        _measure_import(report, flavour, version)
    _measure_memory(report)


def _measure_cost(report: Report) -> None:
    contents = [a_pdf(f"Invoice {number}") for number in range(JOBS)]
    with ExitStack() as opened:
        folder = Path(opened.enter_context(tempfile.TemporaryDirectory(prefix="mun-")))
        api = opened.enter_context(instant_api())
        places = [folder / name for name in ("uploads", "same", "drained")]
        for place in places:
            place.mkdir()
        uploads, same, drained = (opened.enter_context(fake_paperless(place)) for place in places)
        alone = asyncio.run(baseline_uploads(uploads, contents))
        effects = asyncio.run(baseline_effects(same, api, places[1], contents))
        ours = asyncio.run(_drain(folder, drained, api, contents))
    report.add(
        f"archiver, {JOBS} jobs drained, each",
        f"{ours / JOBS * 1000:.1f} ms",
        f"{ours / effects:.2f} × the same calls and durable writes, bare; {ours / alone:.1f} × the upload calls alone",
        f"at most {WANTED_RATIO} ×",
    )


def _measure_import(report: Report, flavour: int, version: str) -> None:
    """Measure with a Paperless that takes time for each document, as every real one does."""
    contents = [a_pdf(f"Invoice {number}") for number in range(IMPORTED)]
    with ExitStack() as opened:
        folder = Path(opened.enter_context(tempfile.TemporaryDirectory(prefix="mun-")))
        api = opened.enter_context(instant_api())
        places = [folder / name for name in ("bare", "drained")]
        for place in places:
            place.mkdir()
        bare, drained = (
            opened.enter_context(fake_paperless(place, flavour=flavour, task_seconds=IMPORT_SECONDS))
            for place in places
        )
        alone = asyncio.run(baseline_import(bare, contents))
        ours = asyncio.run(_drain(folder, drained, api, contents))
    report.add(
        f"archiver, {IMPORTED} jobs that Paperless {version} imports in {IMPORT_SECONDS} s each",
        f"{ours:.1f} s",
        f"{ours / alone:.2f} × bare uploads with the same fields until all are imported",
        f"at most {WANTED_IMPORT_RATIO} ×",
    )


async def _drain(folder: Path, server: FakePaperless, api: str, contents: Sequence[bytes]) -> float:
    queue, letters = VersionedFolderStore(folder / "queue"), VersionedFolderStore(folder / "letters")
    for content in contents:
        await _put(queue, content)
    archiver = build_archiver(HandoverStores(queue, letters), server.url, server.token, api)
    began = perf_counter()
    report = await archiver.run()
    took = perf_counter() - began
    await archiver.close()
    assert report.outcome is PassOutcome.DONE, report.as_json
    assert report.actions[JobAction.ARCHIVED] == len(contents)
    return took


async def _put(queue: VersionedFolderStore, content: bytes) -> None:
    sidecar = Sidecar(
        organization_id=ORGANIZATION,
        organization_name="Firma AS",
        document_type="invoice",
        bilko_document_id=uuid4(),
        timestamp=datetime.now(UTC),
        sha256=hashlib.sha256(content).hexdigest(),
    )
    async with queue.writer(sidecar.key.pdf) as writer:
        await writer.write(content)
    await queue.put_if_absent(sidecar.key.sidecar, sidecar.to_bytes())


def _measure_memory(report: Report) -> None:
    """Measure a pass that lists the whole queue and takes the oldest job. Paperless is unavailable, so it ends soon."""
    with tempfile.TemporaryDirectory(prefix="mun-") as folder:
        _fill(Path(folder) / "queue")
        said = subprocess.run(
            [sys.executable, "-m", "benchmarks.handover.long_queue", folder], check=True, capture_output=True, text=True
        )
    facts = json.loads(said.stdout)
    assert facts["queue_depth"] == LONG_QUEUE // 2
    report.add(
        f"archiver, memory of a pass over {LONG_QUEUE:,} objects",
        f"{facts['peak_mb']:.0f} MB",
        f"{facts['idle_mb']:.0f} MB before it; {facts['seconds']:.1f} s",
        f"under {WANTED_MB} MB",
    )


def _fill(root: Path) -> None:
    """Write files without the store, which would sync each of them."""
    folder = root / "org" / str(ORGANIZATION) / "invoice"
    folder.mkdir(parents=True)
    for number in range(LONG_QUEUE // 2):
        for ending in (".pdf", ".meta.json"):
            (folder / f"{number:064x}{ending}").write_bytes(b"{}")
