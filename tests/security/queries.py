"""Every query of every repository, each aimed at what belongs to the people of a `World`."""

from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import Any

from sqlalchemy.ext.asyncio import AsyncSession

from muniment.accounts.repository import (
    OrganizationRepository,
    SessionRepository,
    SignInRepository,
    TokenRepository,
    UserRepository,
)
from muniment.accounts.tables import User
from muniment.documents.names import name_key
from muniment.documents.repository import DocumentRepository, UploadRepository, Wanted
from muniment.documents.tables import Document, Upload
from muniment.knowledge_bases.repository import KnowledgeBaseRepository, MemberRepository
from muniment.knowledge_bases.tables import KnowledgeBase, Role
from muniment.processing.runs import RunRepository
from muniment.storage.db.base import new_id, now
from muniment.storage.deletions.ledger import DeletionRepository, Line
from muniment.storage.deletions.tables import Store
from tests.security.world import FILE_NAME, World

Query = Callable[[AsyncSession, World], Awaitable[Any]]

PAGE = {"offset": 0, "limit": 100}
LATER = now() + timedelta(days=1)
KEY = name_key(FILE_NAME)


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


QUERIES: dict[str, Query] = {
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
    "DocumentRepository.exists": lambda s, w: DocumentRepository(s).exists(w.document_id),
    "DocumentRepository.find_active": lambda s, w: DocumentRepository(s).find_active(w.kb_id, KEY),
    "DocumentRepository.lock_inactive_namesakes": lambda s, w: DocumentRepository(s).lock_inactive_namesakes(
        w.kb_id, KEY
    ),
    "DocumentRepository.list_": lambda s, w: DocumentRepository(s).list_(Wanted(w.kb_id)),
    "DocumentRepository.blob_keys": lambda s, w: DocumentRepository(s).blob_keys(w.document_id),
    "DocumentRepository.remove": lambda s, w: DocumentRepository(s).remove(w.document_id),
    "UploadRepository.add": lambda s, w: UploadRepository(s).add(_new_upload(w)),
    "UploadRepository.take": lambda s, w: UploadRepository(s).take(w.upload_id),
    "UploadRepository.extend": lambda s, w: UploadRepository(s).extend(w.upload_id, LATER),
    "UploadRepository.take_expired": lambda s, _: UploadRepository(s).take_expired(now(), limit=100),
    "DeletionRepository.add": lambda s, w: DeletionRepository(s).add([_line(w)]),
    "DeletionRepository.take_due": lambda s, _: DeletionRepository(s).take_due(None, limit=100),
    "DeletionRepository.mark_done": lambda s, w: DeletionRepository(s).mark_done(w.deletion_id),
    "DeletionRepository.mark_failed": lambda s, w: DeletionRepository(s).mark_failed(w.deletion_id, "test"),
    "DeletionRepository.count_pending": lambda s, _: DeletionRepository(s).count_pending(),
    "RunRepository.claim": lambda s, w: RunRepository(s).claim(w.run.run_id),
    "RunRepository.hold": lambda s, w: RunRepository(s).hold(w.run),
}
OPEN = {
    "SignInRepository.find_login": "answers anybody who knows the email: the password is checked by what it returns",
    "SignInRepository.wait_seconds": "asked before anybody is known, about hashes of emails and addresses",
    "SignInRepository.note_failure": "written before anybody is known, about hashes of emails and addresses",
    "SignInRepository.forget_failures": "written when somebody has signed in, about the hash of their own email",
    "UserRepository.set_own_password": "names nobody: it changes the caller's own and no other",
}
