"""Move the vectors of the old form, which are in the chunks, to their own table, without computing any.

Removed together with the column `artifact_chunks.embedding`, one version later.
"""

import time
from dataclasses import dataclass

import structlog

from muniment.search.indexing.vectors import move_batch
from muniment.storage.db.principal import Service
from muniment.storage.db.work import Database, PendingWork, list_organizations_with

log = structlog.get_logger()

BATCH = 500
"""Vectors that one transaction copies: about a second, most of which the HNSW index takes."""
SECONDS_PER_RUN = 30.0
"""After that, the rest waits for the next minute, so that other slow sweeps get their turn."""


@dataclass(frozen=True)
class VectorMove:
    """Copies vectors in batches, one organization after the other. An index answers from its old form until all its
    vectors are copied."""

    database: Database
    seconds: float = SECONDS_PER_RUN

    async def run(self) -> None:
        """Copy for as long as this run may take, or until nothing is left."""
        ends_at, moved = time.monotonic() + self.seconds, 0
        for organization_id in await list_organizations_with(self.database, PendingWork.VECTORS_IN_CHUNKS):
            while True:
                async with self.database.service_work(Service(organization_id), durable=False) as work:
                    copied = await move_batch(work.session, limit=BATCH)
                if copied is None:
                    break
                moved += copied
                if time.monotonic() >= ends_at:
                    log.info("index.vectors_moved", passages=moved, is_done=False)
                    return
        if moved:
            log.info("index.vectors_moved", passages=moved, is_done=True)
