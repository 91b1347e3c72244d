"""Give documents whose names look the same one name key, and add the path key to the unique index.

Names that differ only in width, zero-width characters, white space or trailing dots and spaces become duplicates. Of
two active documents that have the same name now, the newer one is renamed. Rows are changed in batches, while processes
of the previous version keep working: a trigger simplifies the keys that they write.
"""

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import PurePath
from uuid import UUID

import psycopg
from alembic import op
from psycopg.types.json import Jsonb

from muniment.migrations.policies import grant_execute

revision = "0034"
down_revision = "0033"

BATCH = 500
MAX_NAME_CHARACTERS = 255
ACTIVE = "status IN ('pending', 'processing', 'completed')"
ZERO_WIDTH = re.compile("[\u00ad\u180e\u200b-\u200f\u2060-\u2064\ufeff]")
WHITE_SPACE = re.compile(r"\s+")


def upgrade() -> None:
    # Everything can be repeated: after an interruption in the batches, the migration starts again.
    op.execute(
        r"""
        ALTER TABLE documents ADD COLUMN IF NOT EXISTS path_key text NOT NULL DEFAULT '';

        -- Keys of this version stay as they are. Keys of the previous one are folded already, apart from capital
        -- letters that NFKC produces (U+2122 becomes TM).
        CREATE OR REPLACE FUNCTION clean_name_key(p_key text) RETURNS text LANGUAGE sql IMMUTABLE AS $function$
            SELECT CASE WHEN simple.key = p_key THEN p_key ELSE coalesce(nullif(lower(simple.key), ''), p_key) END
              FROM regexp_replace(normalize(p_key, NFKC),
                                  '[\u00ad\u180e\u200b-\u200f\u2060-\u2064\ufeff]', '', 'g') visible,
                   rtrim(regexp_replace(visible, '[ \u1680]+', ' ', 'g'), '. ') simple (key)
        $function$;

        -- The previous version would look for the document in its way under another key, again and again: it gets an
        -- error that it answers with 503.
        CREATE OR REPLACE FUNCTION clean_document_name_key() RETURNS trigger LANGUAGE plpgsql AS $function$
            BEGIN
                IF clean_name_key(NEW.name_key) = NEW.name_key THEN
                    RETURN NEW;
                END IF;
                NEW.name_key := clean_name_key(NEW.name_key);
                IF NEW.status IN ('pending', 'processing', 'completed')
                   AND EXISTS (SELECT FROM documents d
                                WHERE d.knowledge_base_id = NEW.knowledge_base_id AND d.name_key = NEW.name_key
                                  AND d.id <> NEW.id AND d.status IN ('pending', 'processing', 'completed')) THEN
                    RAISE serialization_failure USING MESSAGE = 'a document with this name exists: upgrade Muniment';
                END IF;
                RETURN NEW;
            END $function$;
        DROP TRIGGER IF EXISTS clean_name_key ON documents;
        CREATE TRIGGER clean_name_key BEFORE INSERT OR UPDATE OF name_key ON documents
            FOR EACH ROW EXECUTE FUNCTION clean_document_name_key();

        -- The owner renames revisions in the batches.
        DROP POLICY IF EXISTS owner_renames ON document_revisions;
        CREATE POLICY owner_renames ON document_revisions TO muniment_owner USING (true) WITH CHECK (true);
        """
    )
    grant_execute("clean_name_key(text)", "muniment_app", "muniment_service")
    with op.get_context().autocommit_block():
        driver = op.get_bind().connection.driver_connection
        assert isinstance(driver, psycopg.Connection)
        KeyUpdate(driver).run()
    op.execute(
        f"""
        DROP POLICY owner_renames ON document_revisions;
        CREATE UNIQUE INDEX uq_documents_active_path_name ON documents (knowledge_base_id, path_key, name_key)
            WHERE {ACTIVE};
        DROP INDEX uq_documents_active_name;
        ALTER INDEX uq_documents_active_path_name RENAME TO uq_documents_active_name;
        """
    )


def downgrade() -> None:
    """Keep the keys: the previous version computes them again when a name changes."""
    op.execute(
        f"""
        DROP TRIGGER clean_name_key ON documents;
        DROP FUNCTION clean_document_name_key();
        DROP FUNCTION clean_name_key(text);
        DROP INDEX uq_documents_active_name;
        CREATE UNIQUE INDEX uq_documents_active_name ON documents (knowledge_base_id, name_key) WHERE {ACTIVE};
        ALTER TABLE documents DROP COLUMN path_key;
        """
    )


def name_key(name: str) -> str:
    """Return the key as `documents/names.py` computes it in this version."""
    key = _fold(_simplify(name))
    while (again := _fold(_simplify(key))) != key:
        key = again
    return key


def _simplify(name: str) -> str:
    compatible = unicodedata.normalize("NFKC", name)
    return WHITE_SPACE.sub(" ", ZERO_WIDTH.sub("", compatible)).rstrip(". ") or compatible


def _fold(name: str) -> str:
    return unicodedata.normalize("NFC", unicodedata.normalize("NFD", name).casefold())


def numbered_names(name: str) -> Iterator[str]:
    """Yield `report (2).pdf`, `report (3).pdf` and so on."""
    whole = name.rstrip(". ") or name
    stem, extension = PurePath(whole).stem, PurePath(whole).suffix
    number = 2
    while True:
        ending = f" ({number}){extension}"
        yield stem[: MAX_NAME_CHARACTERS - len(ending)] + ending
        number += 1


@dataclass(frozen=True)
class DocumentRow:
    id: UUID
    organization_id: UUID
    kb_id: UUID
    name: str
    key: str
    is_active: bool
    created_at: datetime

    @property
    def age(self) -> tuple[datetime, UUID]:
        return self.created_at, self.id


COLUMNS = f"id, organization_id, knowledge_base_id, name, name_key, {ACTIVE}, created_at"


@dataclass(frozen=True)
class KeyUpdate:
    """Changes the keys of all documents. They are read in batches, and each change is a transaction."""

    connection: psycopg.Connection

    def run(self) -> None:
        assert self.connection.autocommit
        last: UUID | None = UUID(int=0)
        while last is not None:
            last = self._update_batch(last)

    def _update_batch(self, after: UUID) -> UUID | None:
        """Update the documents after this id and return the id of the last one, or None if there are no more."""
        query = f"SELECT {COLUMNS} FROM documents WHERE id > %s ORDER BY id LIMIT {BATCH}"
        rows = [DocumentRow(*row) for row in self.connection.execute(query, [after])]
        for document in rows:
            if name_key(document.name) != document.key:
                self._update(document.id)
        return rows[-1].id if rows else None

    def _update(self, document_id: UUID) -> None:
        """Give the document its new key. If another process is in the way, start again."""
        while True:
            try:
                with self.connection.transaction():
                    return self._update_locked(document_id)
            except (psycopg.errors.UniqueViolation, psycopg.errors.DeadlockDetected):
                continue

    def _update_locked(self, document_id: UUID) -> None:
        document = self._find("id = %s FOR UPDATE", document_id)
        if document is None:  # purged meanwhile
            return
        key = name_key(document.name)
        same = f"knowledge_base_id = %s AND name_key = %s AND id <> %s AND {ACTIVE} FOR UPDATE"
        twin = self._find(same, document.kb_id, key, document.id) if document.is_active else None
        if twin is None:
            self._write(document, document.name, key)
            return
        older, newer = sorted((document, twin), key=lambda row: row.age)
        self._rename(newer)
        if older is document:
            self._write(document, document.name, key)

    def _rename(self, document: DocumentRow) -> None:
        for name in numbered_names(document.name):
            key = name_key(name)
            if self._find("knowledge_base_id = %s AND name_key = %s LIMIT 1", document.kb_id, key) is None:
                break
        self._write(document, name, key)
        self.connection.execute(
            "UPDATE document_revisions r SET name = %s FROM documents d"
            " WHERE d.id = %s AND r.document_id = d.id AND r.revision = d.revision",
            [name, document.id],
        )
        payload = {
            "kb_id": str(document.kb_id),
            "doc_id": str(document.id),
            "doc_name": name,
            "old_name": document.name,
            "reason": "same_name",
        }
        self.connection.execute(
            "INSERT INTO audit_events (id, action, actor, organization_id, knowledge_base_id, document_id, payload)"
            " VALUES (gen_random_uuid(), 'document_renamed', 'system', %s, %s, %s, %s)",
            [document.organization_id, document.kb_id, document.id, Jsonb(payload)],
        )

    def _write(self, document: DocumentRow, name: str, key: str) -> None:
        self.connection.execute("UPDATE documents SET name = %s, name_key = %s WHERE id = %s", [name, key, document.id])

    def _find(self, condition: str, *values: object) -> DocumentRow | None:
        found = self.connection.execute(f"SELECT {COLUMNS} FROM documents WHERE {condition}".encode(), values)
        row = found.fetchone()
        return DocumentRow(*row) if row else None
