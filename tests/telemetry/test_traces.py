import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import ResourceSpans, Span, Status

from muniment.telemetry.traces import configure_traces, request_span, span


class Collector(ThreadingHTTPServer):
    """Receives and keeps spans over OTLP like a real collector."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), CollectorHandler)
        self.paths: list[str] = []
        self.received: list[ResourceSpans] = []
        self.address = f"http://127.0.0.1:{self.server_port}"

    @property
    def spans(self) -> dict[str, Span]:
        return {one.name: one for resource in self.received for scope in resource.scope_spans for one in scope.spans}


class CollectorHandler(BaseHTTPRequestHandler):
    server: Collector

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.paths.append(self.requestline.split()[1])  # as sent; `path` has its slashes merged
        self.server.received += ExportTraceServiceRequest.FromString(body).resource_spans
        self.send_response(200)
        self.end_headers()

    def log_message(self, *_: object) -> None:
        pass


@contextmanager
def collecting() -> Iterator[Collector]:
    with Collector() as collector:
        thread = threading.Thread(target=collector.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield collector
        finally:
            collector.shutdown()
            thread.join()


@pytest.mark.parametrize("slash", ["", "/"])
def test_spans_reach_the_collector_below_its_base_address(slash: str) -> None:
    with collecting() as collector:
        shutdown = configure_traces(collector.address + slash, "muniment-api")
        with span("documents.receive", pages=3), span("blobs.put"):
            pass
        shutdown()

    assert set(collector.paths) == {"/v1/traces"}
    outer, inner = collector.spans["documents.receive"], collector.spans["blobs.put"]
    assert inner.parent_span_id == outer.span_id
    assert [(one.key, one.value.int_value) for one in outer.attributes] == [("pages", 3)]
    resource = {one.key: one.value.string_value for one in collector.received[0].resource.attributes}
    assert resource["service.name"] == "muniment-api"


def test_a_failed_span_tells_the_type_of_the_error_and_nothing_of_its_message() -> None:
    with collecting() as collector:
        shutdown = configure_traces(collector.address, "muniment")
        with pytest.raises(ValueError, match="Dear"), span("processing.read"):
            raise ValueError("Dear Sir")
        shutdown()

    failed = collector.spans["processing.read"]
    assert failed.status.code == Status.STATUS_CODE_ERROR
    assert [(one.key, one.value.string_value) for one in failed.attributes] == [("error.type", "ValueError")]
    assert b"Dear Sir" not in failed.SerializeToString()


def test_a_request_continues_the_trace_of_its_caller() -> None:
    with collecting() as collector:
        shutdown = configure_traces(collector.address, "muniment")
        with request_span("GET", {"traceparent": f"00-{'a' * 32}-{'b' * 16}-01"}):
            pass
        shutdown()

    served = collector.spans["GET"]
    assert served.trace_id.hex() == "a" * 32
    assert served.parent_span_id.hex() == "b" * 16
    assert served.kind == Span.SPAN_KIND_SERVER


def test_without_an_endpoint_spans_are_not_recorded() -> None:
    shutdown = configure_traces(None, "muniment")
    with span("documents.receive") as current:
        assert not current.is_recording()
    shutdown()


def test_after_the_shutdown_nothing_is_recorded() -> None:
    with collecting() as collector:
        configure_traces(collector.address, "muniment")()
        with span("late") as late:
            assert not late.is_recording()


def test_a_collector_that_is_away_holds_up_neither_work_nor_shutdown() -> None:
    with collecting() as collector:
        address = collector.address
    started = time.monotonic()
    shutdown = configure_traces(address, "muniment")
    with span("documents.receive"):
        pass
    shutdown()

    assert time.monotonic() - started < 5
