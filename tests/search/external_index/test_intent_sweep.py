"""Intents: whatever fails, times out or crashes between the steps, the index finally agrees with the row."""

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
from tests.search.external_index_fixture import ExternalIndexFixture, FaultyIndex
from tests.support.effects import SimulatedCrash
from tests.support.qdrant import MODEL, LocalQdrant, points
from tests.support.seed import Seed


@pytest.fixture
async def index() -> AsyncIterator[FaultyIndex]:
    index = FaultyIndex(LocalQdrant())
    yield index
    await index.close()


@pytest.fixture(params=["completed"])
async def index_env(
    request: pytest.FixtureRequest, seed: Seed, database: Database, index: FaultyIndex
) -> ExternalIndexFixture:
    index_env = ExternalIndexFixture(seed, database, index, request.param)
    await index.upsert(index_env.document, MODEL, 1, points((1, 0)))
    await index.set_visible(index_env.document, is_visible=request.param == "completed")
    return index_env


WHAT_THE_ROW_SAYS = {"completed": "visible", "archived": "hidden", None: "gone"}


async def test_archive_restore_and_purge_leave_no_intent(index_env: ExternalIndexFixture) -> None:
    await index_env.archive()
    assert (index_env.status, await index_env.in_index(), index_env.intents) == ("archived", "hidden", [])
    await index_env.restore()
    assert (index_env.status, await index_env.in_index(), index_env.intents) == ("completed", "visible", [])
    await index_env.purge()
    assert index_env.intents == [("gone", 0)]
    await index_env.settle()
    assert (index_env.status, await index_env.in_index(), index_env.intents) == (None, "gone", [])


@pytest.mark.parametrize("is_done_first", [False, True], ids=["not done", "done"])
@pytest.mark.parametrize("move", ["archive", "restore", "purge"])
@pytest.mark.parametrize(
    "error", [Unavailable("a fault of the test"), SimulatedCrash()], ids=["unknown outcome", "death"]
)
@pytest.mark.parametrize("index_env", ["completed", "archived"], indirect=True)
async def test_after_a_call_that_fails_the_index_is_put_to_what_the_row_says(
    index_env: ExternalIndexFixture, move: str, error: BaseException, is_done_first: bool
) -> None:
    before, index_env.index.error, index_env.index.is_done_first = index_env.status, error, is_done_first
    with suppress(Unavailable, SimulatedCrash):
        await getattr(index_env, move)()
        await index_env.settle()  # for a purge, the sweep makes the call
    assert index_env.status == (None if move == "purge" else before)
    assert len(index_env.intents) == 1

    index_env.index.error = None
    assert await index_env.settle() == 1

    assert await index_env.in_index() == WHAT_THE_ROW_SAYS[index_env.status]
    assert index_env.intents == []


async def test_death_between_the_call_and_the_change_is_put_back(index_env: ExternalIndexFixture) -> None:
    with pytest.raises(SimulatedCrash):
        async with index_env.moves.hide(index_env.owner.principal, index_env.document, 1):
            raise SimulatedCrash
    assert await index_env.in_index() == "hidden"

    await index_env.settle()
    assert (index_env.status, await index_env.in_index(), index_env.intents) == ("completed", "visible", [])


async def test_while_an_outcome_is_unknown_no_other_move_begins(index_env: ExternalIndexFixture) -> None:
    index_env.index.error = Unavailable()
    with pytest.raises(IndexUpdatePending, match="document was not changed"):
        await index_env.archive()
    asked, index_env.index.error = index_env.index.asked, None

    with pytest.raises(IndexUpdatePending):
        await index_env.archive()
    assert (index_env.status, index_env.index.asked) == ("completed", asked)
    await index_env.settle()
    await index_env.archive()
    assert (index_env.status, await index_env.in_index()) == ("archived", "hidden")


async def test_a_purge_does_not_wait_for_the_outcome_of_another_move(index_env: ExternalIndexFixture) -> None:
    index_env.index.error = Unavailable()
    with suppress(Unavailable):
        await index_env.archive()
    await index_env.purge()
    assert index_env.intents == [("gone", 0)]

    index_env.index.error = None
    await index_env.settle()
    assert (index_env.status, await index_env.in_index(), index_env.intents) == (None, "gone", [])


class InterruptedIndex(FaultyIndex):
    """Calls a function between the writer's call and its second transaction."""

    def __init__(self, index_env: ExternalIndexFixture, meanwhile: Callable[[], Awaitable[object]]) -> None:
        super().__init__(index_env.index.client)
        self.meanwhile = meanwhile

    async def set_visible(self, document: IndexedDocument, *, is_visible: bool) -> None:
        await super().set_visible(document, is_visible=is_visible)
        await self.meanwhile()


async def test_the_sweep_leaves_writers_their_time(index_env: ExternalIndexFixture) -> None:
    index_env.moves = RecordedIndexUpdates(index_env.database, InterruptedIndex(index_env, index_env.sweep.sweep))
    await index_env.archive()
    assert (index_env.status, await index_env.in_index(), index_env.intents) == ("archived", "hidden", [])


async def test_a_writer_whose_intent_the_sweep_has_settled_changes_nothing(index_env: ExternalIndexFixture) -> None:
    index_env.moves = RecordedIndexUpdates(index_env.database, InterruptedIndex(index_env, index_env.settle))
    with pytest.raises(IndexUpdatePending):
        await index_env.archive()
    assert (index_env.status, await index_env.in_index(), index_env.intents) == ("completed", "visible", [])


async def test_a_writer_whose_intent_the_sweep_has_only_taken_changes_nothing(index_env: ExternalIndexFixture) -> None:
    async def die_in_the_sweep() -> None:
        index_env.index.error, index_env.index.is_done_first = SimulatedCrash(), True
        with suppress(SimulatedCrash):
            await index_env.settle()

    index_env.moves = RecordedIndexUpdates(index_env.database, InterruptedIndex(index_env, die_in_the_sweep))
    with pytest.raises(IndexUpdatePending):
        await index_env.archive()
    assert (index_env.status, await index_env.in_index(), index_env.intents) == (
        "completed",
        "visible",
        [("hidden", 1)],
    )


async def test_a_row_that_changes_during_an_index_update_is_checked_again(index_env: ExternalIndexFixture) -> None:
    class LateIndex(FaultyIndex):
        async def set_visible(self, document: IndexedDocument, *, is_visible: bool) -> None:
            index_env.seed.execute("UPDATE documents SET status = 'archived'")
            await super().set_visible(document, is_visible=is_visible)

    index_env.index.error = Unavailable()
    with suppress(Unavailable):
        await index_env.archive()
    index_env.index.error = None
    late = IntentSweep(index_env.database, LateIndex(index_env.index.client))
    index_env.seed.execute("UPDATE index_intents SET next_attempt_at = now()")
    assert await late.settle_due(index_env.document.organization_id) == 0

    assert await index_env.settle() == 1
    assert (index_env.status, await index_env.in_index(), index_env.intents) == ("archived", "hidden", [])


@pytest.mark.parametrize("error", [Unavailable(), SimulatedCrash()], ids=["unknown outcome", "death"])
async def test_a_sweep_that_fails_is_repeated_later_each_time(
    index_env: ExternalIndexFixture, error: BaseException
) -> None:
    index_env.index.error = error
    with suppress(Unavailable, SimulatedCrash):
        await index_env.archive()
    waits = []
    for _ in range(6):
        with suppress(SimulatedCrash):
            assert await index_env.settle() == 0
        waits.append(index_env.seed.one("SELECT round(extract(epoch FROM next_attempt_at - now())) FROM index_intents"))
        assert await index_env.sweep.settle_due(index_env.document.organization_id) == 0  # it is not due yet
    assert waits == [5, 10, 20, 40, 60, 60]
    assert index_env.intents == [("hidden", 6)]


async def test_an_index_that_is_down_is_not_asked_for_every_intent(index_env: ExternalIndexFixture) -> None:
    for number in range(10):
        document_id = index_env.seed.document(index_env.document.kb_id, index_env.owner, name=f"{number}.pdf")
        index_env.intend(document_id)
    index_env.index.error, index_env.index.asked = Unavailable(), 0
    assert await index_env.settle() == 0
    assert index_env.index.asked == 3


async def test_points_of_older_epochs_go_with_the_sweep(index_env: ExternalIndexFixture) -> None:
    await index_env.index.upsert(index_env.document, MODEL, 2, points((1, 0), (0, 1)))
    index_env.seed.execute("UPDATE documents SET epoch = 2, index_epoch = 2")
    index_env.intend(index_env.document.document_id)
    assert await index_env.settle() == 1
    assert await index_env.index.count(index_env.document) == 2


async def test_intents_of_all_organizations_are_swept_each_on_its_own(
    index_env: ExternalIndexFixture, seed: Seed, database: Database, index: FaultyIndex
) -> None:
    other = ExternalIndexFixture(seed, database, index, "archived")
    await index.upsert(other.document, MODEL, 1, points((1, 0)))
    for one in (index_env, other):
        one.intend(one.document.document_id)
    assert await other.settle() == 1
    assert await other.in_index() == "hidden"
    assert seed.rows("SELECT document_id FROM index_intents") == [(index_env.document.document_id,)]
    await index_env.sweep.sweep()
    assert index_env.intents == []


async def test_without_an_external_index_a_change_is_one_transaction_and_leaves_no_intent(
    index_env: ExternalIndexFixture,
) -> None:
    index_env.moves = NoExternalIndex(index_env.database)
    await index_env.archive()
    assert (index_env.status, index_env.intents) == ("archived", [])
    await index_env.purge()
    assert (index_env.status, index_env.intents) == (None, [])


async def test_without_an_external_index_the_intents_of_a_former_one_are_discarded(
    index_env: ExternalIndexFixture, index: FaultyIndex
) -> None:
    deleted = uuid4()
    for document_id in (index_env.document.document_id, deleted):
        index_env.intend(document_id)
    index.error = Unavailable("a fault of the test")
    await index_env.sweep.sweep()
    assert value_of("index_intents_open") == 2

    index_env.seed.execute("UPDATE index_intents SET next_attempt_at = now()")
    await IntentSweep(index_env.database, None).sweep()
    assert index_env.intents == []
    assert (value_of("index_intents_open"), value_of("index_intents_oldest_seconds")) == (0, 0)


async def test_what_is_still_open_is_measured_with_its_age(index_env: ExternalIndexFixture, index: FaultyIndex) -> None:
    index_env.intend(index_env.document.document_id)
    index_env.seed.execute("UPDATE index_intents SET created_at = now() - interval '1 hour'")
    index.error = Unavailable("a fault of the test")
    await index_env.sweep.sweep()
    assert (value_of("index_intents_open"), value_of("index_intents_oldest_seconds") >= 3600) == (1, True)

    index.error = None
    await index_env.settle()
    await index_env.sweep.sweep()
    assert (value_of("index_intents_open"), value_of("index_intents_oldest_seconds")) == (0, 0)


def value_of(metric: str) -> float:
    value = REGISTRY.get_sample_value(f"muniment_{metric}")
    assert value is not None
    return value
