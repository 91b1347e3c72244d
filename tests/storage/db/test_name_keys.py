"""The migration of name keys: twins are renamed, and processes of the previous version cannot add new ones."""

import importlib.util
import sys
import unicodedata
from pathlib import Path
from typing import Any
from uuid import UUID

import psycopg
import pytest
from hypothesis import given
from hypothesis import strategies as st

from muniment.documents.names import name_key
from muniment.storage.db.address import DatabaseAddress
from muniment.storage.db.migrate import downgrade, migrate
from muniment.storage.db.schema_version import MIGRATIONS
from muniment.storage.tasks.procrastinate.engine import ProcrastinateEngine
from tests.support.cluster import PASSWORDS
from tests.support.seed import Person, Seed


def load_migration() -> Any:
    [path] = Path(MIGRATIONS, "versions").glob("*_name_keys.py")
    spec = importlib.util.spec_from_file_location("name_keys_migration", path)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # its dataclasses look for their module
    spec.loader.exec_module(module)
    return module


MIGRATION = load_migration()


def old_key(name: str) -> str:
    """Return the key as the previous version computed it."""

    def fold(text: str) -> str:
        return unicodedata.normalize("NFC", unicodedata.normalize("NFD", text).casefold())

    return fold(fold(name))


class Library:
    """A knowledge base with documents of the previous version."""

    def __init__(self, seed: Seed) -> None:
        self.seed = seed
        self.owner: Person = seed.person()
        self.kb_id = seed.knowledge_base(self.owner)

    def add(self, name: str, status: str = "completed", **columns: Any) -> UUID:
        return self.seed.document(
            self.kb_id, self.owner, name=name, status=status, **{"name_key": old_key(name), **columns}
        )

    def names(self) -> dict[UUID, tuple[str, str]]:
        return {row[0]: (row[1], row[2]) for row in self.seed.rows("SELECT id, name, name_key FROM documents")}


@pytest.fixture
def library(address: DatabaseAddress, seed: Seed) -> Library:
    downgrade(address, MIGRATION.down_revision)
    return Library(seed)


def upgrade(address: DatabaseAddress) -> None:
    migrate(address, PASSWORDS, ProcrastinateEngine())


@given(st.text())
def test_migration_computes_the_keys_of_this_version(name: str) -> None:
    assert MIGRATION.name_key(name) == name_key(name)


def test_database_leaves_every_key_of_this_version_as_it_is(seed: Seed) -> None:
    characters = (chr(code) for code in range(32, sys.maxunicode + 1))
    assigned = (char for char in characters if unicodedata.category(char) not in ("Cn", "Co", "Cs", "Cc", "Lo"))
    keys = {name_key(f"a{char}b.pdf") for char in assigned}
    changed = seed.rows(
        "SELECT key, clean_name_key(key) FROM unnest(%s::text[]) key WHERE clean_name_key(key) <> key", [*keys]
    )
    assert changed == []


def test_newer_of_two_twins_gets_the_first_free_number_and_an_audit_event(
    address: DatabaseAddress, seed: Seed, library: Library
) -> None:
    older = library.add("report.pdf", created_at="2026-01-01")
    newer = library.add("Report.pdf.", created_at="2026-01-02")
    taken = library.add("report (2).pdf", status="archived")
    late = library.add("re\u200bport.pdf", status="pending", created_at="2026-01-03")

    upgrade(address)

    names = library.names()
    assert names[older] == ("report.pdf", "report.pdf")
    assert names[newer] == ("Report (3).pdf", "report (3).pdf")
    assert names[taken] == ("report (2).pdf", "report (2).pdf")
    assert names[late] == ("re\u200bport (4).pdf", "report (4).pdf")
    assert seed.one("SELECT name FROM document_revisions WHERE document_id = %s", newer) == "Report (3).pdf"
    events = [event for event in seed.audit_lines() if event["action"] == "document_renamed"]
    assert {event["document_id"] for event in events} == {newer, late}
    [event] = [event for event in events if event["document_id"] == newer]
    assert (event["actor"], event["organization_id"]) == ("system", library.owner.organization_id)
    assert event["payload"] == {
        "kb_id": str(library.kb_id),
        "doc_id": str(newer),
        "doc_name": "Report (3).pdf",
        "old_name": "Report.pdf.",
        "reason": "same_name",
    }
    assert seed.one("SELECT count(*) FROM audit_unsealed") == len(events)


def test_older_twin_keeps_its_name_even_if_the_key_of_the_newer_one_was_right(
    address: DatabaseAddress, library: Library
) -> None:
    older = library.add("my\u00a0report.pdf", created_at="2026-01-01")
    newer = library.add("my report.pdf", created_at="2026-01-02")
    upgrade(address)
    assert library.names() == {
        older: ("my\u00a0report.pdf", "my report.pdf"),
        newer: ("my report (2).pdf", "my report (2).pdf"),
    }


def test_archived_and_failed_documents_get_new_keys_and_keep_their_names(
    address: DatabaseAddress, seed: Seed, library: Library
) -> None:
    active = library.add("report.pdf")
    archived, failed = library.add("report.pdf.", "archived"), library.add("report.pdf..", "failed")
    upgrade(address)
    assert library.names() == {
        active: ("report.pdf", "report.pdf"),
        archived: ("report.pdf.", "report.pdf"),
        failed: ("report.pdf..", "report.pdf"),
    }
    assert [event for event in seed.audit_lines() if event["action"] == "document_renamed"] == []


def test_same_name_in_another_knowledge_base_is_no_twin(address: DatabaseAddress, seed: Seed, library: Library) -> None:
    one = library.add("report.pdf")
    other_kb = seed.knowledge_base(library.owner)
    other = seed.document(other_kb, library.owner, name="report.pdf.", name_key="report.pdf.")
    upgrade(address)
    assert library.names() == {one: ("report.pdf", "report.pdf"), other: ("report.pdf.", "report.pdf")}


def test_more_documents_than_one_batch_are_changed(
    address: DatabaseAddress, library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    added = {library.add(f"{number}.pdf."): number for number in range(5)}
    upgrade(address)
    monkeypatch.setattr(MIGRATION, "BATCH", 2)
    for document_id, number in added.items():
        library.seed.execute("ALTER TABLE documents DISABLE TRIGGER clean_name_key")
        library.seed.execute("UPDATE documents SET name_key = %s WHERE id = %s", f"{number}.pdf.", document_id)
    library.seed.execute("ALTER TABLE documents ENABLE TRIGGER clean_name_key")
    with psycopg.connect(address.conninfo, autocommit=True) as connection:
        MIGRATION.KeyUpdate(connection).run()
    assert {key for _, key in library.names().values()} == {f"{number}.pdf" for number in range(5)}


def test_process_of_the_previous_version_cannot_add_a_twin(seed: Seed) -> None:
    library = Library(seed)
    library.add("report.pdf", name_key="report.pdf")
    with pytest.raises(psycopg.errors.SerializationFailure, match="upgrade Muniment"):
        library.add("report.pdf.")
    alone = library.add("Letter\u00a0™.pdf.")
    assert library.names()[alone] == ("Letter\u00a0™.pdf.", name_key("Letter\u00a0™.pdf."))
    with pytest.raises(psycopg.errors.SerializationFailure):
        seed.execute("UPDATE documents SET name_key = 'report.pdf .' WHERE id = %s", alone)


def test_folder_is_part_of_the_unique_name(seed: Seed) -> None:
    library = Library(seed)
    library.add("report.pdf")
    library.add("report.pdf", path_key="2026/")
    with pytest.raises(psycopg.errors.UniqueViolation):
        library.add("report.pdf")
