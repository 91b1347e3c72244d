"""Builders with readable defaults: state only what the test is about. They write as the superuser and really commit."""

import base64
import hashlib
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import psycopg
from argon2 import PasswordHasher
from psycopg import sql
from psycopg.types.json import Jsonb

from muniment.accounts.credentials import digest, email_key, new_api_token, new_secret
from muniment.artifacts.keys import ContentKeyFactory, SharingScope
from muniment.documents.names import name_key
from muniment.storage.db.address import DatabaseAddress
from muniment.storage.db.base import new_id
from muniment.storage.db.principal import Principal

HMAC_SECRET = "secret of the tests"
SIGNING_KEY = base64.b64encode(b"signing key of the tests".ljust(32, b".")).decode()
KEY_ID = ContentKeyFactory(HMAC_SECRET, SharingScope.ORGANIZATION).key_id
PASSWORD = "correct horse battery staple"
# The lowest cost that Argon2 allows: no test is about it.
CHEAP_HASHER = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)
PASSWORD_HASH = CHEAP_HASHER.hash(PASSWORD)


@dataclass(frozen=True)
class Person:
    principal: Principal
    email: str
    token: str
    """One of their API tokens."""
    headers: dict[str, str] = field(default_factory=dict)

    @property
    def id(self) -> UUID:
        return self.principal.user_id

    @property
    def organization_id(self) -> UUID:
        return self.principal.organization_id


class Seed:
    def __init__(self, superuser: DatabaseAddress) -> None:
        self._connection = psycopg.connect(superuser.conninfo, autocommit=True)

    def close(self) -> None:
        self._connection.close()

    def organization(self, name: str = "Firma AS") -> UUID:
        organization_id = new_id()
        self.insert("organizations", id=organization_id, name=name)
        return organization_id

    def person(
        self,
        organization_id: UUID | None = None,
        *,
        email: str | None = None,
        password: str = PASSWORD,
        is_admin: bool = False,
        is_operator: bool = False,
    ) -> Person:
        """Add a user to a new organization, or the given one. They can sign in with the password and have a token."""
        organization_id = organization_id or self.organization()
        user_id, email = new_id(), email or f"{uuid4().hex[:12]}@example.org"
        self.insert(
            "users",
            id=user_id,
            organization_id=organization_id,
            email=email,
            email_key=email_key(email),
            password_hash=PASSWORD_HASH if password == PASSWORD else CHEAP_HASHER.hash(password),
            is_admin=is_admin,
            is_operator=is_operator,
        )
        token = self.token(user_id, organization_id)
        principal = Principal(user_id, organization_id, is_admin=is_admin, is_operator=is_operator)
        return Person(principal, email, token, {"Authorization": f"Bearer {token}"})

    def token(self, user_id: UUID, organization_id: UUID, *, expires_in: timedelta = timedelta(days=1)) -> str:
        secret = new_api_token()
        self.insert(
            "api_tokens",
            id=new_id(),
            user_id=user_id,
            organization_id=organization_id,
            name="test",
            token_hash=digest(secret),
            expires_at=datetime.now(UTC) + expires_in,
        )
        return secret

    def knowledge_base(self, owner: Person, name: str = "Contracts and invoices") -> UUID:
        kb_id = new_id()
        self.insert("knowledge_bases", id=kb_id, organization_id=owner.organization_id, owner_id=owner.id, name=name)
        return kb_id

    def member(self, kb_id: UUID, person: Person, role: str) -> None:
        self.insert(
            "knowledge_base_members",
            knowledge_base_id=kb_id,
            user_id=person.id,
            organization_id=person.organization_id,
            role=role,
        )

    def document(
        self, kb_id: UUID, uploader: Person, *, name: str = "document.pdf", status: str = "completed", **columns: Any
    ) -> UUID:
        """Add a document with its revision; `completed` and `archived` ones have the matching times."""
        document_id, at = new_id(), datetime.now(UTC)
        key = f"{kb_id}/{document_id}/1/original"
        content = {
            "organization_id": uploader.organization_id,
            "name": name,
            "revision": 1,
            "media_type": "application/pdf",
            "original_uri": key,
            "file_size": 1000,
            "sha256": "0" * 64,
            "content_hmac": f"{KEY_ID}:{uuid4().hex}",
            "uploaded_by": uploader.id,
        }
        times = {
            "completed_at": at if status in ("completed", "archived") else None,
            "archived_at": at if status == "archived" else None,
        }
        self.insert(
            "documents",
            **{
                "id": document_id,
                "knowledge_base_id": kb_id,
                "name_key": name_key(name),
                "document_type": "other",
                "status": status,
                "epoch": 1,
                **content,
                **times,
                **columns,
            },
        )
        self.insert("document_revisions", document_id=document_id, **content)
        return document_id

    def set_original(self, document_id: UUID, content: bytes) -> None:
        """Record size and hash of the bytes that a test puts into the object store."""
        values = (len(content), hashlib.sha256(content).hexdigest(), document_id)
        self.execute("UPDATE documents SET file_size = %s, sha256 = %s WHERE id = %s", *values)
        self.execute("UPDATE document_revisions SET file_size = %s, sha256 = %s WHERE document_id = %s", *values)

    def failed_replacement(self, document_id: UUID, *, name: str = "failed.pdf", expires_at: datetime) -> str:
        """Add a replacement of the document that failed and was reverted. Return the key of its content."""
        failure = Jsonb({"code": "corrupt", "message": "The PDF file is damaged.", "at": expires_at.isoformat()})
        self.execute(
            """INSERT INTO document_revisions (document_id, revision, organization_id, name, media_type, original_uri,
                                               file_size, sha256, content_hmac, uploaded_by, failure, expires_at)
               SELECT id, revision + 7, organization_id, %s, media_type,
                      knowledge_base_id || '/' || id || '/failed/original',
                      file_size, sha256, content_hmac || 'f', uploaded_by, %s, %s FROM documents WHERE id = %s""",
            name,
            failure,
            expires_at,
            document_id,
        )
        return str(self.one("SELECT original_uri FROM document_revisions WHERE expires_at = %s", expires_at))

    def insert(self, table: str, **columns: Any) -> None:
        values = {name: Jsonb(value) if isinstance(value, dict | list) else value for name, value in columns.items()}
        self._connection.execute(
            sql.SQL("INSERT INTO {} ({}) VALUES ({})").format(
                sql.Identifier(table),
                sql.SQL(", ").join(map(sql.Identifier, values)),
                sql.SQL(", ").join(sql.Placeholder() for _ in values),
            ),
            list(values.values()),
        )

    def rows(self, statement: str, *values: Any) -> list[tuple[Any, ...]]:
        """Return rows as the superuser, without row level security."""
        return self._connection.execute(statement, values).fetchall()

    def one(self, statement: str, *values: Any) -> Any:
        return self.rows(statement, *values)[0][0]

    def execute(self, statement: str, *values: Any) -> None:
        self._connection.execute(statement, values)

    def session(self, person: Person, *, expires_in: timedelta = timedelta(days=1)) -> str:
        """Create a browser session and return the value of its cookie."""
        secret = new_secret()
        self.insert(
            "sessions",
            id=new_id(),
            user_id=person.id,
            organization_id=person.organization_id,
            token_hash=digest(secret),
            expires_at=datetime.now(UTC) + expires_in,
        )
        return secret

    def deactivate(self, person: Person) -> None:
        self.execute("UPDATE users SET is_active = false WHERE id = %s", person.id)

    def audit_lines(self) -> list[dict[str, Any]]:
        """Return the whole audit log, oldest first."""
        columns = ("action", "actor", "organization_id", "knowledge_base_id", "document_id", "address", "payload")
        rows = self.rows(f"SELECT {', '.join(columns)} FROM audit_events ORDER BY id")
        return [dict(zip(columns, row, strict=True)) for row in rows]
