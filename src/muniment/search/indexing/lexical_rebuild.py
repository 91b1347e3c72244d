"""Make the lexical form of indexes that have none, or one of an older version, from their stored passages."""

import asyncio
import time
from dataclasses import dataclass

import structlog

from muniment.search.indexing.lexical_form import LexicalFormRepository, make_lexical_form
from muniment.storage.db.principal import Service
from muniment.storage.db.work import Database, list_organizations

log = structlog.get_logger()

SECONDS_PER_RUN = 20.0
"""After that, the rest waits for the next run, so that other sweeps get their turn."""


@dataclass(frozen=True)
class LexicalRebuild:
    """Analyzes stored passages again. Until an index is done, its old form answers."""

    database: Database
    seconds: float = SECONDS_PER_RUN

    async def run(self) -> None:
        """Work for as long as this run may take, or until nothing is left."""
        ends_at, rebuilt = time.monotonic() + self.seconds, 0
        for organization_id in await list_organizations(self.database):
            while await self._rebuild_next(Service(organization_id)):
                rebuilt += 1
                if time.monotonic() >= ends_at:
                    log.info("index.terms_rebuilt", indexes=rebuilt, is_done=False)
                    return
        if rebuilt:
            log.info("index.terms_rebuilt", indexes=rebuilt, is_done=True)

    async def _rebuild_next(self, service: Service) -> bool:
        """Replace the lexical form of one index in one transaction. Return False if none is left."""
        async with self.database.service_work(service, durable=False) as work:
            repository = LexicalFormRepository(work.session)
            index = await repository.lock_outdated()
            if index is None:
                return False
            texts = await repository.list_texts(index)
            form = await asyncio.to_thread(make_lexical_form, texts, index.language)
            await repository.replace(index.key, form)
            return True
