"""A text that is too short to tell its language has the usual language of its knowledge base."""

from collections.abc import AsyncIterator
from pathlib import Path
from uuid import UUID

import pytest

from muniment.artifacts.repository import ArtifactRepository
from muniment.artifacts.text_packs import TextPackWriter
from muniment.search.embedding.local import LocalEmbedder
from muniment.search.indexing.builder import build_index
from muniment.storage.db.work import Database
from muniment.storage.objects.folder.store import FolderObjectStore
from tests.artifacts.artifacts_fixture import ArtifactsFixture, a_key, a_reading
from tests.search.passages_fixture import Passage, PassagesFixture
from tests.support.seed import Seed


@pytest.fixture
def artifacts_env(seed: Seed, database: Database, tmp_path: Path) -> ArtifactsFixture:
    return ArtifactsFixture(seed, database, FolderObjectStore(tmp_path))


@pytest.fixture
async def embedder() -> AsyncIterator[LocalEmbedder]:
    embedder = LocalEmbedder(threads=1)
    yield embedder
    await embedder.close()


async def language_of(artifacts_env: ArtifactsFixture, embedder: LocalEmbedder, text: str, kb_id: UUID) -> str:
    key = a_key(artifacts_env.owner.organization_id)
    pack = TextPackWriter(key.organization_id)
    new = a_reading(pack, [text])
    await artifacts_env.objects.put(pack.key, pack.getvalue)
    async with artifacts_env.database.service_work(artifacts_env.service) as work:
        full, _ = await ArtifactRepository(work.session).add_once(key, new)
    index = await build_index(
        artifacts_env.database,
        artifacts_env.objects,
        embedder,
        full,
        organization_id=artifacts_env.owner.organization_id,
        knowledge_base_id=kb_id,
    )
    return index.lexical_form.language


async def test_a_short_text_has_the_language_of_most_documents_of_its_knowledge_base(
    artifacts_env: ArtifactsFixture, embedder: LocalEmbedder
) -> None:
    passages_env, owner = PassagesFixture(artifacts_env.seed), artifacts_env.owner
    kb_id, empty = artifacts_env.seed.knowledge_base(owner), artifacts_env.seed.knowledge_base(owner)
    for language in ("norwegian", "norwegian", "english", "simple", "simple", "simple"):
        passages_env.add(kb_id, owner, [Passage("Faktura")], language=language)
    assert await language_of(artifacts_env, embedder, "RE-2024-118", kb_id) == "norwegian"
    assert await language_of(artifacts_env, embedder, "RE-2024-118", empty) == "simple"
    sentence = "Die Rechnung ist innerhalb von dreißig Tagen zahlbar."
    assert await language_of(artifacts_env, embedder, sentence, kb_id) == "german"
