"""Search in large collections: recall of the HNSW index and latency of a whole request."""

import tempfile
from collections.abc import Sequence
from pathlib import Path
from statistics import mean
from time import perf_counter
from uuid import UUID

import httpx
import uvloop
from tests.support.live_api import running_api, settings_for

from benchmarks.report import Report, in_ms, percentile
from benchmarks.search.baseline_search import BaselineSearch
from benchmarks.search.dataset import SearchDataset, open_search_dataset
from benchmarks.search.synthetic_corpus import COMMON, KBS, SyntheticCorpus
from muniment.search.variants import variant_for
from muniment.storage.vectors.pgvector.search import PgvectorSearch
from muniment.telemetry.logs import configure_logs

SIZES = (100_000, 1_000_000)
SCOPE_CHUNKS = 5_000
"""The same at every size: ten knowledge bases of the small set hold as much as one of the large set."""
COMMON_KBS = 20
TIMES = 40
RECALL_SCOPES = {100_000: (1, 3, 10), 1_000_000: (41, 80)}
"""Numbers of knowledge bases: the hardest cases for HNSW in the small set, and those that use it in the large one."""
FOREIGN_UP_TO = 10
"""A scope of more knowledge bases covers all subjects."""
RECALL_QUESTIONS = 20
NEAREST = 10
ASKED = "word7 about word31 and word205"


def measure_search(report: Report) -> None:
    configure_logs("json", "ERROR")  # otherwise the output is full of request logs
    uvloop.run(_measure(report))  # as the API does


async def _measure(report: Report) -> None:
    async with open_search_dataset() as dataset:
        crowd = SyntheticCorpus(dataset)
        p95 = []
        for size in SIZES:
            crowd.grow(size)
            await _measure_recall(report, dataset, crowd)
            p95.append(await _measure_requests(report, dataset, crowd))
        growth = f"{p95[-1] / p95[0]:.2f} × that of {SIZES[0]:,}"
        report.add(f"growth to {SIZES[-1]:,} chunks at equal scope", growth, wanted="at most 2 ×")


async def _measure_recall(report: Report, dataset: SearchDataset, crowd: SyntheticCorpus) -> None:
    """Measure the share of the exact nearest passages in scope that the HNSW index finds."""
    model = variant_for(dataset.embedder)
    exact, approximate = (PgvectorSearch(dataset.database, exact_search_limit=most) for most in (crowd.size, 0))

    async def nearest(index: PgvectorSearch, kb_ids: Sequence[UUID], vector: Sequence[float]) -> set[tuple[UUID, int]]:
        async with dataset.database.work(dataset.artifacts_env.owner.principal) as work:
            found = await index.nearest(work, model, kb_ids, vector, limit=NEAREST)
        return {(candidate.document_id, candidate.chunk_index) for candidate in found}

    for is_foreign in (False, True):
        for kbs in RECALL_SCOPES[crowd.size]:
            if is_foreign and kbs > FOREIGN_UP_TO:
                continue
            shares, seconds = [], []
            for _ in range(RECALL_QUESTIONS):
                question = crowd.question(kbs, is_foreign=is_foreign)
                began = perf_counter()
                found = await nearest(approximate, *question)
                seconds.append(perf_counter() - began)
                shares.append(len(found & await nearest(exact, *question)) / NEAREST)
            subjects = "others'" if is_foreign else "own"
            what = f"{crowd.size:,} chunks: recall@{NEAREST} of HNSW, {kbs} of {KBS} KBs, {subjects} subjects"
            against = f"p95 {in_ms(percentile(sorted(seconds), 0.95))}"
            report.add(what, f"{mean(shares):.3f}", against, "at least 0.95")


async def _measure_requests(report: Report, dataset: SearchDataset, crowd: SyntheticCorpus) -> float:
    """Return the p95 of a whole hybrid request, at the scope that is the same for all sizes."""
    embedding = await _seconds_of_embedding(dataset)
    bare = BaselineSearch(dataset.address)
    name = f"{crowd.size:,} chunks"
    report.add(f"{name}: embedding a question, p50", in_ms(embedding))
    with tempfile.TemporaryDirectory() as folder:
        settings = settings_for(dataset.address, Path(folder))
        async with running_api(settings) as api, api.client(dataset.artifacts_env.owner) as client:
            kbs = max(1, SCOPE_CHUNKS * KBS // crowd.size)
            whole, least = await _requests(client, crowd, bare, kbs, ASKED)
            wanted = f"at most {in_ms(2 * (least + embedding) + 0.015)}"
            against = f"bare {in_ms(least)} + {in_ms(embedding)}"
            report.add(f"{name}: search in {SCOPE_CHUNKS:,}, p95", in_ms(whole), against, wanted)
            for mode in ("text", "hybrid"):
                common, least = await _requests(client, crowd, bare, COMMON_KBS, COMMON, mode=mode)
                what = f"{name}: a common word over {COMMON_KBS} KBs, {mode}, p95"
                report.add(what, in_ms(common), f"bare {in_ms(least)}", "under 150 ms")
    bare.close()
    return whole


async def _requests(
    client: httpx.AsyncClient, crowd: SyntheticCorpus, bare: BaselineSearch, kbs: int, words: str, mode: str = "hybrid"
) -> tuple[float, float]:
    """Return the p95 of the request and of the bare queries, alternating so that both have the same conditions. Each
    uses its own question: the second one in the same knowledge bases would find their pages in memory."""
    whole, least = [], []
    query = " | ".join(word for word in words.split() if word not in ("about", "and"))
    for _ in range(TIMES):
        kb_ids, vector = crowd.question(kbs, is_foreign=False)
        asked = {"q": words, "mode": mode, "kb_id": [str(kb_id) for kb_id in kb_ids]}
        began = perf_counter()
        (await client.get("/api/v1/search", params=asked)).raise_for_status()
        whole.append(perf_counter() - began)
        kb_ids, vector = crowd.question(kbs, is_foreign=False)
        began = perf_counter()
        bare.ask(kb_ids, vector, query, kbs * crowd.size // KBS)
        least.append(perf_counter() - began)
    return percentile(sorted(whole), 0.95), percentile(sorted(least), 0.95)


async def _seconds_of_embedding(dataset: SearchDataset) -> float:
    seconds = []
    for number in range(TIMES):
        began = perf_counter()
        await dataset.embedder.embed_query(f"{ASKED} {number}")
        seconds.append(perf_counter() - began)
    return percentile(sorted(seconds), 0.5)
