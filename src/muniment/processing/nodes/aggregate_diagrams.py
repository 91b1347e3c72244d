from langgraph.runtime import Runtime

from muniment.artifacts.repository import ArtifactRepository
from muniment.processing.context import Context, RunState

NAME = "AggregateDiagrams"


async def aggregate_diagrams(state: RunState, runtime: Runtime[Context]) -> RunState:
    """figures that reading found on the pages -> diagram artifacts, those that are missing"""
    async with runtime.context.step(NAME) as work:
        await ArtifactRepository(work.session).add_diagrams(state["artifact_text_id"])
    return {}
