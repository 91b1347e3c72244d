"""Every model gets its indexes from `muniment migrate`, whatever its name and dimensions."""

import pytest

from muniment.storage.db.address import DatabaseAddress
from muniment.storage.db.migrate import migrate
from muniment.storage.tasks.procrastinate.engine import ProcrastinateEngine
from muniment.storage.vectors.port import IndexingVariant
from tests.search.passages_fixture import PassagesFixture
from tests.support.cluster import PASSWORDS
from tests.support.seed import Seed

OF_MODELS = "SELECT indexdef FROM pg_indexes WHERE tablename = 'artifact_vectors' AND indexname !~ '(local|pk)'"


def a_model(dimensions: int, name: str = "it's 100% another") -> IndexingVariant:
    return IndexingVariant(model=name, dimensions=dimensions, fingerprint=f"of {name} {dimensions}")


def made(seed: Seed) -> list[str]:
    return sorted(row[0] for row in seed.rows(OF_MODELS))


@pytest.mark.parametrize(("dimensions", "wanted"), [(3, 2), (1300, 2), (1301, 1), (4000, 1), (4001, 0)])
def test_as_many_as_its_vectors_allow(address: DatabaseAddress, seed: Seed, dimensions: int, wanted: int) -> None:
    passages_env, model = PassagesFixture(seed), a_model(dimensions)
    passages_env.variant(model, is_active=False)

    for _ in range(2):
        migrate(address, PASSWORDS, ProcrastinateEngine())

    indexes = made(seed)
    assert len(indexes) == wanted
    assert all("it''s 100% another" in definition for definition in indexes)


@pytest.mark.parametrize("dimensions", [1300, 1301, 4000])
def test_its_vectors_fit_into_them(address: DatabaseAddress, seed: Seed, dimensions: int) -> None:
    passages_env, model, owner = PassagesFixture(seed), a_model(dimensions), seed.person()
    passages_env.variant(model, is_active=False)
    migrate(address, PASSWORDS, ProcrastinateEngine())
    text_id = passages_env.text(owner.organization_id, [])
    index = {"artifact_text_id": text_id, "fingerprint": model.fingerprint, "organization_id": owner.organization_id}
    seed.insert("artifact_indexes", **index, language="english", total_chunks=1)
    vector = f"[{','.join(str(number % 7 - 3) for number in range(dimensions))}]"

    seed.insert("artifact_vectors", **index, model=model.model, chunk_index=0, embedding=vector)

    assert seed.one("SELECT length(sketch) FROM artifact_vectors") == dimensions


def test_a_name_with_vectors_of_two_lengths_gets_none(address: DatabaseAddress, seed: Seed) -> None:
    passages_env = PassagesFixture(seed)
    passages_env.variant(a_model(3), is_active=False)
    passages_env.variant(a_model(4), is_active=False)

    migrate(address, PASSWORDS, ProcrastinateEngine())

    assert made(seed) == []
