"""Every query of every repository, each aimed at what belongs to the people of a `World`."""

from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import Any
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncSession

from muniment.accounts.repository import (
    OrganizationRepository,
    SessionRepository,
    SignInRepository,
    TokenRepository,
    UserRepository,
)
from muniment.accounts.tables import User
from muniment.artifacts.deletion import UnusedArtifactRepository
from muniment.artifacts.keys import Variant
from muniment.artifacts.repository import ArtifactKey, ArtifactRepository, NewText, PartRepository
from muniment.artifacts.tables import ArtifactParagraph, FullText
from muniment.audit.receipts.repository import Departure, ReceiptRepository, Signed
from muniment.audit.receipts.tables import Ending
from muniment.documents.names import name_key
from muniment.documents.repository import DocumentRepository, RevisionRepository, UploadRepository, Wanted
from muniment.documents.runs import RunStatus
from muniment.documents.tables import Document, Upload
from muniment.knowledge_bases.repository import KnowledgeBaseRepository, MemberRepository
from muniment.knowledge_bases.tables import KnowledgeBase, Role
from muniment.lifecycle.archived_documents import ArchivedRepository, WantedArchived
from muniment.lifecycle.explain import ExplainRepository
from muniment.processing.events.repository import ProgressRepository
from muniment.processing.results.annotations import NoteRepository
from muniment.processing.results.repository import ResultRepository
from muniment.processing.runs.reporting import HistoryRepository, StatisticsRepository
from muniment.processing.runs.repository import RunRepository
from muniment.processing.runs.tables import StepStatus
from muniment.reconcile.drift import Store as Compared
from muniment.reconcile.index_copies import LackingRepository
from muniment.reconcile.object_references import NamedFileRepository
from muniment.reconcile.overdue import OverdueRepository
from muniment.reconcile.report import Report, ReportRepository
from muniment.reconcile.runs import HaltedRunRepository, WaitingDocumentRepository
from muniment.search.external_index.state import SaidRepository
from muniment.search.indexing.repository import IndexRepository, NewIndex
from muniment.search.query.lexical.repository import WordRepository
from muniment.search.query.repository import SearchRepository
from muniment.search.query.request import LanguageQuery, Scope, parse
from muniment.search.query.within_document import WithinRepository
from muniment.search.variants import IndexingVariant
from muniment.storage.db.base import new_id, now
from muniment.storage.deletions.ledger import DeletionRepository, Line
from muniment.storage.deletions.tables import Outcome, Store
from muniment.storage.vectors.intents import IntentRepository
from muniment.storage.vectors.port import Candidate, Indexed
from muniment.storage.vectors.tables import Wanted as Intended
from tests.security.audit_queries import AUDIT_QUERIES
from tests.security.handover_queries import ARCHIVE_QUERIES
from tests.security.world import ARTIFACT, CONTENT_KEY, FILE_NAME, MODEL, SECRET, World

Query = Callable[[AsyncSession, World], Awaitable[Any]]

PAGE = {"offset": 0, "limit": 100}
LATER = now() + timedelta(days=1)
KEY = name_key(FILE_NAME)
FIRST_ID = UUID(int=0)
STALLED = timedelta(minutes=1)


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
        original_uri=world.blob_key(document_id),
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
        organization_id=world.organization_id,
        kb_id=world.kb_id,
        document_id=document_id,
        blob_key=world.blob_key(document_id),
        uploaded_by=world.owner.id,
        expires_at=LATER,
    )


def _line(world: World) -> Line:
    key = world.blob_key(world.document_id)
    return Line(world.organization_id, world.kb_id, world.document_id, Store.BLOBS, key, "test")


def _text(world: World) -> FullText:
    return FullText(id=world.artifact_id, **ARTIFACT)


def _artifact_key(world: World, content_key: str = CONTENT_KEY) -> ArtifactKey:
    return ArtifactKey(world.organization_id, content_key, Variant(1, ARTIFACT["params_fingerprint"]))


def _new_text() -> NewText:
    head = {"full_text_uri": "a/b", "full_text_sha256": "0", "total_pages": 0, "total_words": 0, "methods": {}}
    return NewText(head, [], [])


def _of_document(world: World) -> Document:
    return Document(id=world.document_id, organization_id=world.organization_id)


def _paragraph(world: World) -> ArtifactParagraph:
    return ArtifactParagraph(id=world.artifact_id, page_number=1, paragraph_index=1, paragraph_text_sha256="0")


def _scope(world: World) -> Scope:
    query = LanguageQuery("english", f"'{SECRET}'", f"'{SECRET}'", None, None, 1)
    return Scope(MODEL, [world.kb_id], [query])


def _candidate(world: World) -> Candidate:
    return Candidate(world.indexed_id, 0, 1, 0.0)


OTHER_MODEL = IndexingVariant("another", "another", 3)


def _new_index(world: World) -> NewIndex:
    variant = IndexingVariant(MODEL.fingerprint, MODEL.name, MODEL.dimensions)
    return NewIndex(world.artifact_id, world.organization_id, variant, "simple", [])


def _indexed(world: World) -> Indexed:
    return Indexed(world.document_id, world.kb_id, world.organization_id)


def _departure(world: World) -> Departure:
    """Of a document that is gone."""
    return Departure(
        new_id(), "gone.pdf", world.kb_id, world.organization_id, Ending.PURGE, str(world.owner.id), event_id=new_id()
    )


def _signed(world: World) -> Signed:
    return Signed(world.receipt_id, {"format": "of the world"}, "signature")


QUERIES: dict[str, Query] = {
    "ReceiptRepository.take_stock": lambda s, w: ReceiptRepository(s).take_stock(w.document_id),
    "ReceiptRepository.add": lambda s, w: ReceiptRepository(s).add(
        _departure(w), {"owner_id": str(w.owner.id), "is_being_read": False}
    ),
    "ReceiptRepository.find_of": lambda s, w: ReceiptRepository(s).find_of(w.kb_id, w.gone_id),
    "ReceiptRepository.get_signed": lambda s, w: ReceiptRepository(s).get_signed(w.signed_receipt_id),
    "ReceiptRepository.list_signed": lambda s, w: ReceiptRepository(s).list_signed(w.kb_id, **PAGE),
    "ReceiptRepository.list_unsigned_of": lambda s, w: ReceiptRepository(s).list_unsigned_of(w.kb_id, limit=100),
    "ReceiptRepository.count_unsigned_of": lambda s, w: ReceiptRepository(s).count_unsigned_of(w.kb_id),
    "ReceiptRepository.list_": lambda s, w: ReceiptRepository(s).list_([w.receipt_id]),
    "ReceiptRepository.take_due": lambda s, _: ReceiptRepository(s).take_due(limit=100),
    "ReceiptRepository.note_points": lambda s, w: ReceiptRepository(s).note_points({w.receipt_id: 1}),
    "ReceiptRepository.note_pending": lambda s, w: ReceiptRepository(s).note_pending({w.receipt_id: ["blobs"]}),
    "ReceiptRepository.find_places": lambda s, w: ReceiptRepository(s).find_places([w.sealed_event_id]),
    "ReceiptRepository.keep": lambda s, w: ReceiptRepository(s).keep([_signed(w)]),
    "ReceiptRepository.count_unsigned": lambda s, _: ReceiptRepository(s).count_unsigned(),
    "DeletionRepository.hasten": lambda s, w: DeletionRepository(s).hasten([w.gone_id]),
    "IntentRepository.remove_gone": lambda s, w: IntentRepository(s).remove_gone([w.gone_id]),
    "SignInRepository.find_by_session": lambda s, _: SignInRepository(s).find_by_session(b"a guess"),
    "SignInRepository.find_by_token": lambda s, _: SignInRepository(s).find_by_token(b"a guess"),
    "SignInRepository.redeem_link": lambda s, _: SignInRepository(s).redeem_link(b"a guess"),
    "SessionRepository.add": lambda s, w: SessionRepository(s).add(w.owner.principal, b"new", expires_at=LATER),
    "SessionRepository.end": lambda s, w: SessionRepository(s).end(w.session_hash),
    "SessionRepository.end_all": lambda s, w: SessionRepository(s).end_all(w.owner.id),
    "TokenRepository.add": lambda s, w: TokenRepository(s).add(w.owner.principal, "new", b"new", expires_at=LATER),
    "TokenRepository.list_": lambda s, _: TokenRepository(s).list_(**PAGE),
    "TokenRepository.revoke_all": lambda s, w: TokenRepository(s).revoke_all(w.owner.id),
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
    "KnowledgeBaseRepository.counts_of": lambda s, w: KnowledgeBaseRepository(s).counts_of(w.kb_id),
    "KnowledgeBaseRepository.remove": lambda s, w: KnowledgeBaseRepository(s).remove(_empty_kb(w)),
    "KnowledgeBaseRepository.lock": lambda s, w: KnowledgeBaseRepository(s).lock(_kb(w)),
    "MemberRepository.find_role": lambda s, w: MemberRepository(s).find_role(w.kb_id, w.member.id),
    "MemberRepository.set_role": lambda s, w: MemberRepository(s).set_role(_kb(w), w.member.id, Role.VIEWER),
    "MemberRepository.remove": lambda s, w: MemberRepository(s).remove(w.kb_id, w.member.id),
    "MemberRepository.list_": lambda s, w: MemberRepository(s).list_(w.kb_id, **PAGE),
    "DocumentRepository.add_unless_taken": lambda s, w: DocumentRepository(s).add_unless_taken(_new_document(w)),
    "DocumentRepository.get": lambda s, w: DocumentRepository(s).get(w.kb_id, w.document_id),
    "DocumentRepository.lock": lambda s, w: DocumentRepository(s).lock(w.kb_id, w.document_id),
    "DocumentRepository.find_active": lambda s, w: DocumentRepository(s).find_active(w.kb_id, KEY),
    "DocumentRepository.lock_with_namesakes": lambda s, w: DocumentRepository(s).lock_with_namesakes(
        w.kb_id, w.document_id, KEY
    ),
    "DocumentRepository.lock_inactive_namesakes": lambda s, w: DocumentRepository(s).lock_inactive_namesakes(
        w.kb_id, KEY
    ),
    "DocumentRepository.list_": lambda s, w: DocumentRepository(s).list_(Wanted(w.kb_id)),
    "DocumentRepository.list_contents": lambda s, w: DocumentRepository(s).list_contents(w.document_id),
    "DocumentRepository.remove": lambda s, w: DocumentRepository(s).remove(w.document_id),
    "RevisionRepository.get": lambda s, w: RevisionRepository(s).get(w.document_id, 1),
    "RevisionRepository.add": lambda s, w: RevisionRepository(s).add(_second_revision(w), {}),
    "RevisionRepository.next_number": lambda s, w: RevisionRepository(s).next_number(w.document_id),
    "RevisionRepository.list_epochs_after": lambda s, w: RevisionRepository(s).list_epochs_after(w.document_id, 0),
    "RevisionRepository.is_original": lambda s, w: RevisionRepository(s).is_original(
        w.document_id, w.blob_key(w.document_id)
    ),
    "RevisionRepository.take_besides": lambda s, w: RevisionRepository(s).take_besides(w.document_id, 7),
    "RevisionRepository.forget_shelf": lambda s, w: RevisionRepository(s).forget_shelf(w.document_id, 1),
    "ArchivedRepository.list_": lambda s, w: ArchivedRepository(s).list_(
        w.owner.principal, WantedArchived(search=FILE_NAME)
    ),
    "ExplainRepository.find_open_run": lambda s, w: ExplainRepository(s).find_open_run(w.document_id, 1),
    "ExplainRepository.list_events": lambda s, w: ExplainRepository(s).list_events(w.gone_id),
    "ExplainRepository.is_being_put_back": lambda s, w: ExplainRepository(s).is_being_put_back(w.archived_id),
    "UploadRepository.add": lambda s, w: UploadRepository(s).add(_new_upload(w)),
    "UploadRepository.take": lambda s, w: UploadRepository(s).take(w.upload_id),
    "UploadRepository.extend": lambda s, w: UploadRepository(s).extend(w.upload_id, LATER),
    "UploadRepository.take_expired": lambda s, _: UploadRepository(s).take_expired(now(), limit=100),
    "DeletionRepository.add": lambda s, w: DeletionRepository(s).add([_line(w)]),
    "DeletionRepository.take_due": lambda s, _: DeletionRepository(s).take_due(None, limit=100),
    "DeletionRepository.mark_done": lambda s, w: DeletionRepository(s).mark_done([w.deletion_id], Outcome.ERASED),
    "DeletionRepository.mark_failed": lambda s, w: DeletionRepository(s).mark_failed(w.deletion_id, "test"),
    "DeletionRepository.list_reserved": lambda s, w: DeletionRepository(s).list_reserved([w.gone_id]),
    "DeletionRepository.count_pending": lambda s, _: DeletionRepository(s).count_pending(),
    "ArtifactRepository.find": lambda s, w: ArtifactRepository(s).find(_artifact_key(w)),
    "ArtifactRepository.find_newest": lambda s, _: ArtifactRepository(s).find_newest(CONTENT_KEY, 1),
    "ArtifactRepository.get": lambda s, w: ArtifactRepository(s).get(w.artifact_id),
    "ArtifactRepository.add_once": lambda s, w: ArtifactRepository(s).add_once(_artifact_key(w, "new"), _new_text()),
    "ArtifactRepository.add_diagrams": lambda s, w: ArtifactRepository(s).add_diagrams(w.artifact_id),
    "ArtifactRepository.list_pages": lambda s, w: ArtifactRepository(s).list_pages(_text(w), **PAGE),
    "ArtifactRepository.find_page": lambda s, w: ArtifactRepository(s).find_page(_text(w), 1),
    "ArtifactRepository.list_paragraphs": lambda s, w: ArtifactRepository(s).list_paragraphs(_text(w), [1]),
    "ArtifactRepository.list_diagrams": lambda s, w: ArtifactRepository(s).list_diagrams(_text(w)),
    "UnusedArtifactRepository.list_ids": lambda s, w: UnusedArtifactRepository(s).list_ids(
        w.organization_id, after=None, limit=100
    ),
    "UnusedArtifactRepository.list_ids_of": lambda s, _: UnusedArtifactRepository(s).list_ids_of(CONTENT_KEY),
    "UnusedArtifactRepository.list_unused": lambda s, w: UnusedArtifactRepository(s).list_unused([w.artifact_id]),
    "UnusedArtifactRepository.correct_marks": lambda s, w: UnusedArtifactRepository(s).correct_marks(
        [w.artifact_id], LATER
    ),
    "UnusedArtifactRepository.take_all": lambda s, _: UnusedArtifactRepository(s).take_all([CONTENT_KEY]),
    "UnusedArtifactRepository.take": lambda s, w: UnusedArtifactRepository(s).take(w.artifact_id),
    "PartRepository.find_text": lambda s, w: PartRepository(s).find_text(w.artifact_id),
    "PartRepository.find_page": lambda s, w: PartRepository(s).find_page(w.artifact_id),
    "PartRepository.list_pages": lambda s, w: PartRepository(s).list_pages([w.artifact_id]),
    "PartRepository.list_pages_of": lambda s, w: PartRepository(s).list_pages_of(_text(w), [1]),
    "PartRepository.list_paragraphs": lambda s, w: PartRepository(s).list_paragraphs(_text(w), None, **PAGE),
    "PartRepository.find_paragraph": lambda s, w: PartRepository(s).find_paragraph(w.artifact_id, 1, 0),
    "PartRepository.list_diagrams": lambda s, w: PartRepository(s).list_diagrams([w.artifact_id]),
    "ResultRepository.list_pages": lambda s, w: ResultRepository(s).list_pages(w.document_id, **PAGE),
    "ResultRepository.get_page": lambda s, w: ResultRepository(s).get_page(w.document_id, 1),
    "ResultRepository.list_stale_pages": lambda s, w: ResultRepository(s).list_stale_pages(w.document_id, **PAGE),
    "ResultRepository.list_notes": lambda s, w: ResultRepository(s).list_notes(w.document_id, [w.artifact_id]),
    "ResultRepository.list_stale_paragraphs": lambda s, w: ResultRepository(s).list_stale_paragraphs(
        w.document_id, **PAGE
    ),
    "ResultRepository.list_diagrams": lambda s, w: ResultRepository(s).list_diagrams(w.document_id, None, **PAGE),
    "ResultRepository.get_diagram": lambda s, w: ResultRepository(s).get_diagram(w.document_id, "p1-0"),
    "NoteRepository.hold_document": lambda s, w: NoteRepository(s).hold_document(w.document_id),
    "NoteRepository.write_page": lambda s, w: NoteRepository(s).write_page(w.document_id, 1, {"flags": {"a": 1}}),
    "NoteRepository.write_diagram": lambda s, w: NoteRepository(s).write_diagram(w.document_id, "p1-0", None),
    "NoteRepository.put_paragraph": lambda s, w: NoteRepository(s).put_paragraph(_of_document(w), _paragraph(w), {}),
    "NoteRepository.change_paragraph": lambda s, w: NoteRepository(s).change_paragraph(w.document_id, 1, 0, {}),
    "NoteRepository.remove_paragraph": lambda s, w: NoteRepository(s).remove_paragraph(w.document_id, 1, 0),
    "SearchRepository.list_kb_ids": lambda s, w: SearchRepository(s).list_kb_ids([w.kb_id]),
    "SearchRepository.list_queries": lambda s, w: SearchRepository(s).list_queries(MODEL, [w.kb_id], parse(SECRET)),
    "WordRepository.match": lambda s, w: WordRepository(s).match(_scope(w), limit=10),
    "SearchRepository.confirm": lambda s, w: SearchRepository(s).confirm(_scope(w), [_candidate(w)], are_copies=True),
    "SearchRepository.read": lambda s, w: SearchRepository(s).read(MODEL, [(w.indexed_id, 0)]),
    "SearchRepository.find_centre": lambda s, w: SearchRepository(s).find_centre(MODEL, w.indexed_id),
    "WithinRepository.list_within": lambda s, w: WithinRepository(s).list_within(
        MODEL, w.indexed_id, parse(SECRET), _scope(w).queries
    ),
    "WithinRepository.list_layouts": lambda s, w: WithinRepository(s).list_layouts(w.indexed_text_id, [1]),
    "IndexRepository.register_variant": lambda s, _: IndexRepository(s).register_variant(OTHER_MODEL),
    "IndexRepository.activate": lambda s, _: IndexRepository(s).activate(MODEL.fingerprint),
    "IndexRepository.find": lambda s, w: IndexRepository(s).find(w.indexed_text_id, MODEL.fingerprint),
    "IndexRepository.add_once": lambda s, w: IndexRepository(s).add_once(_new_index(w)),
    "IntentRepository.add": lambda s, w: IntentRepository(s).add(_indexed(w), Intended.HIDDEN, 1),
    "IntentRepository.put_gone": lambda s, w: IntentRepository(s).put_gone(_indexed(w), 1),
    "IntentRepository.settle": lambda s, w: IntentRepository(s).settle(w.intent_id),
    "IntentRepository.take_due": lambda s, _: IntentRepository(s).take_due(),
    "IntentRepository.remove": lambda s, w: IntentRepository(s).remove(w.intent_id),
    "IntentRepository.count_open": lambda s, _: IntentRepository(s).count_open(),
    "RunRepository.look": lambda s, w: RunRepository(s).look(w.run.run_id),
    "RunRepository.claim": lambda s, w: RunRepository(s).claim(w.run.run_id),
    "RunRepository.enter_steps": lambda s, w: RunRepository(s).enter_steps(w.run, {"Index": StepStatus.SUCCESS}),
    "RunRepository.put_back": lambda s, w: RunRepository(s).put_back(w.run, has_failed=True),
    "RunRepository.attach": lambda s, w: RunRepository(s).attach(w.run, w.artifact_id, 1.0),
    "RunRepository.end": lambda s, w: RunRepository(s).end(w.run, RunStatus.FAILED),
    "RunRepository.hold": lambda s, w: RunRepository(s).hold(w.run),
    "HistoryRepository.list_": lambda s, w: HistoryRepository(s).list_(w.document_id, **PAGE),
    "ProgressRepository.list_of": lambda s, w: ProgressRepository(s).list_of([w.document_id]),
    "ProgressRepository.list_unfinished": lambda s, _: ProgressRepository(s).list_unfinished(limit=100),
    "StatisticsRepository.counts": lambda s, _: StatisticsRepository(s).counts(now() - timedelta(days=1)),
    "StatisticsRepository.savings": lambda s, _: StatisticsRepository(s).savings(),
    "NamedFileRepository.list_originals": lambda s, w: NamedFileRepository(s).list_originals(
        w.kb_id, after=FIRST_ID, limit=100
    ),
    "NamedFileRepository.list_packs": lambda s, w: NamedFileRepository(s).list_packs(
        w.organization_id, after="", limit=100
    ),
    "NamedFileRepository.list_known": lambda s, w: NamedFileRepository(s).list_known([w.blob_key(w.document_id)]),
    "NamedFileRepository.list_owners": lambda s, w: NamedFileRepository(s).list_owners([w.blob_key(w.document_id)]),
    "SaidRepository.list_next": lambda s, w: SaidRepository(s).list_next(w.kb_id, LATER, after=FIRST_ID, limit=100),
    "SaidRepository.list_of": lambda s, w: SaidRepository(s).list_of(w.kb_id, LATER, [w.document_id]),
    "SaidRepository.hold": lambda s, w: SaidRepository(s).hold(w.kb_id, LATER, w.document_id),
    "SaidRepository.list_known": lambda s, w: SaidRepository(s).list_known(w.kb_id, [w.document_id]),
    "LackingRepository.list_next": lambda s, w: LackingRepository(s, needs_epoch=True).list_next(
        [w.kb_id], LATER, after=FIRST_ID, limit=100
    ),
    "LackingRepository.list_of": lambda s, w: LackingRepository(s, needs_epoch=False).list_of(
        [w.kb_id], LATER, [w.lacking_id]
    ),
    "HaltedRunRepository.list_": lambda s, w: HaltedRunRepository(s, STALLED).list_([w.kb_id], LATER),
    "HaltedRunRepository.hold": lambda s, w: HaltedRunRepository(s, STALLED).hold(w.run.run_id, LATER),
    "HaltedRunRepository.end_superseded": lambda s, w: HaltedRunRepository(s, STALLED).end_superseded(w.run.run_id),
    "WaitingDocumentRepository.list_": lambda s, w: WaitingDocumentRepository(s).list_([w.kb_id], LATER),
    "WaitingDocumentRepository.hold": lambda s, w: WaitingDocumentRepository(s).hold(w.waiting_id, LATER),
    "OverdueRepository.list_": lambda s, w: OverdueRepository(s, w.organization_id).list_(Compared.UPLOADS, LATER),
    "ReportRepository.add": lambda s, _: ReportRepository(s).add(Report(now(), is_repair=True)),
    "ReportRepository.find_latest": lambda s, _: ReportRepository(s).find_latest(),
    **AUDIT_QUERIES,
    **ARCHIVE_QUERIES,
}
OPEN = {
    "RateRepository.admit": "names nobody: it notes when the caller asked, and tells them how long to wait",
    "KeyRepository.list_": "public keys, with which everybody may check what was signed",
    "IndexRepository.active_variant": "which model answers is the same for everybody, and nobody's secret",
    "SaidRepository.list_models": "which models there are is the same for everybody, and nobody's secret",
    "IndexRepository.find_variant": "which models there are is the same for everybody, and nobody's secret",
    "SignInRepository.find_login": "answers anybody who knows the email: the password is checked by what it returns",
    "SignInRepository.wait_seconds": "asked before anybody is known, about hashes of emails and addresses",
    "SignInRepository.note_failure": "written before anybody is known, about hashes of emails and addresses",
    "SignInRepository.forget_failures": "written when somebody has signed in, about the hash of their own email",
    "SearchRepository.find_model": "the same for everybody: which model the installation searches with",
    "SearchRepository.list_matching_words": "compares words that the caller gives with words that the caller gives",
    "UserRepository.set_own_password": "names nobody: it changes the caller's own and no other",
}
