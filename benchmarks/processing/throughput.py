"""Cost of processing from the upload to `completed`, compared with the bare libraries in the same run."""

import os
import resource
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from pathlib import Path
from time import perf_counter, sleep
from typing import Any, LiteralString
from uuid import uuid4

import httpx
import psutil
import psycopg
from PIL import Image
from tests.support.running_server import RunningServer

from benchmarks.http.requests import app_login
from benchmarks.processing.baseline_model import BaselineModel
from benchmarks.processing.sample_files import scanned_pages, scanned_pdf, smallest_pdf, text_pdf
from benchmarks.report import Report, in_ms, percentile
from muniment.processing.readers.ocr.engine import engine_environment, find_engine
from muniment.search.embedding.local import LocalEmbedder
from muniment.search.indexing.chunking import ChunkOptions, SourcePage, make_chunks

POLL_SECONDS = 0.002
POLL_SHARE = 0.01
"""Polling interval as a share of the elapsed time. More frequent polling took up to a tenth of the measured CPU."""
SMALL_FILES, MANY_FILES = 50, 2000
OCR_TURNS, OCR_PAGES = 2, 16
"""Per document, so that both cores are busy most of the time, not only at its start and end."""
SHORT_PAGE_LINES = 9
"""The model alone needs a quarter of an hour for 2,000 full pages."""
ENDED = {"completed", "failed"}


@dataclass(frozen=True)
class BenchmarkServer:
    """A running installation: its API, and its database for waiting, because polling the API would take a good part of
    what is measured."""

    client: httpx.Client
    rows: psycopg.Connection


class BenchmarkKnowledgeBase:
    """A knowledge base of a running installation."""

    def __init__(self, server: BenchmarkServer) -> None:
        self._client, self._rows = server.client, server.rows
        self.kb_id = self._new()
        self.path = f"/api/v1/knowledge-bases/{self.kb_id}/documents"

    def _new(self) -> str:
        return str(self._client.post("/api/v1/knowledge-bases", json={"name": f"Bench {uuid4()}"}).json()["id"])

    def upload(self, content: bytes) -> str:
        files = {"file": (f"{uuid4()}.pdf", content)}
        return str(self._client.post(self.path, files=files).raise_for_status().json()["id"])

    def seconds_to_completed(self, content: bytes) -> float:
        """Return the seconds until the document is found by keywords. Vectors follow before this returns, so that they
        do not disturb what is measured next."""
        return self.seconds_to_both(content)[0]

    def seconds_to_both(self, content: bytes) -> tuple[float, float]:
        """Return the seconds until the document is found by keywords, and until all its vectors exist."""
        began = perf_counter()
        self.wait(self.upload(content))
        completed = perf_counter() - began
        self.wait_for_vectors()
        return completed, perf_counter() - began

    def wait(self, document_id: str) -> None:
        status = self._wait_until("SELECT status FROM documents WHERE id = %s", document_id, ENDED.__contains__)
        assert status == "completed", self._client.get(f"{self.path}/{document_id}").text

    def seconds_of_reading(self) -> float:
        """Return the seconds of the newest document from the start of its run to the end of `ExtractText`."""
        newest = self._client.get(self.path, params={"sort": "-created_at", "limit": 1}).json()["items"][0]["id"]
        run = self._client.get(f"{self.path}/{newest}/runs").json()["items"][0]
        (read,) = (step for step in run["steps"] if step["name"] == "ExtractText")
        began, ended = (datetime.fromisoformat(at) for at in (run["created_at"], read["completed_at"]))
        return (ended - began).total_seconds()

    def wait_for_vectors(self) -> None:
        """Wait until all passages of the completed documents have vectors."""
        missing = """
            SELECT coalesce(sum(passages - passages_embedded + CASE WHEN is_embedded THEN 0 ELSE 1 END), 0)
              FROM count_document_passages(ARRAY(SELECT id FROM documents WHERE knowledge_base_id = %s))
        """
        self._wait_until(missing, self.kb_id, lambda found: found == 0)

    def wait_for(self, number: int) -> None:
        completed = "SELECT count(*) FROM documents WHERE knowledge_base_id = %s AND status = 'completed'"
        self._wait_until(completed, self.kb_id, lambda found: found >= number)

    def _wait_until(self, statement: LiteralString, value: str, is_so: Callable[[Any], bool]) -> Any:
        began = perf_counter()
        while True:
            row = self._rows.execute(statement, [value]).fetchone()
            assert row is not None
            if is_so(row[0]):
                return row[0]
            sleep(max(POLL_SECONDS, POLL_SHARE * (perf_counter() - began)))


def measure_processing(report: Report) -> None:
    with tempfile.TemporaryDirectory(prefix="mun-") as folder:
        Path(folder).chmod(0o755)
        with RunningServer(Path(folder)) as muniment:
            muniment.start()
            with muniment.client() as client, psycopg.connect(app_login(muniment).conninfo, autocommit=True) as rows:
                me = client.get("/api/v1/auth/me").json()["id"]
                rows.execute("SELECT set_config('app.user_id', %s, false)", [me])
                server = BenchmarkServer(client, rows)
                BenchmarkKnowledgeBase(server).seconds_to_completed(text_pdf(1, seed=0))  # starts the sandbox
                _measure_text_first(report, server)
                _measure_second_upload(report, server)
                _measure_throughput(report, server)
                _measure_reading(report)
                _measure_small_files(report, server)
                _measure_ocr(report, server)
                _measure_memory(report, muniment, server)


def _measure_text_first(report: Report, server: BenchmarkServer) -> None:
    """Measure when documents of different lengths are found by keywords, and when by meaning."""
    for pages, lines in ((1, 45), (10, 45), (100, 45), (1000, SHORT_PAGE_LINES)):
        text, vectors = BenchmarkKnowledgeBase(server).seconds_to_both(text_pdf(pages, seed=500 + pages, lines=lines))
        what = f"{pages:,} page{'s' if pages > 1 else ''}, from the upload to search by keywords"
        against = f"{text / vectors:.2f} × until all vectors exist ({vectors:.2f} s)"
        report.add(what, in_ms(text), against, "at most 1/5" if pages == 100 else "")


def _measure_second_upload(report: Report, server: BenchmarkServer) -> None:
    hundred = text_pdf(100, seed=1)
    first = BenchmarkKnowledgeBase(server).seconds_to_both(hundred)[1]
    again = sorted(BenchmarkKnowledgeBase(server).seconds_to_completed(hundred) for _ in range(20))
    against = f"1/{first / percentile(again, 0.5):.0f} of the first with its vectors ({first:.2f} s)"
    report.add("second upload of 100 pages, p50", in_ms(percentile(again, 0.5)), against, "at most 1/20")
    report.add("second upload of 100 pages, p95", in_ms(percentile(again, 0.95)), wanted="under 100 ms")
    seconds = {pages: _known(server, text_pdf(pages, seed=2, lines=4)) for pages in (10, 1000)}
    ratio = seconds[1000] / seconds[10]
    report.add("known 1,000 pages, after the upload", in_ms(seconds[1000]), f"{ratio:.1f} × 10 pages", "at most 2 ×")


def _known(server: BenchmarkServer, content: bytes) -> float:
    """Return the median seconds from the end of the upload to completed."""
    BenchmarkKnowledgeBase(server).seconds_to_completed(content)
    seconds = []
    for _ in range(9):
        kb = BenchmarkKnowledgeBase(server)
        document_id = kb.upload(content)
        began = perf_counter()
        kb.wait(document_id)
        seconds.append(perf_counter() - began)
    return percentile(sorted(seconds), 0.5)


def _measure_throughput(report: Report, server: BenchmarkServer) -> None:
    files = [text_pdf(20, seed=seed) for seed in range(100, 110)]
    pages = 20 * len(files)
    bare = _baseline_seconds(files)
    kb = BenchmarkKnowledgeBase(server)
    began = perf_counter()
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(kb.upload, files))
    kb.wait_for(len(files))
    kb.wait_for_vectors()
    whole = perf_counter() - began
    against = f"{bare / whole:.2f} × bare PDFium and bare model ({pages / bare:.1f})"
    report.add("text PDFs with their vectors, pages a second", f"{pages / whole:.1f}", against, "at least 0.5 ×")


def _baseline_seconds(files: Sequence[bytes]) -> float:
    """Extract the text with PDFium in one process per file, and embed the passages that we would make of it."""
    began = perf_counter()
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        texts = list(pool.map(_baseline_text, files))
    read = perf_counter() - began
    embedder = LocalEmbedder()
    options = ChunkOptions(max_tokens=embedder.max_tokens)
    sources = [
        SourcePage(number, page, []) for text in texts for number, page in enumerate(text.split("\f"), 1) if page
    ]
    passages = [chunk.text for page in sources for chunk in make_chunks(page, embedder.count_tokens, options)]
    return read + BaselineModel().seconds(passages)


def _measure_reading(report: Report) -> None:
    """Compare the CPU time of reading 100 dense pages with that of `pdftotext`, alternating, the best of each."""
    what = "reading 100 dense pages, CPU time"
    if shutil.which("pdftotext") is None:
        report.add(what, "not measured", "pdftotext is missing: install poppler-utils", "at most 8 ×")
        return
    with tempfile.NamedTemporaryFile(suffix=".pdf") as file:
        file.write(text_pdf(100, seed=4))
        file.flush()
        ours, bare = [], []
        for _ in range(5):
            ours.append(_cpu_seconds([sys.executable, "-c", READING_PROGRAM, file.name]))
            bare.append(_cpu_seconds(["pdftotext", file.name, os.devnull]))
        start = min(_cpu_seconds([sys.executable, "-c", READING_PROGRAM]) for _ in range(3))
    ratio = (min(ours) - start) / min(bare)
    report.add(what, in_ms(min(ours) - start), f"{ratio:.1f} × pdftotext ({in_ms(min(bare))})", "at most 8 ×")


READING_PROGRAM = """
import gc, sys
gc.set_threshold(50_000)  # as in the child of the sandbox
from muniment.processing.readers.contract import ReaderResources, ReadingOptions
from muniment.processing.readers.pdf.reader import open_file
from muniment.processing.sandbox.protocol.frames import encode_page
for path in sys.argv[1:]:
    with open(path, "rb") as file:
        for page in open_file(file, "application/pdf", ReadingOptions(), ReaderResources()).pages:
            encode_page(page)
"""


def _cpu_seconds(command: Sequence[str]) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


BASELINE_PROGRAM = r"""
import sys
from pypdfium2 import PdfDocument
for page in PdfDocument(sys.stdin.buffer.read()):
    print(page.get_textpage().get_text_range(), end="\f")
"""


def _baseline_text(content: bytes) -> str:
    done = subprocess.run([sys.executable, "-c", BASELINE_PROGRAM], input=content, check=True, capture_output=True)
    return done.stdout.decode()


def _measure_small_files(report: Report, server: BenchmarkServer) -> None:
    rates = []
    for attempt in range(3):
        files = [smallest_pdf(1000 * attempt + number) for number in range(SMALL_FILES)]
        kb = BenchmarkKnowledgeBase(server)
        began = perf_counter()
        with ThreadPoolExecutor(10) as pool:
            list(pool.map(kb.upload, files))
        kb.wait_for(SMALL_FILES)
        rates.append(SMALL_FILES / (perf_counter() - began))
        kb.wait_for_vectors()
    what = f"{SMALL_FILES} smallest PDFs at once, documents a second"
    report.add(what, f"{max(rates):.1f}", "2.0: Paperless-ngx 3 on such a machine", "40")


def _measure_ocr(report: Report, server: BenchmarkServer) -> None:
    """Alternate, and take the best of each, so that other load does not affect only one of the two."""
    pictures = scanned_pages(OCR_PAGES * OCR_TURNS, seed=3)
    bare, reading, whole = [], [], []
    for turn in range(OCR_TURNS):
        some = pictures[OCR_PAGES * turn : OCR_PAGES * (turn + 1)]
        bare.append(len(some) / _baseline_ocr(some))
        kb = BenchmarkKnowledgeBase(server)
        whole.append(len(some) / kb.seconds_to_both(scanned_pdf(some))[1])
        reading.append(len(some) / kb.seconds_of_reading())
    for what, rates, wanted in (("", reading, "at least 0.8 ×"), (", passages and vectors included", whole, "")):
        against = f"{max(rates) / max(bare):.2f} × the bare engine ({max(bare):.2f})"
        report.add(f"OCR pages a second, both cores{what}", f"{max(rates):.2f}", against, wanted)


def _baseline_ocr(pictures: Sequence[Image.Image]) -> float:
    """Recognize the same images with the same engine and options, with one process per core."""
    engine = find_engine()
    assert engine is not None
    with tempfile.TemporaryDirectory() as folder:
        paths = [Path(folder) / f"{number}.png" for number in range(len(pictures))]
        for path, picture in zip(paths, pictures, strict=True):
            picture.save(path, compress_level=1)
        options = ["-l", "deu+eng", "--dpi", "200", "-c", "thresholding_method=2", "tsv"]
        run = partial(subprocess.run, env=engine_environment(engine.data_folder), check=True, capture_output=True)
        began = perf_counter()
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            list(pool.map(lambda path: run([engine.path, str(path), "stdout", *options]), paths))
        return perf_counter() - began


def _measure_memory(report: Report, muniment: RunningServer, server: BenchmarkServer) -> None:
    worker = muniment.child(r"muniment worker$")
    kb = BenchmarkKnowledgeBase(server)
    for number in range(100):
        kb.upload(smallest_pdf(10_000 + number))
    kb.wait_for(100)
    before = worker.memory_info().rss
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(kb.upload, (smallest_pdf(20_000 + number) for number in range(MANY_FILES))))
    kb.wait_for(100 + MANY_FILES)
    after = worker.memory_info().rss
    grown = f"{after / before - 1:+.1%} since the first hundred"
    report.add(f"memory of the worker after {MANY_FILES:,} documents", f"{after / 1e6:.0f} MB", grown, "within ±10 %")
    peaks = {pages: _peak(muniment, kb, text_pdf(pages, seed=4, lines=SHORT_PAGE_LINES)) for pages in (20, 2000)}
    ratio = f"{peaks[2000] / peaks[20]:.2f} × that of 20 pages"
    report.add("memory for 2,000 pages, worker and readers", f"{peaks[2000] / 1e6:.0f} MB", ratio, "at most 3 ×")


def _peak(muniment: RunningServer, kb: BenchmarkKnowledgeBase, content: bytes) -> float:
    """Return the peak memory of the worker and its descendants while this was processed."""
    worker = muniment.child(r"muniment worker$")
    document_id, peak = kb.upload(content), 0.0
    with ThreadPoolExecutor(1) as pool:
        done = pool.submit(kb.wait, document_id)
        while not done.done():
            peak = max(peak, _private_bytes(worker))
            sleep(0.02)
        done.result()
    return peak


def _private_bytes(worker: psutil.Process) -> float:
    total = 0.0
    for process in (worker, *worker.children(recursive=True)):
        with suppress(psutil.Error):
            # Pages that a fork shares with its server count once.
            total += process.memory_full_info().uss
    return total
