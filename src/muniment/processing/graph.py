"""The order of the nodes, in one glance. A node knows nothing of its neighbours.

What the nodes after ExtractText write upon the document waits for MarkBasicComplete: people see the old result until
one transaction shows all of the new one, whether it is a first reading, a reread or a replacement.
"""

from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.types import RetryPolicy

from muniment.errors import Unavailable
from muniment.processing.context import Context, RunState
from muniment.processing.nodes.aggregate_diagrams import aggregate_diagrams
from muniment.processing.nodes.already_processed_check import already_processed_check, is_processed
from muniment.processing.nodes.build_summary import build_summary
from muniment.processing.nodes.error_handling import error_handling
from muniment.processing.nodes.extract_text import extract_text
from muniment.processing.nodes.fetch_document_record import fetch_document_record
from muniment.processing.nodes.index import index
from muniment.processing.nodes.mark_basic_complete import mark_basic_complete
from muniment.processing.nodes.mark_processing_started import mark_processing_started
from muniment.processing.nodes.save_diagrams import save_diagrams
from muniment.processing.nodes.save_pages import save_pages
from muniment.processing.nodes.save_paragraphs import save_paragraphs
from muniment.processing.nodes.update_metrics import update_metrics
from muniment.processing.watching import Node, watched

Graph = CompiledStateGraph[RunState, Context, RunState, RunState]

NODES: dict[str, Node] = {
    "FetchDocumentRecord": fetch_document_record,
    "AlreadyProcessedCheck": already_processed_check,
    "MarkProcessingStarted": mark_processing_started,
    "ExtractText": extract_text,
    "SavePages": save_pages,
    "SaveParagraphs": save_paragraphs,
    "AggregateDiagrams": aggregate_diagrams,
    "SaveDiagrams": save_diagrams,
    "Index": index,
    "UpdateMetrics": update_metrics,
    "MarkBasicComplete": mark_basic_complete,
    "BuildSummary": build_summary,
}

# Transient errors only; what stays unavailable goes back to the queue (ErrorHandling).
RETRY = RetryPolicy(initial_interval=0.2, backoff_factor=2, max_attempts=3, jitter=True, retry_on=Unavailable)


def build_graph() -> Graph:
    graph = StateGraph(RunState, context_schema=Context)
    for name, node in NODES.items():
        graph.add_node(name, watched(name, node), retry_policy=RETRY)
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
