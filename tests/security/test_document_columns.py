"""Which columns of a document the login of the requests may write, and which text a document may show.

Whoever found a way to run a statement of their own on that login must not read another organization's text with it.
"""

from dataclasses import dataclass
from uuid import UUID

import pytest
from sqlalchemy import text

from muniment.artifacts.keys import SharingScope
from muniment.errors import Forbidden
from muniment.storage.db.address import APP_LOGIN
from muniment.storage.db.base import new_id
from muniment.storage.db.principal import Service
from muniment.storage.db.work import Database
from tests.security.test_escalation import FOREIGN_KEY, RIGHT, state_of
from tests.support.seed import KEY_ID, Person, Seed

SHOW = "UPDATE documents SET artifact_text_id = :artifact WHERE id = :document"
FIXED = {"id", "organization_id", "knowledge_base_id", "document_type", "created_at"}
"""What a document keeps for life."""
INSERTED = {
    "id", "organization_id", "knowledge_base_id", "name", "name_key", "document_type", "status", "epoch", "revision",
    "media_type", "original_uri", "file_size", "sha256", "content_hmac", "uploaded_by",
}  # fmt: skip


@dataclass(frozen=True)
class Mine:
    person: Person
    document_id: UUID


@pytest.fixture
def mine(seed: Seed) -> Mine:
    person = seed.person()
    return Mine(person, seed.document(seed.knowledge_base(person), person))


def add_artifact(seed: Seed, scope: SharingScope, organization_id: UUID) -> UUID:
    """Add a text as reading a document of this organization leaves it in this scope."""
    artifact_id = new_id()
    seed.insert(
        "artifacts_full_text",
        id=artifact_id,
        organization_id=None if scope is SharingScope.SHARED else organization_id,
        content_hmac=f"{KEY_ID}:{artifact_id.hex}",
        algorithm_version=1,
        params_fingerprint="of the tests",
        full_text_uri="artifacts/x",
        full_text_sha256="0",
        total_pages=1,
        total_words=1,
        methods={},
    )
    return artifact_id


def writable_columns(seed: Seed, command: str) -> set[str]:
    return {
        column
        for (column,) in seed.rows(
            "SELECT attname FROM pg_attribute WHERE attrelid = 'documents'::regclass AND attnum > 0"
        )
        if seed.one("SELECT has_column_privilege(%s, 'documents', %s, %s)", APP_LOGIN, column, command)
    }


def test_requests_write_only_the_columns_that_uploads_and_moves_need(seed: Seed) -> None:
    assert writable_columns(seed, "INSERT") == INSERTED
    assert not writable_columns(seed, "UPDATE") & FIXED
    assert not seed.one("SELECT has_table_privilege(%s, 'documents', 'UPDATE')", APP_LOGIN)


@pytest.mark.parametrize("column", sorted(FIXED))
async def test_what_a_document_keeps_for_life_cannot_be_changed(database: Database, mine: Mine, column: str) -> None:
    assert await state_of(database, mine.person, f"UPDATE documents SET {column} = {column}") == RIGHT


@pytest.mark.parametrize("scope", SharingScope)
async def test_a_document_shows_a_text_of_its_own_organization(
    database: Database, seed: Seed, mine: Mine, scope: SharingScope
) -> None:
    artifact_id = add_artifact(seed, scope, mine.person.organization_id)
    assert await state_of(database, mine.person, SHOW, artifact=artifact_id, document=mine.document_id) is None
    assert seed.one("SELECT artifact_text_id FROM documents WHERE id = %s", mine.document_id) == artifact_id


@pytest.mark.parametrize("scope", SharingScope)
async def test_a_text_of_another_organization_is_shown_only_where_all_share_texts(
    database: Database, seed: Seed, mine: Mine, scope: SharingScope
) -> None:
    artifact_id = add_artifact(seed, scope, seed.person().organization_id)
    state = await state_of(database, mine.person, SHOW, artifact=artifact_id, document=mine.document_id)
    assert state == (None if scope is SharingScope.SHARED else RIGHT)


@pytest.mark.parametrize("scope", [SharingScope.ORGANIZATION, SharingScope.DOCUMENT])
async def test_the_login_of_the_workers_is_held_to_the_same(
    database: Database, seed: Seed, mine: Mine, scope: SharingScope
) -> None:
    artifact_id = add_artifact(seed, scope, seed.person().organization_id)
    for statement in (SHOW, "UPDATE document_revisions SET artifact_text_id = :artifact WHERE document_id = :document"):
        with pytest.raises(Forbidden):
            async with database.service_work(Service(mine.person.organization_id)) as work:
                await work.session.execute(text(statement), {"artifact": artifact_id, "document": mine.document_id})


async def test_a_text_that_does_not_exist_is_refused(database: Database, mine: Mine) -> None:
    assert await state_of(database, mine.person, SHOW, artifact=new_id(), document=mine.document_id) == FOREIGN_KEY


async def test_a_document_may_show_nothing(database: Database, seed: Seed, mine: Mine) -> None:
    artifact_id = add_artifact(seed, SharingScope.ORGANIZATION, mine.person.organization_id)
    seed.execute("UPDATE documents SET artifact_text_id = %s", artifact_id)
    assert await state_of(database, mine.person, SHOW, artifact=None, document=mine.document_id) is None


async def test_a_revert_shows_the_text_of_its_revision_again_wherever_that_is_from(
    database: Database, seed: Seed, mine: Mine
) -> None:
    # As after a move of the installation to another organization's key: the row is what the worker once wrote.
    artifact_id = add_artifact(seed, SharingScope.ORGANIZATION, seed.person().organization_id)
    seed.execute("ALTER TABLE document_revisions DISABLE TRIGGER USER")
    seed.execute("UPDATE document_revisions SET artifact_text_id = %s", artifact_id)
    seed.execute("ALTER TABLE document_revisions ENABLE TRIGGER USER")
    assert await state_of(database, mine.person, SHOW, artifact=artifact_id, document=mine.document_id) is None
    another = seed.document(seed.knowledge_base(mine.person), mine.person)
    seed.execute("DELETE FROM document_revisions WHERE document_id = %s", another)
    assert await state_of(database, mine.person, SHOW, artifact=artifact_id, document=another) == RIGHT


async def test_nobody_invents_a_revision_to_revert_to(database: Database, seed: Seed, mine: Mine) -> None:
    artifact_id = add_artifact(seed, SharingScope.ORGANIZATION, seed.person().organization_id)
    invented = """
        INSERT INTO document_revisions (document_id, revision, organization_id, name, media_type, original_uri,
               file_size, sha256, content_hmac, uploaded_by, artifact_text_id)
        SELECT id, 2, organization_id, name, media_type, original_uri, file_size, sha256, content_hmac, uploaded_by,
               :artifact FROM documents WHERE id = :document
    """
    state = await state_of(database, mine.person, invented, artifact=artifact_id, document=mine.document_id)
    assert state == RIGHT
