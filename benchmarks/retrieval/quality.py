"""Retrieval quality of the API beside plain BM25 and the bare model, on the same passages in the same run."""

import asyncio
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import mean
from uuid import UUID

import httpx
from tests.support.live_api import running_api, settings_for

from benchmarks.processing.baseline_model import BaselineModel
from benchmarks.report import Report
from benchmarks.retrieval.baselines import rank_by_bm25, rank_by_model
from benchmarks.retrieval.collection import Collection
from benchmarks.retrieval.cranfield import FOLDER_VARIABLE, find_cranfield
from benchmarks.retrieval.metrics import DEPTH, Quality, distinct, measure_rankings
from benchmarks.retrieval.nonsense import read_nonsense
from benchmarks.retrieval.perl_faq import find_perl_faq
from benchmarks.retrieval.python_faq import find_python_and_debian_faq
from benchmarks.search.dataset import SearchDataset, open_search_dataset
from muniment.search.embedding.calibration import ModelCalibration
from muniment.search.query.calibrations import CalibrationCache
from muniment.search.query.request import SearchMode, SearchRequest
from muniment.search.query.service import SearchService
from muniment.storage.db.principal import Principal
from muniment.storage.db.work import Work
from muniment.storage.vectors.pgvector.search import PgvectorSearch
from muniment.storage.vectors.port import IndexingVariant
from muniment.telemetry.logs import configure_logs

LIMIT = 50
"""The most passages that a request returns: enough for ten documents."""
INDEXED_PAGES = 20
ROUNDS = 3
METRICS = f"nDCG@{DEPTH} / recall@{DEPTH} / MRR"


def measure_retrieval(report: Report) -> None:
    """Measure all modes on each collection. Limits and weights were chosen on the first two, never on Cranfield."""
    configure_logs("json", "ERROR")
    ratios = []
    for find, remedy in (
        (find_perl_faq, "tools/setup bench"),
        (find_python_and_debian_faq, "tools/setup bench"),
        (find_cranfield, f"{FOLDER_VARIABLE}=<folder of cran.all.1400, cran.qry and cranqrel>"),
    ):
        if collection := find():
            ratios.append(asyncio.run(_measure(report, collection)))
        else:
            name = find.__name__.removeprefix("find_").replace("_", " ")
            report.add(f"RETRIEVAL, {name}", "LEFT OUT", remedy)
    if ratios:
        report.add("hybrid / better half, mean of the collections", f"{mean(ratios):.3f}", "", "at least 1.03")


async def _measure(report: Report, collection: Collection) -> float:
    """Return the ratio of hybrid search to its better half."""
    async with open_search_dataset() as dataset:
        if collection.name == "Perl":
            await _measure_indexing(report, dataset, collection)
        documents = [(await dataset.add([text]))[0] for text in collection.texts]
        dataset.seed.execute("ANALYZE")
        passages = dataset.list_passages()
        queries = [question.text for question in collection.questions]
        relevant = [frozenset(documents[n] for n in question.relevant) for question in collection.questions]
        size = f"{len(documents):,} documents, {len(passages):,} passages"
        report.add(f"{collection.name}: questions", str(len(queries)), size)
        bm25 = measure_rankings(rank_by_bm25(passages, queries), relevant)
        model = measure_rankings(await rank_by_model(passages, queries, dataset.embedder), relevant)
        with tempfile.TemporaryDirectory() as folder:
            settings = settings_for(dataset.address, Path(folder))
            async with running_api(settings) as api, api.client(dataset.artifacts_env.owner) as client:
                asked = _Asking(client, dataset.artifacts_env.kb_id)
                text, vector, hybrid = [
                    measure_rankings([await asked.documents(query, mode) for query in queries], relevant)
                    for mode in (SearchMode.TEXT, SearchMode.VECTOR, SearchMode.HYBRID)
                ]
                _report_modes(report, collection.name, {"bm25s": bm25, "model": model}, text, vector, hybrid)
                await _measure_limit(report, dataset, collection.name, asked, queries, relevant)
        return hybrid.ndcg / max(text.ndcg, vector.ndcg)


def _report_modes(
    report: Report, name: str, baselines: dict[str, Quality], text: Quality, vector: Quality, hybrid: Quality
) -> None:
    for label, quality, baseline, wanted in (
        ("text", text, "bm25s", "at least 0.98 ×"),
        ("vector", vector, "model", "at least 0.99 ×"),
    ):
        against = f"{quality.ndcg / baselines[baseline].ndcg:.3f} × {baseline}: {baselines[baseline]}"
        report.add(f"{name}: {METRICS}, {label}", str(quality), against, wanted)
    ratio = f"{hybrid.ndcg / max(text.ndcg, vector.ndcg):.3f} × the better half"
    report.add(f"{name}: {METRICS}, hybrid", str(hybrid), ratio, "at least 1 ×")


@dataclass(frozen=True)
class _Asking:
    client: httpx.AsyncClient
    kb_id: UUID

    async def documents(self, query: str, mode: SearchMode = SearchMode.HYBRID) -> list[UUID]:
        asked = {"q": query, "mode": mode.value, "limit": LIMIT, "kb_id": str(self.kb_id)}
        answer = (await self.client.get("/api/v1/search", params=asked)).raise_for_status()
        return distinct(UUID(item["document_id"]) for item in answer.json()["items"])


class _NoCalibration(CalibrationCache):
    async def find(self, work: Work[Principal], model: IndexingVariant) -> ModelCalibration | None:
        return None


async def _measure_limit(
    report: Report,
    dataset: SearchDataset,
    name: str,
    asked: _Asking,
    queries: Sequence[str],
    relevant: Sequence[frozenset[UUID]],
) -> None:
    """Measure what the lower limit of similarity hides: nonsense, and answers that were among the first ten."""
    nonsense = read_nonsense()
    for mode in (SearchMode.VECTOR, SearchMode.TEXT, SearchMode.HYBRID):
        hits = [query for query in nonsense if await asked.documents(query, mode)]
        report.add(f"{name}: nonsense that finds something, {mode}", f"{len(hits)} of {len(nonsense)}", "", "at most 4")
    index = PgvectorSearch(dataset.database)
    embedders = {dataset.embedder.model: dataset.embedder}
    unlimited = SearchService(dataset.database, index, embedders, calibrations=_NoCalibration())
    lost = 0
    for query, answers in zip(queries, relevant, strict=True):
        request = SearchRequest(query, [dataset.artifacts_env.kb_id], limit=LIMIT)
        found = await unlimited.search(dataset.artifacts_env.owner.principal, request)
        before = distinct(hit.passage.document_id for hit in found.hits)[:DEPTH]
        lost += bool(answers.intersection(before)) and not answers.intersection(await asked.documents(query))
    report.add(f"{name}: answers lost to the limit", f"{lost / len(queries):.1%}", "", "at most 1 %")


async def _measure_indexing(report: Report, dataset: SearchDataset, collection: Collection) -> None:
    pages = collection.texts[-INDEXED_PAGES:]
    await dataset.embedder.embed(pages[:1])  # loads the model
    aside = dataset.seed.knowledge_base(dataset.artifacts_env.owner)
    model, whole, bare, count = BaselineModel(), list[float](), list[float](), 0
    for _ in range(ROUNDS):  # alternate, and take the best of each: other load slows both down
        _, index, seconds = await dataset.add(pages, aside)
        whole.append(seconds)
        bare.append(model.seconds([chunk.text for chunk in index.chunks]))
        count = len(index.chunks)
    against = f"{min(bare) / min(whole):.2f} × the bare model ({count / min(bare):.0f})"
    what = f"indexing {INDEXED_PAGES} pages, chunks a second"
    report.add(what, f"{count / min(whole):.0f}", against, "at least 0.8 ×")
