"""Retrieval quality: real questions whose answers use other words, through our whole pipeline."""

import asyncio
import math
from collections.abc import Mapping, Sequence
from statistics import mean
from uuid import UUID

import numpy as np

from benchmarks.processing.baseline_model import BaselineModel
from benchmarks.report import Report
from benchmarks.retrieval.held_out_faq import PACKAGES, find_fresh_questions
from benchmarks.retrieval.perl_faq import PACKAGE, Questions, find_questions
from benchmarks.search.dataset import SearchDataset, open_search_dataset
from muniment.search.query.request import SearchMode, SearchRequest
from muniment.search.query.service import SearchService
from muniment.storage.vectors.pgvector.search import PgvectorSearch
from muniment.telemetry.logs import configure_logs

DEPTH = 10
INDEXED_PAGES = 20
LOTS = 10_000
ROUNDS = 3


def measure_retrieval(report: Report) -> None:
    """Measure nDCG@10 of both halves and their fusion, and the cost of indexing besides the model."""
    tuned_on, fresh = find_questions(), find_fresh_questions()
    if tuned_on is None or fresh is None:
        report.add("retrieval, nDCG@10", "left out", f"apt-get install {PACKAGE} {PACKAGES}")
        return
    configure_logs("json", "ERROR")
    # `k`, the weight and the lexical ranking were tuned on the questions about Perl, over a hundred settings: only the
    # others, which were first used afterwards, are a clean test.
    asyncio.run(_measure(report, "Perl (chosen on)", tuned_on))
    asyncio.run(_measure(report, "Python and Debian (fresh)", fresh))


async def _measure(report: Report, whose: str, questions: Questions) -> None:
    async with open_search_dataset() as dataset:
        await _measure_indexing(report, dataset, questions)
        answers = [(await dataset.add([section.text]))[0] for section in questions.asked]
        for section in questions.others:
            await dataset.add([section.text])
        dataset.seed.execute("ANALYZE")
        asked = dict(zip((section.question for section in questions.asked), answers, strict=True))
        passages = dataset.seed.one("SELECT count(*) FROM artifact_chunks")
        report.add(f"questions: {whose}", str(len(asked)), f"{passages:,} passages", "at least 200")
        gains = {
            mode: await _gains(dataset, asked, mode) for mode in (SearchMode.TEXT, SearchMode.VECTOR, SearchMode.HYBRID)
        }
        for mode, of_mode in gains.items():
            is_fused = mode is SearchMode.HYBRID
            against = _lead(gains[SearchMode.HYBRID], gains[SearchMode.VECTOR]) if is_fused else ""
            wanted = "more than both" if is_fused else ""
            report.add(f"nDCG@{DEPTH}, {mode}: {whose}", f"{mean(of_mode):.3f}", against, wanted)


def _lead(fused: Sequence[float], vector: Sequence[float]) -> str:
    """Return the lead over the better half, and how often a bootstrap sample confirms it."""
    differences = np.array(fused) - np.array(vector)
    lots = np.random.default_rng(0).choice(differences, (LOTS, len(differences))).mean(axis=1)
    return f"{differences.mean():+.3f} against vector, ahead in {(lots > 0).mean():.0%} of {LOTS:,} lots"


async def _gains(dataset: SearchDataset, asked: Mapping[str, UUID], mode: SearchMode) -> Sequence[float]:
    index = PgvectorSearch(dataset.database)
    searching = SearchService(dataset.database, index, {dataset.embedder.model: dataset.embedder})
    gains = []
    for question, right in asked.items():
        wanted = SearchRequest(question, [dataset.artifacts_env.kb_id], mode, limit=DEPTH)
        answer = await searching.search(dataset.artifacts_env.owner.principal, wanted)
        gains.append(gain([hit.passage.document_id for hit in answer.hits], right))
    return gains


def gain(found: Sequence[UUID], right: UUID) -> float:
    """Return nDCG with exactly one right document: 1 if it is first, less further down."""
    return 1 / math.log2(found.index(right) + 2) if right in found else 0.0


async def _measure_indexing(report: Report, dataset: SearchDataset, questions: Questions) -> None:
    pages = [section.text for section in questions.others[-INDEXED_PAGES:]]
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
