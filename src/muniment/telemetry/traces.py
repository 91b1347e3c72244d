"""Spans, sent over OTLP when somebody collects them. They hold no message of an error, which may quote a document."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from opentelemetry.trace import NoOpTracer, Span, SpanKind, StatusCode, Tracer
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

EXPORT_SECONDS = 3

# Kept here and not in the API's global place, which takes a provider only once and wakes FastAPI's own telemetry.
_tracer: Tracer = NoOpTracer()


def configure_traces(endpoint: str | None, service: str) -> Callable[[], None]:
    """Send spans to the collector at `endpoint`, a base address; without one they cost nothing.

    Call the answer at the end: it sends what is left and stops.
    """
    global _tracer
    if endpoint is None:
        _tracer = NoOpTracer()
        return lambda: None
    # Only now: most installations have no collector, and these take long to load.
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    from opentelemetry.sdk.resources import SERVICE_NAME, Resource
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor

    provider = TracerProvider(resource=Resource.create({SERVICE_NAME: service}))
    # OTLP specification, "Endpoint URLs for OTLP/HTTP": the path of the signal is added to the base address.
    # Retries end with the timeout, and a stop of the process waits for them.
    exporter = OTLPSpanExporter(endpoint=f"{endpoint.rstrip('/')}/v1/traces", timeout=EXPORT_SECONDS)
    provider.add_span_processor(BatchSpanProcessor(exporter))
    _tracer = provider.get_tracer("muniment")

    def shutdown() -> None:
        global _tracer
        _tracer = NoOpTracer()
        provider.shutdown()

    return shutdown


@contextmanager
def span(name: str, **attributes: str | int | float) -> Iterator[Span]:
    """A span around the block, the child of the one around it. An error is marked by its type alone."""
    with _error_marking_span(name, attributes=attributes) as current:
        yield current


@contextmanager
def request_span(name: str, headers: Mapping[str, str]) -> Iterator[Span]:
    """A server's span that continues the caller's `traceparent`, if it sent one."""
    parent = TraceContextTextMapPropagator().extract(headers)
    with _error_marking_span(name, kind=SpanKind.SERVER, context=parent) as current:
        yield current


@contextmanager
def _error_marking_span(name: str, **options: Any) -> Iterator[Span]:
    with _tracer.start_as_current_span(
        name, record_exception=False, set_status_on_exception=False, **options
    ) as current:
        try:
            yield current
        except Exception as error:
            current.set_attribute("error.type", type(error).__qualname__)
            current.set_status(StatusCode.ERROR)
            raise
