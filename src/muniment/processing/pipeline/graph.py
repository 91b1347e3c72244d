"""The graph of pipeline nodes, their retry policy, traces and timings. A node knows nothing about its neighbors."""

import time
from functools import wraps
from itertools import pairwise
from typing import Protocol

from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.runtime import Runtime
from langgraph.types import RetryPolicy

from muniment.errors import Unavailable
from muniment.processing.pipeline.context import RunContext, RunState
from muniment.processing.pipeline.nodes.error_handling import error_handling
from muniment.processing.pipeline.nodes.extract_text import extract_text
from muniment.processing.pipeline.nodes.index_text import INDEX_TEXT, index_text
from muniment.processing.pipeline.nodes.prepare import (
    already_processed_check,
    fetch_document_record,
    is_processed,
    mark_processing_started,
)
from muniment.processing.pipeline.nodes.publish import build_summary, mark_basic_complete
from muniment.processing.pipeline.publishing import PUBLISH_STEPS
from muniment.processing.runs.tables import STEP_ORDER
from muniment.telemetry.metrics import NODE_SECONDS
from muniment.telemetry.traces import span


class GraphNode(Protocol):
    """Function of a node: it receives the state and returns the changes to it."""

    async def __call__(self, state: RunState, runtime: Runtime[RunContext]) -> RunState: ...


TRACED_KEY_CHARACTERS = 16
"""Its id and a few digits of the key: enough to tell two apart, too little to recognize a file."""


def instrumented(name: str, node: GraphNode) -> GraphNode:
    """Wrap a node in a span and measure its duration."""

    @wraps(node)
    async def run(state: RunState, runtime: Runtime[RunContext]) -> RunState:
        context, began = runtime.context, time.monotonic()
        with span(
            f"processing.{name}",
            run_id=str(context.run.run_id),
            document_id=str(context.run.document_id),
            algorithm_version=context.services.reading_variant.algorithm_version,
            content_key=context.record.content_key[:TRACED_KEY_CHARACTERS],
        ):
            try:
                return await node(state, runtime)
            finally:
                NODE_SECONDS.labels(name).observe(time.monotonic() - began)

    return run


RunGraph = CompiledStateGraph[RunState, RunContext, RunState, RunState]


def _record_only(name: str) -> GraphNode:
    """Return the node of a publish step, which MarkBasicComplete carries out."""

    async def record(state: RunState, runtime: Runtime[RunContext]) -> RunState:
        runtime.context.record_step(name)
        return {}

    return record


_BUILD_SUMMARY = "BuildSummary"
_NODE_FUNCTIONS: dict[str, GraphNode] = {
    "FetchDocumentRecord": fetch_document_record,
    "AlreadyProcessedCheck": already_processed_check,
    "MarkProcessingStarted": mark_processing_started,
    "ExtractText": extract_text,
    **{name: _record_only(name) for name in PUBLISH_STEPS},
    INDEX_TEXT: index_text,
    "MarkBasicComplete": mark_basic_complete,
    _BUILD_SUMMARY: build_summary,
}
NODES: dict[str, GraphNode] = {name: _NODE_FUNCTIONS[name] for name in (*STEP_ORDER, _BUILD_SUMMARY)}


# For transient errors only; a run whose services stay unavailable is requeued (ErrorHandling).
RETRY_POLICY = RetryPolicy(initial_interval=0.2, backoff_factor=2, max_attempts=3, jitter=True, retry_on=Unavailable)


def build_graph() -> RunGraph:
    """Build the graph: the nodes in the order of `STEP_ORDER`, with one branch for documents already processed."""
    graph = StateGraph(RunState, context_schema=RunContext)
    for name, node in NODES.items():
        graph.add_node(name, instrumented(name, node), retry_policy=RETRY_POLICY)
    graph.set_node_defaults(error_handler=error_handling)  # type: ignore[arg-type]  # its error comes by name

    branch = "AlreadyProcessedCheck"
    for name, following in pairwise((START, *NODES, END)):
        if name == branch:
            graph.add_conditional_edges(name, is_processed, {True: "MarkBasicComplete", False: following})
        else:
            graph.add_edge(name, following)
    return graph.compile()
