"""Order of the pipeline nodes, their retry policy, traces and timings. A node knows nothing of its neighbours."""

import time
from functools import wraps
from typing import Protocol

from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.runtime import Runtime
from langgraph.types import RetryPolicy

from muniment.errors import Unavailable
from muniment.processing.pipeline.context import RunContext, RunState
from muniment.processing.pipeline.nodes.error_handling import error_handling
from muniment.processing.pipeline.nodes.extract_text import extract_text
from muniment.processing.pipeline.nodes.index_text import index_text
from muniment.processing.pipeline.nodes.prepare import (
    already_processed_check,
    fetch_document_record,
    is_processed,
    mark_processing_started,
)
from muniment.processing.pipeline.nodes.publish import (
    aggregate_diagrams,
    build_summary,
    mark_basic_complete,
    save_diagrams,
    save_pages,
    save_paragraphs,
    update_metrics,
)
from muniment.telemetry.metrics import NODE_SECONDS
from muniment.telemetry.traces import span


class GraphNode(Protocol):
    async def __call__(self, state: RunState, runtime: Runtime[RunContext]) -> RunState: ...


TRACED_KEY_CHARACTERS = 16
"""Of a content key, its id and a few digits: enough to tell two apart, too little to recognise a file by."""


def instrumented(name: str, node: GraphNode) -> GraphNode:
    @wraps(node)
    async def run(state: RunState, runtime: Runtime[RunContext]) -> RunState:
        context, began = runtime.context, time.monotonic()
        with span(
            f"processing.{name}",
            run_id=str(context.run.run_id),
            document_id=str(context.run.document_id),
            algorithm_version=context.services.reading_variant.algorithm_version,
            content_key=state.get("content_key", "")[:TRACED_KEY_CHARACTERS],
        ):
            try:
                return await node(state, runtime)
            finally:
                NODE_SECONDS.labels(name).observe(time.monotonic() - began)

    return run


RunGraph = CompiledStateGraph[RunState, RunContext, RunState, RunState]


NODES: dict[str, GraphNode] = {
    "FetchDocumentRecord": fetch_document_record,
    "AlreadyProcessedCheck": already_processed_check,
    "MarkProcessingStarted": mark_processing_started,
    "ExtractText": extract_text,
    "SavePages": save_pages,
    "SaveParagraphs": save_paragraphs,
    "AggregateDiagrams": aggregate_diagrams,
    "SaveDiagrams": save_diagrams,
    "Index": index_text,
    "UpdateMetrics": update_metrics,
    "MarkBasicComplete": mark_basic_complete,
    "BuildSummary": build_summary,
}


# Transient errors only; what stays unavailable goes back to the queue (ErrorHandling).
RETRY_POLICY = RetryPolicy(initial_interval=0.2, backoff_factor=2, max_attempts=3, jitter=True, retry_on=Unavailable)


def build_graph() -> RunGraph:
    graph = StateGraph(RunState, context_schema=RunContext)
    for name, node in NODES.items():
        graph.add_node(name, instrumented(name, node), retry_policy=RETRY_POLICY)
    graph.set_node_defaults(error_handler=error_handling)  # type: ignore[arg-type]  # its error comes by name

    graph.add_edge(START, "FetchDocumentRecord")
    graph.add_edge("FetchDocumentRecord", "AlreadyProcessedCheck")
    graph.add_conditional_edges(
        "AlreadyProcessedCheck", is_processed, {True: "MarkBasicComplete", False: "MarkProcessingStarted"}
    )
    graph.add_edge("MarkProcessingStarted", "ExtractText")
    graph.add_edge("ExtractText", "SavePages")
    graph.add_edge("SavePages", "SaveParagraphs")
    graph.add_edge("SaveParagraphs", "AggregateDiagrams")
    graph.add_edge("AggregateDiagrams", "SaveDiagrams")
    graph.add_edge("SaveDiagrams", "Index")
    graph.add_edge("Index", "UpdateMetrics")
    graph.add_edge("UpdateMetrics", "MarkBasicComplete")
    graph.add_edge("MarkBasicComplete", "BuildSummary")
    graph.add_edge("BuildSummary", END)
    return graph.compile()
