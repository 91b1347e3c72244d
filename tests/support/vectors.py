"""Vectors follow the text of a document: compute those that wait."""

from uuid import UUID

from muniment.processing.pipeline.embedding_jobs import EmbeddingProcessor, ReadingActivity
from muniment.processing.pipeline.isolation import IsolationGate
from muniment.search.indexing.embedding import PassageEmbedding
from muniment.search.indexing.repository import InstalledModels
from muniment.storage.db.work import Database
from muniment.storage.tasks.port import EmbeddingHandler, EmbeddingJob
from tests.support.seed import Seed

WAITING_JOBS = """
    SELECT id, args->>'artifact_text_id', args->>'fingerprint', args->>'organization_id' FROM procrastinate_jobs
     WHERE task_name = 'index.embed' AND status = 'todo' ORDER BY priority DESC, id
"""


def embedding_processor(database: Database, models: InstalledModels) -> EmbeddingProcessor:
    """Return the embedding of a worker that does nothing else."""
    return EmbeddingProcessor(PassageEmbedding(database, models), IsolationGate(), ReadingActivity())


def waiting_embeddings(seed: Seed) -> list[EmbeddingJob]:
    """Return the embedding jobs that wait, in their order."""
    return [
        EmbeddingJob(UUID(artifact_id), fingerprint, UUID(organization_id))
        for _, artifact_id, fingerprint, organization_id in seed.rows(WAITING_JOBS)
    ]


async def embed_waiting(seed: Seed, process: EmbeddingHandler) -> int:
    """Carry out the embedding jobs that wait, without a queue. Return how many there were."""
    done = 0
    for job_id, artifact_id, fingerprint, organization_id in seed.rows(WAITING_JOBS):
        await process(EmbeddingJob(UUID(artifact_id), fingerprint, UUID(organization_id)))
        seed.execute("DELETE FROM procrastinate_jobs WHERE id = %s", job_id)
        done += 1
    return done
