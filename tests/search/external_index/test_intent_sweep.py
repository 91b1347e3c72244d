"""Intents: whatever fails, times out or dies between the steps, the index ends where the document's row is."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import suppress
from uuid import uuid4

import pytest

from muniment.errors import Unavailable
from muniment.search.external_index.intent_sweep import IntentSweep
from muniment.storage.db.work import Database
from muniment.storage.vectors.external_index_updates import NoExternalIndex, RecordedIndexUpdates
from muniment.storage.vectors.intents import IndexUpdatePending
from muniment.storage.vectors.port import IndexedDocument
from muniment.telemetry.metrics import REGISTRY
from tests.search.external_index_fixture import ExternalIndexFixture, FaultyIndex, ProcessDeath
from tests.support.qdrant import MODEL, LocalQdrant, points
from tests.support.seed import Seed


@pytest.fixture
async def index() -> AsyncIterator[FaultyIndex]:
    index = FaultyIndex(LocalQdrant())
    yield index
    await index.close()


@pytest.fixture(params=["completed"])
async def stage(
    request: pytest.FixtureRequest, seed: Seed, database: Database, index: FaultyIndex
) -> ExternalIndexFixture:
    stage = ExternalIndexFixture(seed, database, index, request.param)
    await index.upsert(stage.document, MODEL, 1, points((1, 0)))
    await index.set_visible(stage.document, is_visible=request.param == "completed")
    return stage


WHAT_THE_ROW_SAYS = {"completed": "visible", "archived": "hidden", None: "gone"}


async def test_archive_restore_and_purge_leave_no_intent(stage: ExternalIndexFixture) -> None:
    await stage.archive()
    assert (stage.status, await stage.in_index(), stage.intents) == ("archived", "hidden", [])
    await stage.restore()
    assert (stage.status, await stage.in_index(), stage.intents) == ("completed", "visible", [])
    await stage.purge()
    assert stage.intents == [("gone", 0)]
    await stage.settle()
    assert (stage.status, await stage.in_index(), stage.intents) == (None, "gone", [])


@pytest.mark.parametrize("is_done_first", [False, True], ids=["not done", "done"])
@pytest.mark.parametrize("move", ["archive", "restore", "purge"])
@pytest.mark.parametrize(
    "error", [Unavailable("a fault of the test"), ProcessDeath()], ids=["unknown outcome", "death"]
)
@pytest.mark.parametrize("stage", ["completed", "archived"], indirect=True)
async def test_after_a_call_that_fails_the_index_is_put_to_what_the_row_says(
    stage: ExternalIndexFixture, move: str, error: BaseException, is_done_first: bool
) -> None:
    before, stage.index.error, stage.index.is_done_first = stage.status, error, is_done_first
    with suppress(Unavailable, ProcessDeath):
        await getattr(stage, move)()
        await stage.settle()  # of a purge, the sweep makes the call
    assert stage.status == (None if move == "purge" else before)
    assert len(stage.intents) == 1

    stage.index.error = None
    assert await stage.settle() == 1

    assert await stage.in_index() == WHAT_THE_ROW_SAYS[stage.status]
    assert stage.intents == []


async def test_death_between_the_call_and_the_change_is_put_back(stage: ExternalIndexFixture) -> None:
    with pytest.raises(ProcessDeath):
        async with stage.moves.hide(stage.owner.principal, stage.document, 1):
            raise ProcessDeath
    assert await stage.in_index() == "hidden"

    await stage.settle()
    assert (stage.status, await stage.in_index(), stage.intents) == ("completed", "visible", [])


async def test_while_an_outcome_is_unknown_no_other_move_begins(stage: ExternalIndexFixture) -> None:
    stage.index.error = Unavailable()
    with pytest.raises(IndexUpdatePending, match="document was not changed"):
        await stage.archive()
    asked, stage.index.error = stage.index.asked, None

    with pytest.raises(IndexUpdatePending):
        await stage.archive()
    assert (stage.status, stage.index.asked) == ("completed", asked)
    await stage.settle()
    await stage.archive()
    assert (stage.status, await stage.in_index()) == ("archived", "hidden")


async def test_a_purge_does_not_wait_for_the_outcome_of_another_move(stage: ExternalIndexFixture) -> None:
    stage.index.error = Unavailable()
    with suppress(Unavailable):
        await stage.archive()
    await stage.purge()
    assert stage.intents == [("gone", 0)]

    stage.index.error = None
    await stage.settle()
    assert (stage.status, await stage.in_index(), stage.intents) == (None, "gone", [])


class Interrupted(FaultyIndex):
    """Lets something else happen between the writer's call and its second transaction."""

    def __init__(self, stage: ExternalIndexFixture, meanwhile: Callable[[], Awaitable[object]]) -> None:
        super().__init__(stage.index.client)
        self.meanwhile = meanwhile

    async def set_visible(self, document: IndexedDocument, *, is_visible: bool) -> None:
        await super().set_visible(document, is_visible=is_visible)
        await self.meanwhile()


async def test_the_sweep_leaves_writers_their_time(stage: ExternalIndexFixture) -> None:
    stage.moves = RecordedIndexUpdates(stage.database, Interrupted(stage, stage.sweep.sweep))
    await stage.archive()
    assert (stage.status, await stage.in_index(), stage.intents) == ("archived", "hidden", [])


async def test_a_writer_whose_intent_the_sweep_has_settled_changes_nothing(stage: ExternalIndexFixture) -> None:
    stage.moves = RecordedIndexUpdates(stage.database, Interrupted(stage, stage.settle))
    with pytest.raises(IndexUpdatePending):
        await stage.archive()
    assert (stage.status, await stage.in_index(), stage.intents) == ("completed", "visible", [])


async def test_a_writer_whose_intent_the_sweep_has_only_taken_changes_nothing(stage: ExternalIndexFixture) -> None:
    async def die_in_the_sweep() -> None:
        stage.index.error, stage.index.is_done_first = ProcessDeath(), True
        with suppress(ProcessDeath):
            await stage.settle()

    stage.moves = RecordedIndexUpdates(stage.database, Interrupted(stage, die_in_the_sweep))
    with pytest.raises(IndexUpdatePending):
        await stage.archive()
    assert (stage.status, await stage.in_index(), stage.intents) == ("completed", "visible", [("hidden", 1)])


async def test_a_row_that_changes_while_the_index_is_told_is_looked_at_again(stage: ExternalIndexFixture) -> None:
    class LateIndex(FaultyIndex):
        async def set_visible(self, document: IndexedDocument, *, is_visible: bool) -> None:
            stage.seed.execute("UPDATE documents SET status = 'archived'")
            await super().set_visible(document, is_visible=is_visible)

    stage.index.error = Unavailable()
    with suppress(Unavailable):
        await stage.archive()
    stage.index.error = None
    late = IntentSweep(stage.database, LateIndex(stage.index.client))
    stage.seed.execute("UPDATE index_intents SET next_attempt_at = now()")
    assert await late.settle_due(stage.document.organization_id) == 0

    assert await stage.settle() == 1
    assert (stage.status, await stage.in_index(), stage.intents) == ("archived", "hidden", [])


@pytest.mark.parametrize("error", [Unavailable(), ProcessDeath()], ids=["unknown outcome", "death"])
async def test_a_sweep_that_fails_is_repeated_later_each_time(
    stage: ExternalIndexFixture, error: BaseException
) -> None:
    stage.index.error = error
    with suppress(Unavailable, ProcessDeath):
        await stage.archive()
    waits = []
    for _ in range(6):
        with suppress(ProcessDeath):
            assert await stage.settle() == 0
        waits.append(stage.seed.one("SELECT round(extract(epoch FROM next_attempt_at - now())) FROM index_intents"))
        assert await stage.sweep.settle_due(stage.document.organization_id) == 0  # it is not due yet
    assert waits == [5, 10, 20, 40, 60, 60]
    assert stage.intents == [("hidden", 6)]


async def test_an_index_that_is_down_is_not_asked_for_every_intent(stage: ExternalIndexFixture) -> None:
    for number in range(10):
        document_id = stage.seed.document(stage.document.kb_id, stage.owner, name=f"{number}.pdf")
        stage.intend(document_id)
    stage.index.error, stage.index.asked = Unavailable(), 0
    assert await stage.settle() == 0
    assert stage.index.asked == 3


async def test_points_of_older_epochs_go_with_the_sweep(stage: ExternalIndexFixture) -> None:
    await stage.index.upsert(stage.document, MODEL, 2, points((1, 0), (0, 1)))
    stage.seed.execute("UPDATE documents SET epoch = 2, index_epoch = 2")
    stage.intend(stage.document.document_id)
    assert await stage.settle() == 1
    assert await stage.index.count(stage.document) == 2


async def test_intents_of_all_organizations_are_swept_each_on_its_own(
    stage: ExternalIndexFixture, seed: Seed, database: Database, index: FaultyIndex
) -> None:
    other = ExternalIndexFixture(seed, database, index, "archived")
    await index.upsert(other.document, MODEL, 1, points((1, 0)))
    for one in (stage, other):
        one.intend(one.document.document_id)
    assert await other.settle() == 1
    assert await other.in_index() == "hidden"
    assert seed.rows("SELECT document_id FROM index_intents") == [(stage.document.document_id,)]
    await stage.sweep.sweep()
    assert stage.intents == []


async def test_without_an_external_index_a_change_is_one_transaction_and_leaves_no_intent(
    stage: ExternalIndexFixture,
) -> None:
    stage.moves = NoExternalIndex(stage.database)
    await stage.archive()
    assert (stage.status, stage.intents) == ("archived", [])
    await stage.purge()
    assert (stage.status, stage.intents) == (None, [])


async def test_without_an_external_index_the_intents_of_a_former_one_are_discarded(
    stage: ExternalIndexFixture, index: FaultyIndex
) -> None:
    deleted = uuid4()
    for document_id in (stage.document.document_id, deleted):
        stage.intend(document_id)
    index.error = Unavailable("a fault of the test")
    await stage.sweep.sweep()
    assert value_of("index_intents_open") == 2

    stage.seed.execute("UPDATE index_intents SET next_attempt_at = now()")
    await IntentSweep(stage.database, None).sweep()
    assert stage.intents == []
    assert (value_of("index_intents_open"), value_of("index_intents_oldest_seconds")) == (0, 0)


async def test_what_is_still_open_is_measured_with_its_age(stage: ExternalIndexFixture, index: FaultyIndex) -> None:
    stage.intend(stage.document.document_id)
    stage.seed.execute("UPDATE index_intents SET created_at = now() - interval '1 hour'")
    index.error = Unavailable("a fault of the test")
    await stage.sweep.sweep()
    assert (value_of("index_intents_open"), value_of("index_intents_oldest_seconds") >= 3600) == (1, True)

    index.error = None
    await stage.settle()
    await stage.sweep.sweep()
    assert (value_of("index_intents_open"), value_of("index_intents_oldest_seconds")) == (0, 0)


def value_of(metric: str) -> float:
    value = REGISTRY.get_sample_value(f"muniment_{metric}")
    assert value is not None
    return value
