"""Who may write intents: they block other moves of a document and lead to deletions."""

from uuid import UUID

import pytest

from muniment.errors import Forbidden
from muniment.storage.db.principal import Service
from muniment.storage.db.work import Database
from muniment.storage.vectors.intents import IndexUpdatePending, IntentRepository
from muniment.storage.vectors.port import IndexedDocument
from muniment.storage.vectors.tables import IntendedState
from tests.support.seed import Person, Seed


def a_document(seed: Seed, owner: Person, kb_id: UUID | None = None) -> IndexedDocument:
    kb_id = kb_id or seed.knowledge_base(owner)
    return IndexedDocument(seed.document(kb_id, owner), kb_id, owner.organization_id)


async def add(database: Database, person: Person, document: IndexedDocument) -> UUID:
    async with database.work(person.principal) as work:
        return await IntentRepository(work.session).open(document, IntendedState.HIDDEN, 1)


@pytest.mark.parametrize("role", ["viewer", None])
async def test_who_may_not_change_a_document_writes_no_intent_for_it(
    database: Database, seed: Seed, role: str | None
) -> None:
    owner = seed.person()
    document, other = a_document(seed, owner), seed.person(owner.organization_id)
    if role:
        seed.member(document.kb_id, other, role)
    with pytest.raises(Forbidden):
        await add(database, other, document)
    with pytest.raises(Forbidden):
        async with database.work(other.principal) as work:
            await IntentRepository(work.session).open_delete(document, 1)
    assert seed.rows("SELECT * FROM index_intents") == []


async def test_an_intent_cannot_be_put_before_a_document_of_others_through_a_knowledge_base_of_ones_own(
    database: Database, seed: Seed
) -> None:
    owner = seed.person()
    document, stranger = a_document(seed, owner), seed.person()
    squatter = IndexedDocument(document.document_id, seed.knowledge_base(stranger), stranger.organization_id)
    with pytest.raises(Forbidden):
        await add(database, stranger, squatter)
    await add(database, owner, document)


async def test_nobody_takes_away_the_intent_of_others(database: Database, seed: Seed) -> None:
    owner, stranger = seed.person(), seed.person()
    intent_id = await add(database, owner, a_document(seed, owner))
    with pytest.raises(IndexUpdatePending):
        async with database.work(stranger.principal) as work:
            await IntentRepository(work.session).close(intent_id)
    async with database.service_work(Service(stranger.organization_id)) as service_work:
        await IntentRepository(service_work.session).delete(intent_id)
    assert seed.rows("SELECT id FROM index_intents") == [(intent_id,)]


async def test_open_intents_are_counted_with_the_age_of_the_oldest(database: Database, seed: Seed) -> None:
    owner, stranger = seed.person(), seed.person()
    await add(database, stranger, a_document(seed, stranger))
    await add(database, owner, a_document(seed, owner))
    await add(database, owner, a_document(seed, owner))
    seed.execute("UPDATE index_intents SET created_at = now() - interval '1 minute'")
    async with database.service_work(Service(owner.organization_id)) as work:
        count, age_seconds = await IntentRepository(work.session).count_open()
    assert count == 2
    assert 60 <= age_seconds < 120
