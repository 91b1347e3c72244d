"""The outcome of a run without ids, times and URIs, so that two runs can be compared."""

from typing import Any

from muniment.artifacts.text_packs import pack_key, read_page_text, text_sha256
from muniment.storage.objects.port import ObjectStore
from tests.support.seed import Seed

Rows = list[tuple[Any, ...]]
Results = dict[str, Rows]

SHOWN = {
    "documents": """
        SELECT d.name, d.status, d.processing_status, d.processing_errors, d.last_error, d.total_pages,
               d.total_word_count, d.text_extraction_method, d.processing_started_at IS NOT NULL,
               d.processing_completed_at IS NOT NULL, d.completed_at IS NOT NULL, mine.params_fingerprint,
               revised.params_fingerprint
          FROM documents d JOIN document_revisions r ON r.document_id = d.id
          LEFT JOIN artifacts_full_text mine ON mine.id = d.artifact_text_id
          LEFT JOIN artifacts_full_text revised ON revised.id = r.artifact_text_id
    """,
    "pages": """
        SELECT d.name, p.page_number, p.annotations, p.flags, p.stale_at IS NOT NULL,
               a.page_number, a.params_fingerprint, a.page_text_sha256
          FROM document_pages p JOIN documents d ON d.id = p.document_id
          LEFT JOIN artifact_pages a ON a.id = p.artifact_page_id
    """,
    "paragraphs": """
        SELECT d.name, p.page_number, p.paragraph_index, p.annotations, p.stale_at IS NOT NULL,
               p.paragraph_text_sha256, a.params_fingerprint, a.paragraph_index
          FROM document_paragraphs p JOIN documents d ON d.id = p.document_id
          LEFT JOIN artifact_paragraphs a ON a.id = p.artifact_paragraph_id
    """,
    "diagrams": """
        SELECT d.name, p.page_number, p.diagram_key, p.annotations, p.stale_at IS NOT NULL,
               a.diagram_key, a.params_fingerprint
          FROM document_diagrams p JOIN documents d ON d.id = p.document_id
          LEFT JOIN artifact_diagrams a ON a.id = p.artifact_diagram_id
    """,
}
RECORDED = {
    "runs": """
        SELECT d.name, r.epoch, r.purpose, r.status, r.last_step, r.error, r.artifact_text_id,
               r.saved_seconds IS NOT NULL, r.ended_at IS NOT NULL
          FROM document_processing_runs r JOIN documents d ON d.id = r.document_id
    """,
    "steps": """
        SELECT d.name, r.epoch, s.step_name, s.status, s.error, s.completed_at IS NOT NULL
          FROM document_processing_steps s JOIN document_processing_runs r ON r.run_id = s.run_id
          JOIN documents d ON d.id = r.document_id
    """,
}


def _of(table: str) -> str:
    """Select the text by its organization: content keys differ between organizations."""
    return f"(SELECT min(d.name) FROM documents d WHERE d.content_hmac = {table}.content_hmac)"


COMPUTED = {
    "full texts": f"""
        SELECT {_of("artifacts_full_text")}, algorithm_version, params_fingerprint, full_text_sha256,
               total_pages, total_words, methods, problems, timings IS NOT NULL FROM artifacts_full_text
    """,
    "computed diagrams": f"""
        SELECT {_of("artifact_diagrams")}, algorithm_version, params_fingerprint, page_number, diagram_key, diagram_meta
          FROM artifact_diagrams
    """,
}
_PAGES = f"""
    SELECT {_of("artifact_pages")}, algorithm_version, params_fingerprint, page_number, layout, metrics,
           page_text_sha256, page_text_uri FROM artifact_pages
"""
_PARAGRAPHS = f"""
    SELECT {_of("artifact_paragraphs")}, algorithm_version, params_fingerprint, page_number, paragraph_index,
           features, paragraph_text_sha256, paragraph_text_uri FROM artifact_paragraphs
"""


def shown(seed: Seed) -> Results:
    """Return what users see of their documents."""
    return _asked(seed, SHOWN)


async def everything(seed: Seed, objects: ObjectStore) -> Results:
    """Return that and the artifacts, with their text from the packs and their steps."""
    pages, texts = await _pages(seed, objects)
    return {
        **_asked(seed, {**SHOWN, **RECORDED, **COMPUTED}),
        "computed pages": pages,
        "computed paragraphs": _paragraphs(seed, texts),
    }


def _asked(seed: Seed, questions: dict[str, str]) -> Results:
    return {name: sorted(seed.rows(question), key=repr) for name, question in questions.items()}


async def _pages(seed: Seed, objects: ObjectStore) -> tuple[Rows, dict[str, str]]:
    rows, texts = [], {}
    for *row, sha256, uri in seed.rows(_PAGES):
        texts[uri] = await read_page_text(objects, uri, sha256)  # which checks the hash
        rows.append((*row, sha256, texts[uri]))
    return sorted(rows, key=repr), texts


def _paragraphs(seed: Seed, texts: dict[str, str]) -> Rows:
    rows = []
    for *row, sha256, uri in seed.rows(_PARAGRAPHS):
        page, _, span = uri.partition("&chars=")
        start, end = map(int, span.split("-"))
        text = texts[page][start:end]
        assert text_sha256(text) == sha256
        rows.append((*row, sha256, text))
    return sorted(rows, key=repr)


def referenced(seed: Seed) -> set[str]:
    """Return the keys of the objects that a row references."""
    uris = "SELECT original_uri FROM document_revisions UNION SELECT full_text_uri FROM artifacts_full_text"
    parts = "SELECT page_text_uri FROM artifact_pages UNION SELECT paragraph_text_uri FROM artifact_paragraphs"
    return {pack_key(uri) for (uri,) in seed.rows(f"{uris} UNION {parts}")}


async def stored(objects: ObjectStore) -> set[str]:
    return {info.key async for info in objects.list()}
