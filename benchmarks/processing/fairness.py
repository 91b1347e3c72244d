"""How long the note of one organization takes while another organization keeps all slots busy."""

import tempfile
from collections.abc import Sequence
from pathlib import Path
from time import perf_counter, sleep
from uuid import uuid4

import httpx
from tests.support.running_server import RunningServer
from tests.web.demo_organization import new_client

from benchmarks.processing.sample_files import scanned_pages, scanned_pdf, text_pdf
from benchmarks.report import Report, in_ms, percentile

POLL_SECONDS = 0.02
NOTES = 5
GIVE_UP_SECONDS = 600


class Uploader:
    """A signed-in member of one organization with a knowledge base."""

    def __init__(self, client: httpx.Client) -> None:
        self._client = client
        kb_id = client.post("/api/v1/knowledge-bases", json={"name": f"Bench {uuid4()}"}).json()["id"]
        self._path = f"/api/v1/knowledge-bases/{kb_id}/documents"

    def upload(self, name: str, content: bytes) -> str:
        answer = self._client.post(self._path, files={"file": (f"{uuid4()}-{name}", content)})
        return str(answer.raise_for_status().json()["id"])

    def status(self, document_id: str) -> str:
        return str(self._client.get(f"{self._path}/{document_id}").json()["status"])

    def cancel(self, document_id: str) -> None:
        """Stop processing this document, unless it has ended."""
        self._client.post(f"{self._path}/{document_id}/cancel")

    def seconds_of_notes(self) -> list[float]:
        """Return the sorted seconds from the upload to `completed` of notes, one after the other."""
        return sorted(self._seconds_of_note(number) for number in range(NOTES))

    def _seconds_of_note(self, number: int) -> float:
        began = perf_counter()
        document_id = self.upload("note.txt", f"Note {number} {uuid4()}: call the tenant back.".encode())
        while (status := self.status(document_id)) != "completed":
            assert status != "failed"
            assert perf_counter() - began < GIVE_UP_SECONDS, status
            sleep(POLL_SECONDS)
        return perf_counter() - began


def measure_fairness(report: Report) -> None:
    with tempfile.TemporaryDirectory(prefix="mun-") as folder:
        Path(folder).chmod(0o755)
        with RunningServer(Path(folder)) as muniment:
            muniment.start()
            with muniment.client() as operator:
                busy, waiting = Uploader(operator), Uploader(_client_of_another_organization(muniment, operator))
                waiting.seconds_of_notes()  # starts the sandbox
                alone = waiting.seconds_of_notes()
                for what, files in _loads().items():
                    documents = [busy.upload("load", content) for content in files]
                    _wait_until_processing(busy, documents[0])
                    _report_ratio(report, what, alone, waiting.seconds_of_notes())
                    for document_id in documents:
                        busy.cancel(document_id)


def _client_of_another_organization(muniment: RunningServer, operator: httpx.Client) -> httpx.Client:
    organization = operator.post("/api/v1/organizations", json={"name": f"Bench {uuid4()}"}).json()["id"]
    account = {"email": f"{uuid4().hex}@example.org", "password": uuid4().hex}
    operator.post("/api/v1/users", json={**account, "organization_id": organization}).raise_for_status()
    return new_client(muniment, **account)


def _loads() -> dict[str, Sequence[bytes]]:
    same = text_pdf(300, seed=40)
    return {
        "four books": [text_pdf(400, seed=seed) for seed in range(41, 45)],
        "four scans": [scanned_pdf(scanned_pages(12, seed)) for seed in range(45, 49)],
        "sixteen uploads of one new file": [same] * 16,
        "two large texts": [_markdown(1_700_000, 49), _markdown(4_500_000, 50)],
    }


def _markdown(size: int, seed: int) -> bytes:
    paragraph = f"# Chapter {seed}\n\n" + "The tenant pays rent on the first day of each month. " * 20 + "\n\n"
    return "".join(f"{number} {paragraph}" for number in range(size // len(paragraph))).encode()


def _wait_until_processing(uploader: Uploader, document_id: str) -> None:
    began = perf_counter()
    while uploader.status(document_id) == "pending":
        assert perf_counter() - began < GIVE_UP_SECONDS
        sleep(POLL_SECONDS)


def _report_ratio(report: Report, what: str, alone: Sequence[float], contended: Sequence[float]) -> None:
    limit = 2 * percentile(alone, 0.5) + 1
    against = f"{in_ms(percentile(alone, 0.5))} without; worst {in_ms(contended[-1])}"
    wanted = f"at most 2 × + 1 s = {in_ms(limit)}"
    report.add(f"a note beside {what} of others, p50", in_ms(percentile(contended, 0.5)), against, wanted)
