"""Cost of submitting a PDF for the calling application, compared with the bare writes it cannot do without."""

import io
import os
import tempfile
from pathlib import Path
from uuid import uuid4

import httpx
from reportlab.pdfgen.canvas import Canvas
from tests.support.running_server import RunningServer

from benchmarks.report import Report, in_ms, percentile, timed

WARMING, TIMES = 5, 150
WANTED_MS = 50


def measure_submission(report: Report) -> None:
    with tempfile.TemporaryDirectory(prefix="mun-") as folder:
        Path(folder).chmod(0o755)
        with RunningServer(Path(folder)) as muniment:
            muniment.start()
            with muniment.client() as client:
                organization_id = client.get("/api/v1/auth/me").json()["organization_id"]
                _measure(report, muniment.data_dir, client, f"/api/v1/organizations/{organization_id}/archive")


def _measure(report: Report, data_dir: Path, client: httpx.Client, path: str) -> None:
    plain = _a_megabyte()
    bare = timed(lambda: _write_durably(data_dir / "bench.tmp", plain), times=TIMES)
    timed(lambda: _submit(client, path, plain), times=WARMING)
    handed = timed(lambda: _submit(client, path, plain), times=TIMES)
    against = f"{percentile(handed, 0.5) / percentile(bare, 0.5):.1f} × a bare write of PDF and sidecar, with fsync"
    report.add("hand-over of a 1 MB PDF, p50", in_ms(percentile(handed, 0.5)), against)
    report.add("hand-over of a 1 MB PDF, p95", in_ms(percentile(handed, 0.95)), wanted=f"at most {WANTED_MS} ms")


def _submit(client: httpx.Client, path: str, plain: bytes) -> None:
    """Submit files with different bytes, as real documents have."""
    content = plain + b"%% %s\n%%%%EOF\n" % uuid4().hex.encode()
    fields = {"document_type": "invoice", "document_id": str(uuid4()), "metadata": '{"invoiceNumber": "2026-1"}'}
    client.post(path, files={"file": ("invoice.pdf", content)}, data=fields).raise_for_status()


def _a_megabyte() -> bytes:
    buffer = io.BytesIO()
    canvas = Canvas(buffer, invariant=1)
    canvas.drawString(72, 720, "An invoice")
    canvas.save()
    pdf = buffer.getvalue()
    return pdf + b"% " + os.urandom(500_000).hex().encode()[: 1_000_000 - len(pdf)] + b"\n"


def _write_durably(path: Path, plain: bytes) -> None:
    for data in (plain, b"{}" * 200):
        with path.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
    path.unlink()
