"""Inspect the stores directly: rows as the superuser, files of the folder, points of the index."""

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from tests.faults.moves.installation import InProcessInstallation
from tests.faults.moves.moves import KB, NOT_THERE, DocumentState, Prepared, Step
from tests.faults.moves.snapshots import points_of
from tests.faults.results import referenced
from tests.lifecycle.purge.harness import EVERYWHERE

NEW_LINES = """
    SELECT document_id, action FROM audit_events
     WHERE id NOT IN (SELECT id FROM kept.audit_events) AND (document_id IS NOT NULL OR action LIKE 'knowledge_base%%')
     ORDER BY id
"""
LEAVING = "SELECT CASE WHEN leaving_since IS NULL THEN 'there' ELSE 'leaving' END FROM knowledge_bases WHERE id = %s"
UNUSED = """
    SELECT count(*) FROM artifacts_full_text t
     WHERE NOT EXISTS (SELECT FROM document_revisions r WHERE r.content_hmac = t.content_hmac)
"""
ERASED = "SELECT target FROM deletions WHERE store = 'blobs' AND outcome = 'erased'"
IDLE_JOBS = """
    SELECT count(*) FROM procrastinate_jobs WHERE task_name = 'processing.run'
       AND queueing_lock NOT IN (SELECT run_id::text FROM document_processing_runs)
"""
STATE = """
    SELECT 'documents', name || status || epoch || revision FROM documents
    UNION ALL SELECT 'deletions', store || reason || (done_at IS NULL) || (attempts > 0) FROM deletions
    UNION ALL SELECT 'index_intents', wanted || (attempts > 0) FROM index_intents
    UNION ALL SELECT 'receipts', document_name || (signed_at IS NULL) || coalesce(points, -1) FROM receipts
    UNION ALL SELECT 'jobs', status::text FROM procrastinate_jobs
    UNION ALL SELECT 'runs', epoch || status FROM document_processing_runs
    UNION ALL SELECT 'audit', action FROM audit_events
    UNION ALL SELECT 'seals', '' FROM audit_seals
    UNION ALL SELECT 'uploads', '' FROM uploads
    UNION ALL SELECT 'texts', '' FROM artifacts_full_text
    UNION ALL SELECT 'chunks', '' FROM artifact_chunks
    UNION ALL SELECT 'knowledge bases', (leaving_since IS NULL)::text FROM knowledge_bases
"""


def seen(installation: InProcessInstallation, prepared: Prepared) -> Mapping[str, DocumentState]:
    """Return every document of the move, including the one it creates, and the knowledge base."""
    seed, said = installation.seed, _lines(installation)
    rows = seed.rows("SELECT id, status, original_uri FROM documents")
    ids = {document_id: name for name, document_id in prepared.documents.items()}
    ids |= {row[0]: "new" for row in rows if row[0] not in ids}
    found = {ids.get(one, "new"): DocumentState(None, None, tuple(lines)) for one, lines in said.items() if one}
    found |= {
        ids[document_id]: DocumentState(status, _content(installation, key), tuple(said.get(document_id, ())))
        for document_id, status, key in rows
    }
    status = seed.rows(LEAVING, installation.kb_id)
    found[KB] = DocumentState(status[0][0] if status else None, None, tuple(said.get(None, ())))
    return found


def _lines(installation: InProcessInstallation) -> dict[UUID | None, list[str]]:
    said: dict[UUID | None, list[str]] = {}
    for document_id, action in installation.seed.rows(NEW_LINES):
        said.setdefault(document_id, []).append(action)
    return said


def _content(installation: InProcessInstallation, key: str) -> bytes | None:
    path = installation.folder / key
    return path.read_bytes() if path.exists() else None


def step_of(found: Mapping[str, DocumentState], way: Sequence[Step]) -> int | None:
    """Return the step at which the documents are, or None if they are at none of them."""
    [names] = {frozenset(step) for step in way}
    here = {name: found.get(name, NOT_THERE) for name in names}
    return next((number for number, step in enumerate(way) if dict(step) == here), None)


def left_of(installation: InProcessInstallation, document_ids: Sequence[UUID]) -> dict[str, Any]:
    """Return what any store still holds of these documents."""
    seed, ids = installation.seed, list(document_ids)
    counts: dict[str, Any] = {
        table: seed.one(f"SELECT count(*) FROM {table} WHERE document_id = ANY(%s)", ids)
        for (table,) in seed.rows(EVERYWHERE)
        if table != "index_intents"  # records pending changes and holds no data
    }
    counts["documents"] = seed.one("SELECT count(*) FROM documents WHERE id = ANY(%s)", ids)
    counts["artifacts of nobody"] = seed.one(UNUSED)
    counts["jobs of nobody"] = seed.one(IDLE_JOBS)
    counts["objects of nobody"] = sorted(objects(installation) - referenced(seed))
    if installation.qdrant:
        held = {str(document_id) for document_id in document_ids}
        counts["points"] = [point for point in points_of(installation.qdrant) if point.document_id in held]
    return {name: count for name, count in counts.items() if count}


def said_to_be_erased(installation: InProcessInstallation) -> list[str]:
    """Return existing objects that the ledger records as deleted."""
    erased = {row[0] for row in installation.seed.rows(ERASED)}
    return sorted(erased & objects(installation))


def objects(installation: InProcessInstallation) -> set[str]:
    """Return all keys except signed heads of the audit chain and marker files."""
    folder = installation.folder
    keys = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
    return {key for key in keys if not key.startswith((".", "audit/"))}


def state_of(installation: InProcessInstallation) -> Any:
    """Return the state without ids and times, so that equal outcomes of two cases are recognized."""
    rows = sorted(installation.seed.rows(STATE))
    points = points_of(installation.qdrant) if installation.qdrant else None
    folder = installation.folder
    files = sorted(len(path.read_bytes()) for path in folder.rglob("*") if path.is_file())
    return repr((rows, points, files))
