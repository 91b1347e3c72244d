"""What is seen of a node from outside: a span and its seconds."""

import time
from functools import wraps
from typing import Protocol

from langgraph.runtime import Runtime

from muniment.processing.context import Context, RunState
from muniment.telemetry.metrics import NODE_SECONDS
from muniment.telemetry.traces import span


class Node(Protocol):
    async def __call__(self, state: RunState, runtime: Runtime[Context]) -> RunState: ...


SHOWN_OF_KEY = 16
"""Of a content key, its id and a few digits: enough to tell two apart, too little to recognise a file by."""


def watched(name: str, node: Node) -> Node:
    @wraps(node)
    async def run(state: RunState, runtime: Runtime[Context]) -> RunState:
        context, began = runtime.context, time.monotonic()
        with span(
            f"processing.{name}",
            run_id=str(context.run.run_id),
            document_id=str(context.run.document_id),
            algorithm_version=context.tools.reading.algorithm_version,
            content_key=state.get("content_key", "")[:SHOWN_OF_KEY],
        ):
            try:
                return await node(state, runtime)
            finally:
                NODE_SECONDS.labels(name).observe(time.monotonic() - began)

    return run
