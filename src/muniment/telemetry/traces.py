"""Send spans over OTLP if a collector is configured. They contain no error messages, which may quote a document."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from opentelemetry.trace import NoOpTracer, Span, SpanKind, StatusCode, Tracer
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

EXPORT_SECONDS = 3

# Not OpenTelemetry's global provider, which can be set only once and enables FastAPI's own telemetry.
_tracer: Tracer = NoOpTracer()


def configure_traces(endpoint: str | None, service: str) -> Callable[[], None]:
    """Send spans to the collector at the base URL `endpoint`; without one, tracing costs nothing.

    Call the returned function at the end to send the remaining spans and stop.
    """
    global _tracer
    if endpoint is None:
        _tracer = NoOpTracer()
        return lambda: None
    # Imported here because most installations have no collector and the import is slow.
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    from opentelemetry.sdk.resources import SERVICE_NAME, Resource
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor

    provider = TracerProvider(resource=Resource.create({SERVICE_NAME: service}))
    # OTLP specification, "Endpoint URLs for OTLP/HTTP": the path of the signal is appended to the base URL. Retries end
    # with the timeout, and stopping the process waits for them.
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
    """Create a child span around the block. Errors are recorded by type only."""
    with _error_marking_span(name, attributes=attributes) as current:
        yield current


@contextmanager
def request_span(name: str, headers: Mapping[str, str]) -> Iterator[Span]:
    """Create a server span that continues the caller's `traceparent`, if any."""
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
