"""What users cannot achieve with SQL on the login of requests, even if the code above forgets a check."""

from typing import Any
from uuid import UUID

import pytest
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError

from muniment.errors import Forbidden
from muniment.storage.db.base import new_id
from muniment.storage.db.work import Database
from muniment.storage.tasks.procrastinate.queue import ProcrastinateQueue
from tests.security.world import World, a_world
from tests.support.seed import Person, Seed

RIGHT = "42501"
FOREIGN_KEY = "23503"

ADD_ADMIN = """INSERT INTO users (id, organization_id, email, email_key, is_admin, is_operator)
               VALUES (:id, :organization, 'x@example.org', 'x@example.org', true, :operator)"""
ADD_LINE = """INSERT INTO audit_events (id, action, actor, organization_id, knowledge_base_id, payload)
              VALUES (:id, 'test', :actor, :organization, :kb, '{}')"""
ADD_MEMBER = """INSERT INTO knowledge_base_members (knowledge_base_id, user_id, organization_id, role)
                VALUES (:kb, :user, :organization, 'editor')"""
ADD_DOCUMENT = """INSERT INTO documents (id, organization_id, knowledge_base_id, name, name_key, document_type, status,
                    epoch, revision, media_type, original_uri, file_size, sha256, content_hmac, uploaded_by)
                  VALUES (:id, :organization, :kb, 'a.pdf', 'a.pdf', 'other', 'pending',
                    1, 1, 'application/pdf', :original, 1, '', '', :user)"""
ADD_UPLOAD = """INSERT INTO uploads (id, organization_id, knowledge_base_id, document_id, blob_key, uploaded_by,
                    expires_at)
                VALUES (:id, :organization, :kb, :id, :key, :user, now())"""
ADD_DELETION = """INSERT INTO deletions (id, organization_id, knowledge_base_id, document_id, store, target, reason)
                  VALUES (gen_random_uuid(), :organization, :kb, :document, 'blobs', :target, 'test')"""


async def state_of(database: Database, person: Person, statement: str, **values: Any) -> str | None:
    """Return the SQLSTATE of the refusal, or None if the statement succeeded."""
    try:
        async with database.work(person.principal) as work:
            await work.session.execute(text(statement), values)
    except Forbidden:
        return RIGHT
    except DBAPIError as error:
        return str(getattr(error.orig, "sqlstate", None))
    return None


async def changed_by(database: Database, person: Person, statement: str, **values: Any) -> int:
    async with database.work(person.principal) as work:
        return len((await work.session.execute(text(statement + " RETURNING 1"), values)).all())


async def test_nobody_makes_themselves_admin_or_operator(database: Database, seed: Seed) -> None:
    person, admin = seed.person(), seed.person(is_admin=True)
    raise_admin = "UPDATE users SET is_admin = true, is_active = true WHERE id = :me"
    assert await changed_by(database, person, raise_admin, me=person.id) == 0
    raise_operator = "UPDATE users SET is_operator = true WHERE id = :me"
    assert await state_of(database, admin, raise_operator, me=admin.id) == RIGHT
    assert await state_of(database, admin, "UPDATE users SET organization_id = :id", id=seed.organization()) == RIGHT


async def test_nobody_makes_another_admin_without_the_right_to(database: Database, seed: Seed) -> None:
    person, admin = seed.person(), seed.person(is_admin=True)
    own = {"id": new_id(), "organization": person.organization_id, "operator": False}
    assert await state_of(database, person, ADD_ADMIN, **own) == RIGHT
    foreign = {**own, "organization": seed.organization()}
    assert await state_of(database, admin, ADD_ADMIN, **foreign) == RIGHT
    as_operator = {**own, "organization": admin.organization_id, "operator": True}
    assert await state_of(database, admin, ADD_ADMIN, **as_operator) == RIGHT


async def test_audit_lines_carry_the_writers_own_name_and_organization(database: Database, seed: Seed) -> None:
    world, stranger = a_world(seed), seed.person(is_admin=True)
    own = {"id": new_id(), "actor": str(stranger.id), "organization": stranger.organization_id, "kb": world.kb_id}
    assert await state_of(database, stranger, ADD_LINE, **{**own, "actor": str(world.owner.id)}) == RIGHT
    assert await state_of(database, stranger, ADD_LINE, **{**own, "organization": world.organization_id}) == RIGHT
    assert await state_of(database, stranger, ADD_LINE, **{**own, "organization": None}) == RIGHT
    # It may name any knowledge base, since that may be deleted; its owner cannot see the event.
    assert await state_of(database, stranger, ADD_LINE, **own) is None
    async with database.work(world.owner.principal) as work:
        seen = await work.session.scalars(text("SELECT actor FROM audit_events"))
        assert set(seen) == {str(world.owner.id)}


async def test_no_document_gets_into_another_organizations_knowledge_base(database: Database, seed: Seed) -> None:
    world, stranger = a_world(seed), seed.person(is_admin=True)
    values = {"id": new_id(), "kb": world.kb_id, "user": stranger.id, "original": f"{world.kb_id}/x"}
    for organization_id in (world.organization_id, stranger.organization_id):
        assert await state_of(database, stranger, ADD_DOCUMENT, organization=organization_id, **values) == RIGHT


async def test_nobody_becomes_a_member_across_organizations(database: Database, seed: Seed) -> None:
    world, stranger = a_world(seed), seed.person()
    values = {"kb": world.kb_id, "user": stranger.id}
    by_owner = await state_of(database, world.owner, ADD_MEMBER, organization=world.organization_id, **values)
    assert by_owner == FOREIGN_KEY
    assert await state_of(database, stranger, ADD_MEMBER, organization=stranger.organization_id, **values) == RIGHT


async def test_no_row_of_ones_own_names_the_objects_of_others(database: Database, seed: Seed) -> None:
    world, stranger = a_world(seed), seed.person()
    own_kb = seed.knowledge_base(stranger)
    own_document = seed.document(own_kb, stranger)
    foreign = world.object_key(world.document_id)
    own: dict[str, Any] = {"organization": stranger.organization_id, "kb": own_kb, "user": stranger.id}
    read = "UPDATE documents SET original_uri = :key WHERE id = :id"
    assert await state_of(database, stranger, read, key=foreign, id=own_document) == RIGHT
    assert await state_of(database, stranger, ADD_DOCUMENT, **own, id=new_id(), original=foreign) == RIGHT
    assert await state_of(database, stranger, ADD_UPLOAD, **own, id=new_id(), key=foreign) == RIGHT
    for kb_id, document_id in ((own_kb, own_document), (world.kb_id, world.document_id)):
        line = {"organization": stranger.organization_id, "kb": kb_id, "document": document_id, "target": foreign}
        assert await state_of(database, stranger, ADD_DELETION, **line) == RIGHT


@pytest.mark.parametrize("who", ["stranger", "colleague", "viewer", "operator"])
async def test_nobody_enqueues_or_revokes_runs_of_documents_they_may_not_write(
    database: Database, seed: Seed, who: str
) -> None:
    world = a_world(seed)
    person = _somebody(seed, world, who)
    assert await state_of(database, person, "SELECT enqueue_run(:id, 1)", id=world.archived_id) == RIGHT
    job_id = _give_it_a_job(seed, world.run.run_id)
    async with database.work(person.principal) as work:
        assert not await ProcrastinateQueue().revoke_run(work, world.document_id, 1)
    assert seed.one("SELECT status FROM procrastinate_jobs WHERE id = %s", job_id) == "todo"


def _somebody(seed: Seed, world: World, who: str) -> Person:
    is_colleague = who in ("colleague", "viewer")
    person = seed.person(world.organization_id if is_colleague else None, is_operator=who == "operator")
    if who == "viewer":
        seed.member(world.kb_id, person, "viewer")
    return person


def _give_it_a_job(seed: Seed, run_id: UUID) -> int:
    job: int = seed.one(
        "INSERT INTO procrastinate_jobs (queue_name, task_name) VALUES ('fast', 'processing.run') RETURNING id"
    )
    seed.execute("UPDATE document_processing_runs SET job_id = %s WHERE run_id = %s", job, run_id)
    return job
