"""Every query of every repository, aimed at the data of a `World`."""

from collections.abc import Awaitable, Callable, Sequence
from datetime import timedelta
from typing import Any

from sqlalchemy import delete
from sqlalchemy.ext.asyncio import AsyncSession

from muniment.accounts.repository import (
    OrganizationRepository,
    SessionRepository,
    SignInRepository,
    TokenRepository,
    UserRepository,
)
from muniment.accounts.tables import User
from muniment.artifacts.deletion import UnreferencedArtifactRepository
from muniment.artifacts.keys import ReadingVariant
from muniment.artifacts.repository import ArtifactKey, ArtifactPartRepository, ArtifactRepository, NewArtifact
from muniment.artifacts.tables import ArtifactParagraph, TextArtifact
from muniment.audit.receipts.repository import NewTombstone, ReceiptRepository, SignedRecord
from muniment.audit.receipts.tables import ReceiptMove
from muniment.documents.names import name_key
from muniment.documents.quotas import UsageRepository
from muniment.documents.repository import (
    DocumentFilter,
    DocumentRepository,
    PassageCountRepository,
    RevisionRepository,
    UploadRepository,
)
from muniment.documents.runs import DocumentRunRepository, DocumentWithoutRunRepository, RunStatus
from muniment.documents.tables import Document, Upload
from muniment.knowledge_bases.repository import KnowledgeBaseRepository, MemberRepository
from muniment.knowledge_bases.tables import KnowledgeBase, Role
from muniment.lifecycle.archived_documents import ArchivedFilter, ArchivedRepository
from muniment.lifecycle.explain import ExplainRepository
from muniment.processing.events.repository import ProgressRepository
from muniment.processing.results.annotations import AnnotationRepository
from muniment.processing.results.repository import ResultRepository
from muniment.processing.runs.reporting import RunHistoryRepository, StatisticsRepository
from muniment.processing.runs.repository import RunRepository
from muniment.processing.runs.tables import StepStatus
from muniment.reconcile.drift import StoreName as Compared
from muniment.reconcile.index_copies import UnindexedDocumentRepository
from muniment.reconcile.object_references import ObjectReferenceRepository
from muniment.reconcile.overdue import OverdueRepository
from muniment.reconcile.report import Report, ReportRepository
from muniment.search.external_index.state import IndexStateRepository
from muniment.search.indexing.lexical_form import LexicalForm, LexicalFormRepository, OutdatedIndex, make_lexical_form
from muniment.search.indexing.partial_vectors import PartialVectorRepository
from muniment.search.indexing.repository import IndexRepository, NewIndex
from muniment.search.indexing.vectors import VectorRepository
from muniment.search.query.lexical.repository import LexicalHit, LexicalRepository
from muniment.search.query.lexical.spelling import SpellingRepository
from muniment.search.query.lexical.terms import make_language_query
from muniment.search.query.parser import parse_query
from muniment.search.query.repository import SearchRepository
from muniment.search.query.request import SearchScope
from muniment.search.query.within_document import DocumentSearchRepository
from muniment.search.saved.repository import SavedSearchRepository
from muniment.search.tables import ArtifactLexicon
from muniment.storage.db.base import FIRST_ID, new_id, now
from muniment.storage.deletions.ledger import LedgerRepository, NewLedgerEntry
from muniment.storage.deletions.tables import DeletionOutcome, LedgerStore
from muniment.storage.vectors.intents import IntentRepository
from muniment.storage.vectors.port import Candidate, IndexedDocument, IndexingVariant
from muniment.storage.vectors.tables import IntendedState as Intended
from tests.security.audit_queries import AUDIT_QUERIES
from tests.security.handover_queries import HANDOVER_QUERIES
from tests.security.world import ARTIFACT, CONTENT_KEY, FILE_NAME, MODEL, SECRET, World

Query = Callable[[AsyncSession, World], Awaitable[Any]]

PAGE = {"offset": 0, "limit": 100}
LATER = now() + timedelta(days=1)
KEY = name_key(FILE_NAME)


async def _count_queued_runs(session: AsyncSession, world: World) -> list[int]:
    """Return the count in a list: for the owner it is 0, for a stranger there is none."""
    count = await UsageRepository(session).count_queued_runs(world.organization_id)
    return [] if count is None else [count]


def _kb(world: World) -> KnowledgeBase:
    return KnowledgeBase(id=world.kb_id, organization_id=world.organization_id, owner_id=world.owner.id, name="mine")


def _empty_kb(world: World) -> KnowledgeBase:
    return KnowledgeBase(id=world.empty_kb_id)


def _new_kb(world: World) -> KnowledgeBase:
    return KnowledgeBase(organization_id=world.organization_id, owner_id=world.owner.id, name="mine")


def _new_user(world: World) -> User:
    email = "new@example.org"
    return User(organization_id=world.organization_id, email=email, email_key=email, is_admin=True, is_operator=False)


def _new_document(world: World) -> Document:
    document_id = new_id()
    return Document(
        id=document_id,
        organization_id=world.organization_id,
        kb_id=world.kb_id,
        name="new.pdf",
        name_key="new.pdf",
        document_type="other",
        status="pending",
        epoch=1,
        revision=1,
        media_type="application/pdf",
        original_uri=world.object_key(document_id),
        file_size=1,
        sha256="0" * 64,
        content_hmac="0:0",
        uploaded_by=world.owner.id,
    )


def _second_revision(world: World) -> Document:
    document = _new_document(world)
    document.id, document.revision = world.document_id, 2
    document.original_uri = f"{world.kb_id}/{world.document_id}/2/original"
    return document


def _new_upload(world: World) -> Upload:
    document_id = new_id()
    return Upload(
        id=new_id(),
        organization_id=world.organization_id,
        kb_id=world.kb_id,
        document_id=document_id,
        blob_key=world.object_key(document_id),
        uploaded_by=world.owner.id,
        expires_at=LATER,
    )


def _line(world: World) -> NewLedgerEntry:
    key = world.object_key(world.document_id)
    return NewLedgerEntry(world.organization_id, world.kb_id, world.document_id, LedgerStore.OBJECTS, key, "test")


def _text(world: World) -> TextArtifact:
    return TextArtifact(id=world.artifact_id, **ARTIFACT)


def _artifact_key(world: World, content_key: str = CONTENT_KEY) -> ArtifactKey:
    return ArtifactKey(world.organization_id, content_key, ReadingVariant(1, ARTIFACT["params_fingerprint"]))


def _new_text() -> NewArtifact:
    head = {"full_text_uri": "a/b", "full_text_sha256": "0", "total_pages": 0, "total_words": 0, "methods": {}}
    return NewArtifact(head, [], [])


def _of_document(world: World) -> Document:
    return Document(id=world.document_id, organization_id=world.organization_id)


def _paragraph(world: World) -> ArtifactParagraph:
    return ArtifactParagraph(id=world.artifact_id, page_number=1, paragraph_index=1, paragraph_text_sha256="0")


def _scope(world: World, typed: str = SECRET) -> SearchScope:
    return SearchScope(MODEL, [world.kb_id], [make_language_query(parse_query(typed), "english", 1)])


async def _rank(session: AsyncSession, world: World) -> Sequence[LexicalHit]:
    return (await LexicalRepository(session).rank(_scope(world), limit=10)).hits


def _candidate(world: World) -> Candidate:
    return Candidate(world.indexed_id, 0, 1, 0.0)


OTHER_MODEL = IndexingVariant(fingerprint="another", model="another", dimensions=3)


def _partial_vectors(session: AsyncSession, world: World) -> PartialVectorRepository:
    return PartialVectorRepository(session, world.indexed_text_id, MODEL)


def _vectors(session: AsyncSession, world: World) -> VectorRepository:
    return VectorRepository(session, world.indexed_text_id, MODEL.fingerprint)


def _outdated(world: World) -> OutdatedIndex:
    return OutdatedIndex(world.indexed_text_id, MODEL.fingerprint, world.organization_id, "english")


def _lexical_form() -> LexicalForm:
    return make_lexical_form([SECRET], "english")


async def _add_lexical_form(session: AsyncSession, world: World) -> None:
    """Add the lexical form of an index whose older one is gone, as far as the caller can delete it."""
    await session.execute(delete(ArtifactLexicon).filter_by(artifact_text_id=world.indexed_text_id))
    await LexicalFormRepository(session).add(_outdated(world).key, _lexical_form())


def _new_index(world: World) -> NewIndex:
    return NewIndex(world.artifact_id, world.organization_id, MODEL, [], make_lexical_form([], "simple"))


def _indexed(world: World) -> IndexedDocument:
    return IndexedDocument(world.document_id, world.kb_id, world.organization_id)


def _departure(world: World) -> NewTombstone:
    """Return the tombstone of a deleted document."""
    return NewTombstone(
        new_id(),
        "gone.pdf",
        world.kb_id,
        world.organization_id,
        ReceiptMove.PURGE,
        str(world.owner.id),
        event_id=new_id(),
    )


def _signed(world: World) -> SignedRecord:
    return SignedRecord(world.receipt_id, {"format": "of the world"}, "signature")


QUERIES: dict[str, Query] = {
    "ReceiptRepository.take_inventory": lambda s, w: ReceiptRepository(s).take_inventory(w.document_id),
    "ReceiptRepository.add": lambda s, w: ReceiptRepository(s).add(
        _departure(w), {"owner_id": str(w.owner.id), "is_being_read": False}
    ),
    "ReceiptRepository.find_by_document": lambda s, w: ReceiptRepository(s).find_by_document(w.kb_id, w.gone_id),
    "ReceiptRepository.exists": lambda s, w: ReceiptRepository(s).exists(w.gone_id),
    "ReceiptRepository.get": lambda s, w: ReceiptRepository(s).get(w.signed_receipt_id),
    "ReceiptRepository.list_signed": lambda s, w: ReceiptRepository(s).list_signed(w.kb_id, **PAGE),
    "ReceiptRepository.list_unsigned_in": lambda s, w: ReceiptRepository(s).list_unsigned_in(w.kb_id, limit=100),
    "ReceiptRepository.count_unsigned_in": lambda s, w: ReceiptRepository(s).count_unsigned_in(w.kb_id),
    "ReceiptRepository.list_": lambda s, w: ReceiptRepository(s).list_([w.receipt_id]),
    "ReceiptRepository.claim_due": lambda s, _: ReceiptRepository(s).claim_due(limit=100),
    "ReceiptRepository.store_point_counts": lambda s, w: ReceiptRepository(s).store_point_counts({w.receipt_id: 1}),
    "ReceiptRepository.store_pending": lambda s, w: ReceiptRepository(s).store_pending({w.receipt_id: ["blobs"]}),
    "ReceiptRepository.find_positions": lambda s, w: ReceiptRepository(s).find_positions([w.sealed_event_id]),
    "ReceiptRepository.store_signed": lambda s, w: ReceiptRepository(s).store_signed([_signed(w)]),
    "ReceiptRepository.count_unsigned": lambda s, _: ReceiptRepository(s).count_unsigned(),
    "LedgerRepository.make_due": lambda s, w: LedgerRepository(s).make_due([w.gone_id]),
    "IntentRepository.delete_completed": lambda s, w: IntentRepository(s).delete_completed([w.gone_id]),
    "SignInRepository.find_by_session": lambda s, _: SignInRepository(s).find_by_session(b"a guess"),
    "SignInRepository.find_by_token": lambda s, _: SignInRepository(s).find_by_token(b"a guess"),
    "SignInRepository.redeem_link": lambda s, _: SignInRepository(s).redeem_link(b"a guess"),
    "SessionRepository.add": lambda s, w: SessionRepository(s).add(w.owner.principal, b"new", expires_at=LATER),
    "SessionRepository.end": lambda s, w: SessionRepository(s).end(w.session_hash),
    "SessionRepository.end_all": lambda s, w: SessionRepository(s).end_all(w.owner.id),
    "TokenRepository.add": lambda s, w: TokenRepository(s).add(w.owner.principal, "new", b"new", expires_at=LATER),
    "TokenRepository.list_": lambda s, _: TokenRepository(s).list_(**PAGE),
    "TokenRepository.revoke_all": lambda s, w: TokenRepository(s).revoke_all(w.owner.id),
    "TokenRepository.revoke_own": lambda s, _: TokenRepository(s).revoke_own(),
    "TokenRepository.revoke": lambda s, w: TokenRepository(s).revoke(w.token_id),
    "OrganizationRepository.add": lambda s, _: OrganizationRepository(s).add("new"),
    "OrganizationRepository.get": lambda s, w: OrganizationRepository(s).get(w.organization_id),
    "OrganizationRepository.list_": lambda s, _: OrganizationRepository(s).list_(**PAGE),
    "UserRepository.add": lambda s, w: UserRepository(s).add(_new_user(w), "hash"),
    "UserRepository.get": lambda s, w: UserRepository(s).get(w.owner.id),
    "UserRepository.find_active": lambda s, w: UserRepository(s).find_active(w.organization_id, w.owner.email),
    "UserRepository.emails_of": lambda s, w: UserRepository(s).emails_of([w.owner.id]),
    "UserRepository.list_": lambda s, w: UserRepository(s).list_(organization_id=w.organization_id, search="", **PAGE),
    "UserRepository.change": lambda s, w: UserRepository(s).change(w.owner.id, {"is_active": False}),
    "KnowledgeBaseRepository.add": lambda s, w: KnowledgeBaseRepository(s).add(_new_kb(w)),
    "KnowledgeBaseRepository.get_with_role": lambda s, w: KnowledgeBaseRepository(s).get_with_role(w.kb_id, w.owner.id),
    "KnowledgeBaseRepository.list_": lambda s, w: KnowledgeBaseRepository(s).list_(w.owner.id, search="", **PAGE),
    "KnowledgeBaseRepository.count_documents": lambda s, w: KnowledgeBaseRepository(s).count_documents(w.kb_id),
    "KnowledgeBaseRepository.list_existing": lambda s, w: KnowledgeBaseRepository(s).list_existing([w.kb_id]),
    "KnowledgeBaseRepository.list_ids": lambda s, _: KnowledgeBaseRepository(s).list_ids(),
    "KnowledgeBaseRepository.delete": lambda s, w: KnowledgeBaseRepository(s).delete(_empty_kb(w)),
    "KnowledgeBaseRepository.lock": lambda s, w: KnowledgeBaseRepository(s).lock(_kb(w)),
    "MemberRepository.find_role": lambda s, w: MemberRepository(s).find_role(w.kb_id, w.member.id),
    "MemberRepository.set_role": lambda s, w: MemberRepository(s).set_role(_kb(w), w.member.id, Role.VIEWER),
    "MemberRepository.remove": lambda s, w: MemberRepository(s).remove(w.kb_id, w.member.id),
    "MemberRepository.list_": lambda s, w: MemberRepository(s).list_(w.kb_id, **PAGE),
    "DocumentRepository.add_if_name_free": lambda s, w: DocumentRepository(s).add_if_name_free(_new_document(w)),
    "DocumentRepository.get": lambda s, w: DocumentRepository(s).get(w.kb_id, w.document_id),
    "DocumentRepository.lock": lambda s, w: DocumentRepository(s).lock(w.kb_id, w.document_id),
    "DocumentRepository.find_active": lambda s, w: DocumentRepository(s).find_active(w.kb_id, KEY),
    "DocumentRepository.lock_with_namesakes": lambda s, w: DocumentRepository(s).lock_with_namesakes(
        w.kb_id, w.document_id, KEY
    ),
    "DocumentRepository.list_inactive_namesakes": lambda s, w: DocumentRepository(s).list_inactive_namesakes(
        w.kb_id, KEY
    ),
    "DocumentRepository.lock_inactive_namesakes": lambda s, w: DocumentRepository(s).lock_inactive_namesakes(
        w.kb_id, KEY
    ),
    "DocumentRepository.list_": lambda s, w: DocumentRepository(s).list_(DocumentFilter(w.kb_id)),
    "DocumentRepository.list_content_keys": lambda s, w: DocumentRepository(s).list_content_keys(w.document_id),
    "DocumentRepository.delete": lambda s, w: DocumentRepository(s).delete(w.document_id),
    "RevisionRepository.get": lambda s, w: RevisionRepository(s).get(w.document_id, 1),
    "RevisionRepository.add": lambda s, w: RevisionRepository(s).add(_second_revision(w), {}),
    "RevisionRepository.list_sizes": lambda s, w: RevisionRepository(s).list_sizes(w.document_id),
    "RevisionRepository.next_revision": lambda s, w: RevisionRepository(s).next_revision(w.document_id),
    "RevisionRepository.list_epochs_after": lambda s, w: RevisionRepository(s).list_epochs_after(w.document_id, 0),
    "RevisionRepository.references_object": lambda s, w: RevisionRepository(s).references_object(
        w.document_id, w.object_key(w.document_id)
    ),
    "RevisionRepository.delete_all_except": lambda s, w: RevisionRepository(s).delete_all_except(w.document_id, [7]),
    "RevisionRepository.mark_failed": lambda s, w: RevisionRepository(s).mark_failed(
        w.document_id, 1, {"code": "corrupt", "message": SECRET, "at": now().isoformat()}, LATER
    ),
    "RevisionRepository.list_failed": lambda s, w: RevisionRepository(s).list_failed([w.document_id]),
    "RevisionRepository.find_failed": lambda s, w: RevisionRepository(s).find_failed(w.document_id),
    "RevisionRepository.delete_failed": lambda s, w: RevisionRepository(s).delete_failed(w.document_id),
    "RevisionRepository.list_expired": lambda s, w: RevisionRepository(s).list_expired(LATER, limit=100),
    "RevisionRepository.clear_snapshot": lambda s, w: RevisionRepository(s).clear_snapshot(w.document_id, 1),
    "UsageRepository.find_storage": lambda s, w: UsageRepository(s).find_storage(w.organization_id),
    "UsageRepository.count_queued_runs": lambda s, w: _count_queued_runs(s, w),
    "ArchivedRepository.list_": lambda s, w: ArchivedRepository(s).list_(
        w.owner.principal, ArchivedFilter(search=FILE_NAME)
    ),
    "ExplainRepository.list_events": lambda s, w: ExplainRepository(s).list_events(w.gone_id),
    "UploadRepository.add": lambda s, w: UploadRepository(s).add(_new_upload(w)),
    "UploadRepository.claim": lambda s, w: UploadRepository(s).claim(w.upload_id),
    "UploadRepository.extend_expiry": lambda s, w: UploadRepository(s).extend_expiry(w.upload_id, LATER),
    "UploadRepository.claim_expired": lambda s, _: UploadRepository(s).claim_expired(now(), limit=100),
    "LedgerRepository.add": lambda s, w: LedgerRepository(s).add([_line(w)]),
    "LedgerRepository.claim_due": lambda s, _: LedgerRepository(s).claim_due(None, limit=100),
    "LedgerRepository.mark_done": lambda s, w: LedgerRepository(s).mark_done([w.deletion_id], DeletionOutcome.DELETED),
    "LedgerRepository.mark_failed": lambda s, w: LedgerRepository(s).mark_failed(w.deletion_id, "test"),
    "LedgerRepository.list_reservations": lambda s, w: LedgerRepository(s).list_reservations([w.gone_id]),
    "LedgerRepository.list_reserved": lambda s, w: LedgerRepository(s).list_reserved(f"{w.kb_id}/", w.gone_id),
    "LedgerRepository.release_below": lambda s, w: LedgerRepository(s).release_below(f"{w.kb_id}/", w.gone_id),
    "LedgerRepository.release_reservations": lambda s, w: LedgerRepository(s).release_reservations(w.gone_id),
    "LedgerRepository.summarize": lambda s, w: LedgerRepository(s).summarize([w.gone_id]),
    "LedgerRepository.count_pending": lambda s, _: LedgerRepository(s).count_pending(),
    "ArtifactRepository.find": lambda s, w: ArtifactRepository(s).find(_artifact_key(w)),
    "ArtifactRepository.find_newest": lambda s, _: ArtifactRepository(s).find_newest(CONTENT_KEY, 1),
    "ArtifactRepository.get": lambda s, w: ArtifactRepository(s).get(w.artifact_id),
    "ArtifactRepository.add_once": lambda s, w: ArtifactRepository(s).add_once(_artifact_key(w, "new"), _new_text()),
    "ArtifactRepository.add_missing_diagrams": lambda s, w: ArtifactRepository(s).add_missing_diagrams(w.artifact_id),
    "ArtifactRepository.list_paragraphs": lambda s, w: ArtifactRepository(s).list_paragraphs(_text(w), [1]),
    "UnreferencedArtifactRepository.list_ids": lambda s, w: UnreferencedArtifactRepository(s).list_ids(
        w.organization_id, after=None, limit=100
    ),
    "UnreferencedArtifactRepository.list_unreferenced": lambda s, w: UnreferencedArtifactRepository(
        s
    ).list_unreferenced([w.artifact_id]),
    "UnreferencedArtifactRepository.list_usage": lambda s, _: UnreferencedArtifactRepository(s).list_usage(
        [CONTENT_KEY]
    ),
    "UnreferencedArtifactRepository.update_marks": lambda s, w: UnreferencedArtifactRepository(s).update_marks(
        [w.artifact_id], LATER
    ),
    "UnreferencedArtifactRepository.delete_unreferenced_of_contents": lambda s, _: UnreferencedArtifactRepository(
        s
    ).delete_unreferenced_of_contents([CONTENT_KEY]),
    "UnreferencedArtifactRepository.delete_if_unreferenced": lambda s, w: UnreferencedArtifactRepository(
        s
    ).delete_if_unreferenced(w.artifact_id),
    "ArtifactPartRepository.find_artifact": lambda s, w: ArtifactPartRepository(s).find_artifact(w.artifact_id),
    "ArtifactPartRepository.find_page": lambda s, w: ArtifactPartRepository(s).find_page(w.artifact_id),
    "ArtifactPartRepository.list_pages": lambda s, w: ArtifactPartRepository(s).list_pages([w.artifact_id]),
    "ArtifactPartRepository.list_pages_by_number": lambda s, w: ArtifactPartRepository(s).list_pages_by_number(
        _text(w), [1]
    ),
    "ArtifactPartRepository.list_paragraphs": lambda s, w: ArtifactPartRepository(s).list_paragraphs(
        _text(w), None, **PAGE
    ),
    "ArtifactPartRepository.find_paragraph": lambda s, w: ArtifactPartRepository(s).find_paragraph(w.artifact_id, 1, 0),
    "ArtifactPartRepository.list_diagrams": lambda s, w: ArtifactPartRepository(s).list_diagrams([w.artifact_id]),
    "ResultRepository.list_pages": lambda s, w: ResultRepository(s).list_pages(w.document_id, **PAGE),
    "ResultRepository.get_page": lambda s, w: ResultRepository(s).get_page(w.document_id, 1),
    "ResultRepository.list_stale_pages": lambda s, w: ResultRepository(s).list_stale_pages(w.document_id, **PAGE),
    "ResultRepository.list_paragraph_annotations": lambda s, w: ResultRepository(s).list_paragraph_annotations(
        w.document_id, [w.artifact_id]
    ),
    "ResultRepository.list_stale_paragraphs": lambda s, w: ResultRepository(s).list_stale_paragraphs(
        w.document_id, **PAGE
    ),
    "ResultRepository.list_diagrams": lambda s, w: ResultRepository(s).list_diagrams(w.document_id, None, **PAGE),
    "ResultRepository.get_diagram": lambda s, w: ResultRepository(s).get_diagram(w.document_id, "p1-0"),
    "AnnotationRepository.lock_document": lambda s, w: AnnotationRepository(s).lock_document(w.document_id),
    "AnnotationRepository.update_page": lambda s, w: AnnotationRepository(s).update_page(
        w.document_id, 1, {"flags": {"a": 1}}
    ),
    "AnnotationRepository.update_diagram": lambda s, w: AnnotationRepository(s).update_diagram(
        w.document_id, "p1-0", None
    ),
    "AnnotationRepository.upsert_paragraph": lambda s, w: AnnotationRepository(s).upsert_paragraph(
        _of_document(w), _paragraph(w), {}
    ),
    "AnnotationRepository.update_paragraph": lambda s, w: AnnotationRepository(s).update_paragraph(
        w.document_id, 1, 0, {}
    ),
    "AnnotationRepository.delete_paragraph": lambda s, w: AnnotationRepository(s).delete_paragraph(w.document_id, 1, 0),
    "SearchRepository.list_kb_ids": lambda s, w: SearchRepository(s).list_kb_ids([w.kb_id]),
    "SearchRepository.build_language_queries": lambda s, w: SearchRepository(s).build_language_queries(
        MODEL, [w.kb_id], parse_query(SECRET)
    ),
    "LexicalRepository.rank": lambda s, w: _rank(s, w),
    "SpellingRepository.correct": lambda s, w: SpellingRepository(s).correct(
        _scope(w, f"{SECRET}x"), parse_query(f"{SECRET}x"), [(1, 0)]
    ),
    "SearchRepository.confirm": lambda s, w: SearchRepository(s).confirm(_scope(w), [_candidate(w)]),
    "SearchRepository.load_passages": lambda s, w: SearchRepository(s).load_passages(MODEL, [(w.indexed_id, 0)]),
    "SearchRepository.list_uploaders": lambda s, w: SearchRepository(s).list_uploaders(),
    "SavedSearchRepository.list_": lambda s, _: SavedSearchRepository(s).list_(),
    "SavedSearchRepository.add": lambda s, w: SavedSearchRepository(s).add(w.owner.principal, "new", {"q": SECRET}),
    "SavedSearchRepository.change": lambda s, w: SavedSearchRepository(s).change(
        w.saved_search_id, name="changed", parameters=None
    ),
    "SavedSearchRepository.remove": lambda s, w: SavedSearchRepository(s).remove(w.saved_search_id),
    "SearchRepository.find_centroid": lambda s, w: SearchRepository(s).find_centroid(MODEL, w.indexed_id),
    "DocumentSearchRepository.list_matches": lambda s, w: DocumentSearchRepository(s).list_matches(
        MODEL, w.indexed_id, parse_query(SECRET), _scope(w).queries
    ),
    "DocumentSearchRepository.list_layouts": lambda s, w: DocumentSearchRepository(s).list_layouts(
        w.indexed_text_id, [1]
    ),
    "IndexRepository.register_variant": lambda s, _: IndexRepository(s).register_variant(OTHER_MODEL),
    "IndexRepository.activate": lambda s, _: IndexRepository(s).activate(MODEL.fingerprint),
    "IndexRepository.find": lambda s, w: IndexRepository(s).find(w.indexed_text_id, MODEL.fingerprint),
    "IndexRepository.find_usual_language": lambda s, w: IndexRepository(s).find_usual_language(w.kb_id),
    "IndexRepository.add_once": lambda s, w: IndexRepository(s).add_once(_new_index(w)),
    "LexicalFormRepository.add": _add_lexical_form,
    "LexicalFormRepository.replace": lambda s, w: LexicalFormRepository(s).replace(_outdated(w).key, _lexical_form()),
    "LexicalFormRepository.lock_outdated": lambda s, _: LexicalFormRepository(s).lock_outdated(),
    "LexicalFormRepository.list_texts": lambda s, w: LexicalFormRepository(s).list_texts(_outdated(w)),
    "PartialVectorRepository.list_": lambda s, w: _partial_vectors(s, w).list_(),
    "PartialVectorRepository.delete": lambda s, w: _partial_vectors(s, w).delete(),
    "PassageCountRepository.list_": lambda s, w: PassageCountRepository(s).list_([w.indexed_id]),
    "VectorRepository.find_index": lambda s, w: _vectors(s, w).find_index(),
    "VectorRepository.count": lambda s, w: _vectors(s, w).count(),
    "VectorRepository.list_missing": lambda s, w: _vectors(s, w).list_missing(limit=1),
    "VectorRepository.add": lambda s, w: _vectors(s, w).add(1, [[1.0, 0.0, 0.0]]),
    "VectorRepository.complete": lambda s, w: _vectors(s, w).complete(),
    "VectorRepository.set_error": lambda s, w: _vectors(s, w).set_error("late"),
    "IntentRepository.open": lambda s, w: IntentRepository(s).open(_indexed(w), Intended.HIDDEN, 1),
    "IntentRepository.ensure_open": lambda s, w: IntentRepository(s).ensure_open(_indexed(w), Intended.VISIBLE, 1),
    "IntentRepository.open_delete": lambda s, w: IntentRepository(s).open_delete(_indexed(w), 1),
    "IntentRepository.close": lambda s, w: IntentRepository(s).close(w.intent_id),
    "IntentRepository.exists": lambda s, w: IntentRepository(s).exists(w.archived_id),
    "IntentRepository.claim_due": lambda s, _: IntentRepository(s).claim_due(),
    "IntentRepository.delete": lambda s, w: IntentRepository(s).delete(w.intent_id),
    "IntentRepository.count_open": lambda s, _: IntentRepository(s).count_open(),
    "RunRepository.peek": lambda s, w: RunRepository(s).peek(w.run.run_id),
    "RunRepository.find_state": lambda s, w: RunRepository(s).find_state(w.run),
    "RunRepository.claim": lambda s, w: RunRepository(s).claim(w.run.run_id),
    "RunRepository.record_steps": lambda s, w: RunRepository(s).record_steps(w.run, {"IndexText": StepStatus.SUCCESS}),
    "RunRepository.requeue": lambda s, w: RunRepository(s).requeue(w.run, has_reader_died=True),
    "RunRepository.set_artifact": lambda s, w: RunRepository(s).set_artifact(w.run, w.artifact_id, 1.0),
    "RunRepository.finish": lambda s, w: RunRepository(s).finish(w.run, RunStatus.FAILED),
    "RunRepository.announce_progress": lambda s, w: RunRepository(s).announce_progress(w.run),
    "RunHistoryRepository.list_": lambda s, w: RunHistoryRepository(s).list_(w.document_id, **PAGE),
    "ProgressRepository.list_documents": lambda s, w: ProgressRepository(s).list_documents([w.document_id]),
    "ProgressRepository.list_unfinished": lambda s, _: ProgressRepository(s).list_unfinished(limit=100),
    "StatisticsRepository.count_runs": lambda s, _: StatisticsRepository(s).count_runs(now() - timedelta(days=1)),
    "StatisticsRepository.find_savings": lambda s, _: StatisticsRepository(s).find_savings(),
    "ObjectReferenceRepository.list_originals": lambda s, w: ObjectReferenceRepository(s).list_originals(
        w.kb_id, after=FIRST_ID, limit=100
    ),
    "ObjectReferenceRepository.list_packs": lambda s, w: ObjectReferenceRepository(s).list_packs(
        w.organization_id, after="", limit=100
    ),
    "ObjectReferenceRepository.list_referenced_keys": lambda s, w: ObjectReferenceRepository(s).list_referenced_keys(
        [w.object_key(w.document_id)]
    ),
    "ObjectReferenceRepository.list_owners": lambda s, w: ObjectReferenceRepository(s).list_owners(
        [w.object_key(w.document_id)]
    ),
    "IndexStateRepository.list_next": lambda s, w: IndexStateRepository(s).list_next(
        w.kb_id, LATER, after=FIRST_ID, limit=100
    ),
    "IndexStateRepository.list_by_ids": lambda s, w: IndexStateRepository(s).list_by_ids(
        w.kb_id, LATER, [w.document_id]
    ),
    "IndexStateRepository.lock": lambda s, w: IndexStateRepository(s).lock(w.kb_id, LATER, w.document_id),
    "IndexStateRepository.list_existing": lambda s, w: IndexStateRepository(s).list_existing(w.kb_id, [w.document_id]),
    "UnindexedDocumentRepository.list_next": lambda s, w: UnindexedDocumentRepository(s, needs_epoch=True).list_next(
        [w.kb_id], LATER, after=FIRST_ID, limit=100
    ),
    "UnindexedDocumentRepository.list_among": lambda s, w: UnindexedDocumentRepository(s, needs_epoch=False).list_among(
        [w.kb_id], LATER, [w.lacking_id]
    ),
    "DocumentRunRepository.find_open": lambda s, w: DocumentRunRepository(s).find_open(w.document_id, 1),
    "DocumentRunRepository.count_ended": lambda s, w: DocumentRunRepository(s).count_ended([w.ended_run_id]),
    "DocumentRunRepository.list_open": lambda s, w: DocumentRunRepository(s).list_open([w.kb_id], [w.run.run_id]),
    "DocumentRunRepository.lock": lambda s, w: DocumentRunRepository(s).lock(w.run.run_id),
    "DocumentRunRepository.fail_superseded": lambda s, w: DocumentRunRepository(s).fail_superseded(w.run.run_id),
    "DocumentWithoutRunRepository.list_": lambda s, w: DocumentWithoutRunRepository(s).list_([w.kb_id], LATER),
    "DocumentWithoutRunRepository.lock": lambda s, w: DocumentWithoutRunRepository(s).lock(w.waiting_id, LATER),
    "OverdueRepository.list_": lambda s, w: OverdueRepository(s, w.organization_id).list_(Compared.UPLOADS, LATER),
    "ReportRepository.add": lambda s, _: ReportRepository(s).add(Report(now(), is_repair=True)),
    "ReportRepository.find_latest": lambda s, _: ReportRepository(s).find_latest(),
    **AUDIT_QUERIES,
    **HANDOVER_QUERIES,
}
OPEN = {
    "RateLimitRepository.acquire": "names nobody: it notes when the caller asked, and tells them how long to wait",
    "KeyRepository.list_": "public keys, with which everybody may check what was signed",
    "KeyRepository.is_replaced": "about the public keys, which everybody may list",
    "IndexRepository.find_active_variant": "which model answers is the same for everybody, and nobody's secret",
    "IndexStateRepository.list_variants": "which models there are is the same for everybody, and nobody's secret",
    "SignInRepository.find_logins": "answers anybody who knows the email: the password is checked by what it returns",
    "SignInRepository.wait_seconds": "asked before anybody is known, about hashes of emails and addresses",
    "SignInRepository.record_failure": "written before anybody is known, about hashes of emails and addresses",
    "SignInRepository.reset_failures": "written when somebody has signed in, about the hash of their own email",
    "SearchRepository.find_calibration": "what a model knows is the same for everybody, and nobody's secret",
    "SearchRepository.find_active_model": "the same for everybody: which model the installation searches with",
    "UserRepository.has_own_password": "names nobody: it answers about the caller's own account and no other",
    "UserRepository.lock_credentials": "waits for a lock and returns nothing",
    "UserRepository.hold_credentials": "waits for a lock and returns nothing",
    "UserRepository.set_own_password": "names nobody: it changes the caller's own and no other",
}
