from langgraph.runtime import Runtime

from muniment.artifacts.repository import ArtifactRepository
from muniment.processing.context import Context, RunState
from muniment.storage.db.principal import Service
from muniment.storage.db.work import Work

AGGREGATE_DIAGRAMS = "AggregateDiagrams"


async def aggregate_diagrams(state: RunState, runtime: Runtime[Context]) -> RunState:
    """figures that reading found on the pages -> diagram artifacts, those that are missing"""

    async def aggregate(work: Work[Service]) -> None:
        await ArtifactRepository(work.session).add_diagrams(state["artifact_text_id"])

    runtime.context.later(AGGREGATE_DIAGRAMS, aggregate)
    return {}
