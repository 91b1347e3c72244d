"""One organization with data of every kind, which strangers try to access."""

from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from uuid import UUID

from muniment.audit.signing import Signer
from muniment.processing.runs.repository import ClaimedRun
from muniment.search.analysis.analyzer import analyze
from muniment.storage.db.base import new_id, now
from muniment.storage.vectors.port import IndexingVariant
from tests.support.seed import SIGNING_KEY, Person, Seed

FILE_NAME = "document.pdf"
CONTENT_KEY = "0:content of the world"
ARTIFACT: dict[str, Any] = {"content_hmac": CONTENT_KEY, "algorithm_version": 1, "params_fingerprint": "of the world"}
MODEL = IndexingVariant(model="model of the world", dimensions=3, fingerprint="variant of the world")
SECRET = "secret"
SHA256 = "0" * 64
SIGNER = Signer.from_text(SIGNING_KEY)


@dataclass(frozen=True)
class World:
    owner: Person
    member: Person
    kb_id: UUID
    empty_kb_id: UUID
    document_id: UUID
    archived_id: UUID
    run: ClaimedRun
    ended_run_id: UUID
    upload_id: UUID
    deletion_id: UUID
    gone_id: UUID
    receipt_id: UUID
    signed_receipt_id: UUID
    artifact_id: UUID
    intent_id: UUID
    indexed_text_id: UUID
    indexed_id: UUID
    token_id: UUID
    session_hash: bytes
    waiting_id: UUID
    lacking_id: UUID
    sealed_event_id: UUID
    archive_row_id: UUID
    saved_search_id: UUID

    @property
    def organization_id(self) -> UUID:
        return self.owner.organization_id

    def object_key(self, document_id: UUID) -> str:
        return f"{self.kb_id}/{document_id}/1/original"


def a_world(seed: Seed) -> World:
    """Create an organization whose owner is admin and operator, so that every query has a result for someone."""
    owner = seed.person(is_admin=True, is_operator=True)
    member = seed.person(owner.organization_id)
    kb_id = seed.knowledge_base(owner)
    seed.member(kb_id, member, "editor")
    world = World(
        owner=owner,
        member=member,
        kb_id=kb_id,
        empty_kb_id=seed.knowledge_base(owner, "Still empty"),
        document_id=seed.document(kb_id, owner, name=FILE_NAME),
        archived_id=seed.document(kb_id, owner, name=FILE_NAME, status="archived"),
        run=ClaimedRun(new_id(), owner.organization_id, new_id(), epoch=1, attempt=1),
        ended_run_id=new_id(),
        upload_id=new_id(),
        deletion_id=new_id(),
        gone_id=new_id(),
        receipt_id=new_id(),
        signed_receipt_id=new_id(),
        artifact_id=new_id(),
        intent_id=new_id(),
        indexed_text_id=new_id(),
        indexed_id=seed.document(kb_id, owner, name="indexed.pdf", index_epoch=1),
        token_id=seed.one("SELECT id FROM api_tokens WHERE user_id = %s", owner.id),
        session_hash=b"session of the owner",
        waiting_id=seed.document(kb_id, owner, name="waiting.pdf", status="pending"),
        lacking_id=seed.document(kb_id, owner, name="lacking.pdf"),
        sealed_event_id=new_id(),
        archive_row_id=new_id(),
        saved_search_id=new_id(),
    )
    world = _with_run(seed, world)
    _fill(seed, world)
    _report(seed)
    _add_artifact(seed, world)
    _add_results(seed, world)
    _add_receipts(seed, world)
    _add_passage(seed, world)
    _add_trail(seed, world)
    _add_archive(seed, world)
    _add_saved_search(seed, world)
    return world


def _add_saved_search(seed: Seed, world: World) -> None:
    seed.insert(
        "saved_views",
        id=world.saved_search_id,
        organization_id=world.organization_id,
        user_id=world.owner.id,
        kind="search",
        name=SECRET,
        parameters={"q": SECRET},
    )


def _with_run(seed: Seed, world: World) -> World:
    run = ClaimedRun(new_id(), world.organization_id, world.document_id, epoch=1, attempt=1)
    seed.insert(
        "document_processing_runs",
        run_id=run.run_id,
        document_id=run.document_id,
        organization_id=run.organization_id,
        user_id=world.owner.id,
        epoch=run.epoch,
        revision=1,
        attempt=run.attempt,
        status="in_progress",
        last_step="IndexText",
        saved_seconds=1.0,
    )
    seed.insert(
        "document_processing_runs",
        run_id=world.ended_run_id,
        document_id=world.archived_id,
        organization_id=run.organization_id,
        user_id=world.owner.id,
        epoch=1,
        revision=1,
        status="completed",
        ended_at=now(),
    )
    return World(**{**vars(world), "run": run})


def _report(seed: Seed) -> None:
    """Add the report of a reconciliation."""
    seed.insert("reconcile_reports", id=new_id(), began_at=now(), is_repair=False, outcome=1, counts=[])


def _fill(seed: Seed, world: World) -> None:
    """Add an expired upload, a failed replacement, a due deletion, a session and an audit event."""
    seed.failed_replacement(world.document_id, expires_at=now() - timedelta(hours=1))
    in_kb = {"organization_id": world.organization_id, "knowledge_base_id": world.kb_id}
    of_document = {**in_kb, "document_id": world.gone_id}
    key = world.object_key(world.gone_id)
    late = now() - timedelta(hours=1)
    seed.insert("uploads", id=world.upload_id, **of_document, blob_key=key, uploaded_by=world.owner.id, expires_at=late)
    reserved = {**in_kb, "document_id": world.gone_id, "target": key}
    seed.insert("deletions", id=new_id(), **reserved, store="blobs", reason="never_kept")
    seed.insert("deletions", id=world.deletion_id, **of_document, store="blobs", target=key, reason="test")
    seed.insert("audit_events", id=new_id(), action="test", actor=str(world.owner.id), **of_document, payload={})
    seed.insert(
        "sessions",
        id=new_id(),
        user_id=world.owner.id,
        organization_id=world.organization_id,
        token_hash=world.session_hash,
        expires_at=now() + timedelta(days=1),
    )


def _add_artifact(seed: Seed, world: World) -> None:
    """Add an unreferenced artifact with one part of each kind."""
    key: dict[str, Any] = {"organization_id": world.organization_id, **ARTIFACT}
    read = {"full_text_uri": "artifacts/world", "full_text_sha256": "0", "total_pages": 1, "total_words": 1}
    seed.insert("artifacts_full_text", id=world.artifact_id, **key, **read, methods={"text": 1})
    page = {**key, "id": world.artifact_id, "page_number": 1}
    seed.insert("artifact_pages", **page, page_text_uri="artifacts/world#bytes=0-1", page_text_sha256="0")
    paragraph = {"paragraph_text_uri": "artifacts/world#bytes=0-1&chars=0-1", "paragraph_text_sha256": "0"}
    seed.insert("artifact_paragraphs", **page, paragraph_index=0, **paragraph)
    seed.insert("artifact_diagrams", **page, diagram_key="p1-0", diagram_meta={})


def _add_receipts(seed: Seed, world: World) -> None:
    """Add receipts of two deleted documents, one of them not proven yet, and an intent that waits for it."""
    left = {
        "organization_id": world.organization_id,
        "knowledge_base_id": world.kb_id,
        "owner_id": world.owner.id,
        "document_name": FILE_NAME,
        "move": "purge",
        "actor": str(world.owner.id),
        "found": {"jobs": []},
        "next_attempt_at": now() - timedelta(hours=1),
    }
    seed.insert("receipts", id=world.receipt_id, document_id=world.gone_id, event_id=new_id(), **left)
    signed = {"record": {}, "signature": "signature", "signed_at": now()}
    seed.insert("receipts", id=world.signed_receipt_id, document_id=new_id(), event_id=new_id(), **left, **signed)
    in_kb = {"organization_id": world.organization_id, "knowledge_base_id": world.kb_id}
    due = {"wanted": "gone", "epoch": 1, "next_attempt_at": now() - timedelta(minutes=1)}
    seed.insert("index_intents", id=new_id(), document_id=world.gone_id, **in_kb, **due)


def _add_results(seed: Seed, world: World) -> None:
    """Add annotations of every kind, including stale ones."""
    mine: dict[str, Any] = {"document_id": world.document_id, "organization_id": world.organization_id}
    page, gone = {**mine, "page_number": 1, "annotations": {"a": 1}}, {"stale_at": now()}
    seed.insert("document_pages", **page, artifact_page_id=world.artifact_id)
    seed.insert("document_pages", **{**page, "page_number": 2}, **gone)
    paragraph = {**page, "paragraph_text_sha256": "0"}
    seed.insert("document_paragraphs", **paragraph, paragraph_index=0, artifact_paragraph_id=world.artifact_id)
    seed.insert("document_paragraphs", **paragraph, paragraph_index=-1, **gone)
    seed.insert("document_diagrams", **page, diagram_key="p1-0", artifact_diagram_id=world.artifact_id)


def _add_passage(seed: Seed, world: World) -> None:
    """Add a document that can be found by its text."""
    key: dict[str, Any] = {**ARTIFACT, "organization_id": world.organization_id, "content_hmac": "0:indexed"}
    read = {"full_text_uri": "artifacts/indexed", "full_text_sha256": "0", "total_pages": 1, "total_words": 1}
    seed.insert("artifacts_full_text", id=world.indexed_text_id, **key, **read, methods={"text": 1})
    page = {"page_number": 1, "page_text_uri": "artifacts/indexed#bytes=0-1", "page_text_sha256": "0"}
    seed.insert("artifact_pages", **key, **page, layout={"words": [[0, 6, 0, 0, 1, 1]]})
    variant = {"fingerprint": MODEL.fingerprint, "model": MODEL.model}
    seed.insert("indexing_variants", **variant, dimensions=MODEL.dimensions, is_active=True)
    index = {
        "artifact_text_id": world.indexed_text_id,
        "fingerprint": MODEL.fingerprint,
        "organization_id": world.organization_id,
    }
    seed.insert("artifact_indexes", **index, language="english", total_chunks=1)
    place = {"page_number": 1, "chunk_index": 0, "start_char": 0, "end_char": 6, "text": SECRET}
    seed.insert("artifact_chunks", **index, model=MODEL.model, **place, embedding="[1,0,0]")
    lexicon = {"analysis_version": 0, "language": "english", "total_length": 1, "vocabulary": f" {SECRET} "}
    seed.insert("artifact_lexicons", **index, **lexicon)
    term = "".join(token.term for token in analyze(SECRET, "english"))
    seed.insert("artifact_terms", **index, chunk_index=0, language="english", length=1, tsv=f"'{term}':1")
    seed.insert("artifact_vectors", **index, model=MODEL.model, chunk_index=0, embedding="[1,0,0]")
    seed.insert("partial_vectors", **index, first_chunk=0, vectors=bytes(2 * MODEL.dimensions))
    in_kb = {"organization_id": world.organization_id, "knowledge_base_id": world.kb_id}
    due = {"wanted": "hidden", "epoch": 1, "next_attempt_at": now() - timedelta(hours=1)}
    seed.insert("index_intents", id=world.intent_id, document_id=world.archived_id, **in_kb, **due)
    shows = "UPDATE documents SET artifact_text_id = %s WHERE id = %s"
    seed.execute(shows, world.indexed_text_id, world.indexed_id)


def _add_archive(seed: Seed, world: World) -> None:
    """Add documents in every state of the hand-over, and the organization's objects in Paperless."""
    of_document = {"organization_id": world.organization_id, "bilko_document_id": world.document_id, "sha256": SHA256}
    for document_type, status in (("other", "pending"), ("invoice", "failed"), ("contract", "archived")):
        seed.insert(
            "archive_audit_log",
            id=world.archive_row_id if status == "pending" else new_id(),
            **of_document,
            document_type=document_type,
            r2_object_key=f"org/{world.organization_id}/{document_type}/{SHA256}.pdf",
            archive_status=status,
            paperless_doc_id=1 if status == "archived" else None,
            next_attempt_at=now() - timedelta(hours=1) if status == "pending" else None,
        )
    seed.execute("UPDATE documents SET archive_status = 'pending' WHERE id = %s", world.archived_id)
    ids = {"paperless_correspondent_id": 1, "paperless_org_tag_id": 2}
    seed.insert("org_paperless_cache", organization_id=world.organization_id, **ids)


def _add_trail(seed: Seed, world: World) -> None:
    """Add a sealed event and a head; the event of `_fill` is not sealed yet."""
    in_kb = {"organization_id": world.organization_id, "knowledge_base_id": world.kb_id}
    line = {"action": "test", "actor": str(world.owner.id), "payload": {}}
    seed.insert("audit_events", id=world.sealed_event_id, **in_kb, **line)
    link: dict[str, Any] = {"chain": world.organization_id, "seq": 1, "hash": b"hash"}
    sealed = {"salt": b"salt", "payload_hash": b"payload", "event_hash": b"event", "sealed_at": now()}
    seed.insert("audit_seals", **link, **sealed, event_id=world.sealed_event_id)
    signed = {"at": now(), "previous_seq": 0, "key_id": SIGNER.key_id, "signature": b"signature"}
    seed.insert("audit_heads", **link, **signed)
    key = {"key_id": SIGNER.key_id, "public_key": SIGNER.public_key, "at": now(), "signature": b"signature"}
    if not seed.one("SELECT count(*) FROM audit_keys"):
        seed.insert("audit_keys", **key)
