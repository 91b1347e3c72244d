"""A folder of small files, dropped on the page and sent by a client of the API with as many requests in parallel."""

import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter, sleep
from uuid import uuid4

import httpx
from playwright.sync_api import Browser, sync_playwright
from tests.support.running_server import EMAIL, PASSWORD, RunningServer
from tests.web.documents_page import drop

from benchmarks.report import Report, in_ms, percentile
from benchmarks.web.documents_page import chromium, chromium_arguments

FILES, TURNS = 1000, 2
REQUESTS, FILES_PER_REQUEST = 3, 20
"""Those of the page: `AT_ONCE` and `MOST_FILES`."""
SETTLE_MS, POLL_MS = 2_000, 200
# One content: what is measured is sending, not processing.
CONTENT = b"The tenant pays on the third of the month. " * 40
_OBSERVE = """
    window.tasks = [];
    new PerformanceObserver((list) => {
        for (const { duration } of list.getEntries()) window.tasks.push(duration / 1000);
    }).observe({ type: "longtask" });
    window.addEventListener("drop", () => { window.began = performance.now() }, { capture: true });
    const send = XMLHttpRequest.prototype.send;
    XMLHttpRequest.prototype.send = function (body) {
        this.addEventListener("load", () => {
            const { results } = JSON.parse(this.responseText);
            window.stored = (window.stored ?? 0) + (results ? results.length : 1);
            window.ended = performance.now();
        });
        return send.call(this, body);
    };
"""


@dataclass(frozen=True)
class Dropped:
    """What a drop on the page took."""

    seconds: float
    long_tasks: Sequence[float]


def measure_folder(report: Report) -> None:
    with tempfile.TemporaryDirectory(prefix="mun-") as folder:
        Path(folder).chmod(0o755)
        files = Path(folder, "letters")
        files.mkdir()
        for number in range(FILES):
            (files / f"letter-{number:04}.txt").write_bytes(CONTENT)
        with RunningServer(Path(folder)) as muniment:
            muniment.start()
            with muniment.client() as client, sync_playwright() as playwright:
                browser = playwright.chromium.launch(executable_path=chromium(), args=chromium_arguments())
                _measure(report, muniment, client, browser, files)
                browser.close()


def _measure(report: Report, muniment: RunningServer, client: httpx.Client, browser: Browser, files: Path) -> None:
    dropped, several, single = [], [], []
    for _ in range(TURNS):
        dropped.append(_drop(muniment, client, browser, files))
        several.append(_send(client, FILES_PER_REQUEST))
        single.append(_send(client, 1))
    page = _median([one.seconds for one in dropped])
    tasks = [task for one in dropped for task in one.long_tasks]
    what = f"folder of {FILES:,} files, {REQUESTS} requests in parallel:"
    report.add(f"{what} API, {FILES_PER_REQUEST} files each", in_ms(_median(several)))
    report.add(f"{what} API, one file each", in_ms(_median(single)), f"{_median(single) / _median(several):.2f} ×")
    report.add(f"{what} dropped on the page", in_ms(page), f"{page / _median(single):.2f} × one file each", "≤ 1 ×")
    longest = f"{len(tasks) / TURNS:.0f} above 50 ms"
    report.add("longest task of the page meanwhile", in_ms(max(tasks, default=0.0)), longest)


def _drop(muniment: RunningServer, client: httpx.Client, browser: Browser, files: Path) -> Dropped:
    kb_id = _new_kb(client)
    context = browser.new_context(base_url=muniment.url, viewport={"width": 1280, "height": 900})
    context.set_default_timeout(120_000)
    assert context.request.post("/api/v1/auth/login", data={"email": EMAIL, "password": PASSWORD}).ok
    page = context.new_page()
    page.add_init_script(_OBSERVE)
    page.goto(f"/kb?id={kb_id}")
    page.get_by_role("button", name="Choose folder").wait_for()
    page.wait_for_timeout(SETTLE_MS)
    page.evaluate("window.tasks.length = 0")
    drop(page, files)
    page.wait_for_function(f"() => window.stored >= {FILES}", polling=POLL_MS)
    seconds = float(page.evaluate("(window.ended - window.began) / 1000"))
    _wait_until_processed(client, kb_id)
    tasks: list[float] = page.evaluate("window.tasks")
    context.close()
    return Dropped(seconds, tasks)


def _send(client: httpx.Client, files_per_request: int) -> float:
    kb_id = _new_kb(client)
    names = [f"letter-{number:04}.txt" for number in range(FILES)]
    batches = [names[start : start + files_per_request] for start in range(0, FILES, files_per_request)]
    url = f"/api/v1/knowledge-bases/{kb_id}/documents"

    def send(batch: Sequence[str]) -> None:
        answer = client.post(url, files=[("file", (name, CONTENT)) for name in batch])
        assert answer.status_code in (201, 207), answer.text

    began = perf_counter()
    with ThreadPoolExecutor(REQUESTS) as threads:
        list(threads.map(send, batches))
    seconds = perf_counter() - began
    _wait_until_processed(client, kb_id)
    return seconds


def _new_kb(client: httpx.Client) -> str:
    return str(client.post("/api/v1/knowledge-bases", json={"name": f"Bench {uuid4()}"}).json()["id"])


def _wait_until_processed(client: httpx.Client, kb_id: str) -> None:
    url = f"/api/v1/knowledge-bases/{kb_id}/documents"
    while client.get(url, params={"limit": 1, "status": "completed"}).raise_for_status().json()["total"] < FILES:
        sleep(0.5)


def _median(seconds: Sequence[float]) -> float:
    return percentile(sorted(seconds), 0.5)
