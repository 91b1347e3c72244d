"""Replaced and reverted on both engines: search finds what the document shows at that moment."""

import pytest
from qdrant_client import AsyncQdrantClient

from muniment.errors import Unavailable
from muniment.search.external_index.intent_sweep import IntentSweep
from muniment.storage.vectors.port import IndexedDocument, VectorSearch
from muniment.storage.vectors.qdrant.index import QdrantIndex
from tests.lifecycle.replace.harness import NEW_PAGES, ReplaceHarness
from tests.lifecycle.test_explain import explain, moves_of
from tests.support.external_index import count_points

pytestmark = pytest.mark.filterwarnings("ignore:Payload indexes have no effect")  # in the client's local mode


class RefusingIndex(QdrantIndex):
    """Index that refuses to show and hide on demand."""

    is_silent = False

    async def set_visible(self, document: IndexedDocument, *, is_visible: bool) -> None:
        if self.is_silent:
            raise Unavailable
        await super().set_visible(document, is_visible=is_visible)


MODES = ("hybrid", "vector", "text")


@pytest.fixture(params=["pgvector", "qdrant"])
def index(request: pytest.FixtureRequest) -> VectorSearch | None:
    return RefusingIndex(AsyncQdrantClient(":memory:")) if request.param == "qdrant" else None


only_with_copies = pytest.mark.parametrize("index", ["qdrant"], indirect=True)


async def test_nothing_of_the_old_is_found_until_the_new_is(replace_env: ReplaceHarness) -> None:
    document_id = await replace_env.completed()
    for mode in MODES:
        assert set(await replace_env.hits(mode=mode)) == {(str(document_id), "old.pdf")}, mode
    await replace_env.replace(document_id)
    for mode in MODES:
        assert await replace_env.hits(mode=mode) == [], mode
    await replace_env.fail(document_id)
    for mode in MODES:
        assert await replace_env.hits(mode=mode) == [], mode
    await replace_env.post(document_id, "retry")
    replace_env.worker_env.reader.pages = NEW_PAGES
    await replace_env.process(document_id)
    for mode in MODES:
        assert (str(document_id), "new.pdf") in await replace_env.hits("penguins", mode=mode), mode
        assert (str(document_id), "old.pdf") not in await replace_env.hits("invoices", mode=mode), mode


@pytest.mark.parametrize("is_late", [False, True])
async def test_what_was_found_is_found_again_after_a_revert(replace_env: ReplaceHarness, is_late: bool) -> None:
    document_id = await replace_env.completed()
    found, held = (
        await replace_env.hits(mode="vector"),
        await count_points(replace_env.stores.vectors, replace_env.indexed(document_id)),
    )
    await replace_env.replace(document_id)
    replace_env.worker_env.reader.pages = NEW_PAGES
    await (replace_env.fail_late(document_id) if is_late else replace_env.fail(document_id))
    await replace_env.revert(document_id)
    assert await replace_env.hits(mode="vector") == found
    assert await count_points(replace_env.stores.vectors, replace_env.indexed(document_id)) == held


async def test_an_archived_one_is_not_found_after_a_revert_and_again_after_its_restore(
    replace_env: ReplaceHarness,
) -> None:
    document_id = await replace_env.completed()
    found = await replace_env.hits(mode="vector")
    await replace_env.post(document_id, "archive")
    await replace_env.failed_replacement(document_id)
    await replace_env.revert(document_id)
    assert await replace_env.hits(mode="vector") == []
    await replace_env.post(document_id, "restore")
    assert await replace_env.hits(mode="vector") == found


async def test_no_older_passages_are_left_when_the_new_revision_is_complete(replace_env: ReplaceHarness) -> None:
    document_id = await replace_env.completed()
    fresh = await replace_env.completed("fresh.pdf", b"fresh")
    await replace_env.replace(document_id)
    await replace_env.process(document_id)
    index = replace_env.stores.vectors
    old, new = replace_env.indexed(document_id), replace_env.indexed(fresh)
    assert await count_points(index, old) == await count_points(index, new)


@only_with_copies
async def test_passages_that_a_cancelled_run_left_go_with_the_revert(replace_env: ReplaceHarness) -> None:
    document_id = await replace_env.completed()
    held = await count_points(replace_env.stores.vectors, replace_env.indexed(document_id))
    await replace_env.replace(document_id)
    replace_env.worker_env.reader.pages = NEW_PAGES

    class Cancelling(RefusingIndex):
        async def upsert(self, *given: object) -> None:
            await super().upsert(*given)  # type: ignore[arg-type]
            await replace_env.post(document_id, "cancel")

    index = replace_env.stores.vectors
    assert isinstance(index, RefusingIndex)
    index.__class__ = Cancelling
    await replace_env.process(document_id)
    index.__class__ = RefusingIndex
    assert await index.count(replace_env.indexed(document_id)) > held
    assert (await replace_env.revert(document_id)).status_code == 200
    assert await index.count(replace_env.indexed(document_id)) == held


@only_with_copies
@pytest.mark.parametrize("status", ["completed", "archived"])
async def test_an_index_that_does_not_answer_leaves_the_replacement_as_it_is(
    replace_env: ReplaceHarness, status: str
) -> None:
    document_id = await replace_env.completed()
    if status == "archived":
        await replace_env.post(document_id, "archive")
    await replace_env.failed_replacement(document_id)
    before, index = replace_env.row(document_id), replace_env.stores.vectors
    assert isinstance(index, RefusingIndex)
    index.is_silent = True
    answer = await replace_env.revert(document_id)
    assert (answer.status_code, replace_env.row(document_id)) == (503, before)
    judged = moves_of(await explain(replace_env.client, replace_env.worker_env, document_id))["revert"]
    assert (judged["allowed"], {"detail": judged["reason"]}) == (False, answer.json())

    index.is_silent = False
    await put_right(replace_env)
    assert (await replace_env.revert(document_id)).json()["status"] == status
    assert await index_says(replace_env) == (["visible"] if status == "completed" else [])


@only_with_copies
async def test_a_name_that_is_taken_is_seen_before_the_index_is_told_anything(replace_env: ReplaceHarness) -> None:
    document_id = await replace_env.completed()
    await replace_env.failed_replacement(document_id)
    replace_env.worker_env.seed.document(replace_env.worker_env.kb_id, replace_env.worker_env.owner, name="old.pdf")
    index = replace_env.stores.vectors
    assert isinstance(index, RefusingIndex)
    index.is_silent = True
    assert (await replace_env.revert(document_id)).status_code == 409
    assert replace_env.worker_env.seed.one("SELECT count(*) FROM index_intents") == 0


@only_with_copies
async def test_a_document_that_is_complete_is_found_although_an_intent_was_put_right_meanwhile(
    replace_env: ReplaceHarness,
) -> None:
    document_id = await replace_env.completed()
    index = replace_env.stores.vectors
    assert isinstance(index, RefusingIndex)
    index.is_silent = True
    assert (await replace_env.post(document_id, "archive")).status_code == 503  # and its intent stays open
    index.is_silent = False
    await replace_env.replace(document_id)
    replace_env.worker_env.reader.pages = NEW_PAGES

    async def put_and_sweep(*given: object) -> None:
        await QdrantIndex.upsert(index, *given)  # type: ignore[arg-type]
        await put_right(replace_env)

    index.upsert = put_and_sweep  # type: ignore[method-assign,assignment]
    await replace_env.process(document_id)
    assert replace_env.worker_env.status(document_id) == "completed"
    assert await replace_env.hits("penguins", mode="vector") != []


@pytest.mark.parametrize("status", ["completed", "archived"])
async def test_what_was_found_is_found_again_after_an_automatic_revert(
    replace_env: ReplaceHarness, status: str
) -> None:
    document_id = await replace_env.completed()
    found = [await replace_env.hits(mode=mode) for mode in MODES]
    held = await count_points(replace_env.stores.vectors, replace_env.indexed(document_id))
    if status == "archived":
        await replace_env.post(document_id, "archive")
    await replace_env.replace(document_id)
    replace_env.worker_env.reader.pages = NEW_PAGES
    await replace_env.fail_late(document_id)  # with copies of some passages in an external index
    await replace_env.unreadable_replacement(document_id, "other.pdf")
    assert replace_env.worker_env.status(document_id) == status
    await put_right(replace_env)
    assert await count_points(replace_env.stores.vectors, replace_env.indexed(document_id)) == held
    if status == "archived":
        assert await replace_env.hits(mode="vector") == []
        assert (await replace_env.post(document_id, "restore")).status_code == 200
    assert [await replace_env.hits(mode=mode) for mode in MODES] == found


@only_with_copies
async def test_an_automatic_revert_leaves_the_index_to_the_intent_sweep(replace_env: ReplaceHarness) -> None:
    document_id = await replace_env.completed()
    await replace_env.post(document_id, "archive")
    index = replace_env.stores.vectors
    assert isinstance(index, RefusingIndex)
    index.is_silent = True
    await replace_env.unreadable_replacement(document_id)
    assert replace_env.worker_env.status(document_id) == "archived"
    intents = "SELECT document_id, wanted FROM index_intents"
    assert replace_env.worker_env.seed.rows(intents) == [(document_id, "hidden")]
    index.is_silent = False
    await put_right(replace_env)
    assert (replace_env.worker_env.seed.rows(intents), await index_says(replace_env)) == ([], [])


@only_with_copies
async def test_an_intent_that_is_open_already_is_enough(replace_env: ReplaceHarness) -> None:
    document_id = await replace_env.completed()
    index = replace_env.stores.vectors
    assert isinstance(index, RefusingIndex)
    index.is_silent = True
    assert (await replace_env.post(document_id, "archive")).status_code == 503  # and its intent stays open
    await replace_env.unreadable_replacement(document_id)
    index.is_silent = False
    await put_right(replace_env)
    assert await index_says(replace_env) == ["visible"]
    assert set(await replace_env.hits(mode="vector")) == {(str(document_id), "old.pdf")}


async def put_right(replace_env: ReplaceHarness) -> None:
    """Run the intent sweep after the writers' grace period."""
    replace_env.worker_env.seed.execute("UPDATE index_intents SET next_attempt_at = now()")
    await IntentSweep(replace_env.stores.database, replace_env.stores.external_index).sweep()


async def index_says(replace_env: ReplaceHarness) -> list[str]:
    """Return what the index would propose, without PostgreSQL's confirmation."""
    assert replace_env.stores.external_index is not None
    held = [point async for point in replace_env.stores.external_index.iter_points(replace_env.worker_env.kb_id)]
    return sorted({"visible" for point in held if point.is_visible})
