import asyncio
import re
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from typing import Any
from uuid import UUID, uuid4

import pytest
import structlog
from fastapi import APIRouter, FastAPI, Request
from fastapi.responses import StreamingResponse
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Span, Status
from starlette.types import Message, Receive, Scope, Send

from muniment.http.middleware.access_log import AccessLog
from muniment.telemetry.logs import configure_logs, mark_as_logged
from muniment.telemetry.metrics import REGISTRY
from muniment.telemetry.traces import configure_traces
from tests.support.live_server import serving
from tests.support.log_lines import Lines, capture_logs


@pytest.fixture
def lines(capsys: pytest.CaptureFixture[str]) -> Iterator[Lines]:
    with capture_logs(capsys) as read:
        yield read


@dataclass(frozen=True)
class FakePrincipal:
    user_id: UUID
    organization_id: UUID


PRINCIPAL = FakePrincipal(uuid4(), uuid4())


class SampleApp(FastAPI):
    """Routes for everything that can happen to a request, and what they received."""

    def __init__(self) -> None:
        super().__init__()
        self.streaming = asyncio.Event()
        things = APIRouter(prefix="/things")
        things.add_api_route("/{thing_id}", self.read_thing, name="read_thing")
        api = APIRouter(prefix="/api/v1")
        api.include_router(things)
        self.include_router(api)
        self.add_api_route("/health/live", self.live)
        self.add_api_route("/metrics", self.live)
        self.add_api_route("/broken", self.break_down)
        self.add_api_route("/told", self.break_down_and_tell)
        self.add_api_route("/busy", self.live, status_code=503)
        self.add_api_route("/breaks-off", self.break_off)
        self.add_api_route("/endless", self.stream)
        self.add_api_route("/upload", self.upload, methods=["POST"])

    async def read_thing(self, thing_id: str, request: Request) -> str:
        request.state.principal = PRINCIPAL
        structlog.get_logger("test").info("thing.read")
        return thing_id

    async def live(self) -> str:
        return "ok"

    async def break_down(self) -> None:
        raise ValueError("no")

    async def break_down_and_tell(self) -> None:
        error = ValueError("no")
        mark_as_logged(error)
        raise error

    async def break_off(self) -> StreamingResponse:
        async def chunks() -> AsyncIterator[bytes]:
            yield b"some"
            raise ValueError("no more")

        return StreamingResponse(chunks())

    async def stream(self) -> StreamingResponse:
        async def chunks() -> AsyncIterator[bytes]:
            while True:
                yield b"more"
                self.streaming.set()
                await asyncio.sleep(0.01)

        return StreamingResponse(chunks())

    async def upload(self, request: Request) -> int:
        self.streaming.set()
        return sum([len(chunk) async for chunk in request.stream()])


def requests_counted(operation: str, status: int, method: str = "GET") -> float:
    labels = {"method": method, "operation": operation, "status": str(status)}
    return REGISTRY.get_sample_value("muniment_http_requests_total", labels) or 0


async def hang_up(app: SampleApp, head: str, lines: Lines) -> dict[str, Any]:
    """Send the head of a request, disconnect during the response or the body, and wait for the log line."""
    async with serving(AccessLog(app)) as client:
        _, writer = await asyncio.open_connection("127.0.0.1", client.base_url.port)
        writer.write(head.replace("\n", "\r\n").encode() + b"\r\n\r\n")
        async with asyncio.timeout(5):
            await app.streaming.wait()
            writer.transport.abort()
            while not (written := lines()):  # noqa: ASYNC110 a line on stderr cannot be awaited
                await asyncio.sleep(0.01)
    (line,) = written + lines()
    return line


async def spans_of(app: SampleApp, path: str) -> list[Span]:
    """Return the spans that a collector receives for one request of a traced caller."""
    collector = FastAPI()
    received: list[Span] = []

    @collector.post("/v1/traces")
    async def take(request: Request) -> None:
        message = ExportTraceServiceRequest.FromString(await request.body())
        received.extend(span for part in message.resource_spans for scope in part.scope_spans for span in scope.spans)

    async with serving(collector) as collecting, serving(AccessLog(app)) as client:
        shutdown = configure_traces(str(collecting.base_url), "muniment")
        try:
            await client.get(path, headers={"traceparent": f"00-{'a' * 32}-{'b' * 16}-01"})
        finally:
            await asyncio.to_thread(shutdown)
    return received


async def test_a_request_is_one_line_with_what_happened_and_who_asked(lines: Lines) -> None:
    async with serving(AccessLog(SampleApp())) as client:
        answer = await client.get("/api/v1/things/7?q=secret")

    _, line = lines()
    assert line.pop("duration_ms") > 0
    del line["timestamp"]
    assert line == {
        "event": "http.request",
        "level": "info",
        "logger": "muniment.http.middleware.access_log",
        "request_id": answer.headers["x-request-id"],
        "method": "GET",
        "path": "/api/v1/things/7",
        "operation": "read_thing",
        "status": 200,
        "bytes": 3,
        "user": str(PRINCIPAL.user_id),
        "organization": str(PRINCIPAL.organization_id),
    }


async def test_lines_written_on_the_way_carry_the_request_id(lines: Lines) -> None:
    async with serving(AccessLog(SampleApp())) as client:
        await client.get("/api/v1/things/7", headers={"X-Request-ID": "from-the_caller.1"})

    assert [(line["event"], line["request_id"]) for line in lines()] == [
        ("thing.read", "from-the_caller.1"),
        ("http.request", "from-the_caller.1"),
    ]


async def test_a_request_id_that_could_do_harm_is_replaced() -> None:
    async with serving(AccessLog(SampleApp())) as client:
        for offered in ("", "a" * 65, "a b", 'a"b', "ä"):
            answer = await client.get("/metrics", headers={b"X-Request-ID": offered.encode()})
            assert UUID(answer.headers["x-request-id"]).version == 7, offered


async def test_a_path_without_a_route_is_counted_as_unmatched(lines: Lines) -> None:
    before = requests_counted("unmatched", 404)
    async with serving(AccessLog(SampleApp())) as client:
        await client.get("/nowhere/{}/secret")

    (line,) = lines()
    assert (line["operation"], line["status"]) == ("unmatched", 404)
    assert "user" not in line
    assert requests_counted("unmatched", 404) == before + 1


async def test_requests_are_counted_and_timed_by_operation() -> None:
    before = requests_counted("read_thing", 200)
    async with serving(AccessLog(SampleApp())) as client:
        await client.get("/api/v1/things/1")
        await client.get("/api/v1/things/2")

    assert requests_counted("read_thing", 200) == before + 2
    labels = {"method": "GET", "operation": "read_thing"}
    assert REGISTRY.get_sample_value("muniment_http_request_seconds_count", labels) == before + 2


async def test_an_invented_method_is_no_label(lines: Lines) -> None:
    async with serving(AccessLog(SampleApp())) as client:
        await client.request("PROPFIND", "/nowhere")

    assert lines()[0]["method"] == "_OTHER"
    assert requests_counted("unmatched", 404, method="_OTHER") > 0
    assert requests_counted("unmatched", 404, method="PROPFIND") == 0


@pytest.mark.parametrize("path", ["/health/live", "/metrics"])
async def test_probes_are_logged_for_debugging_only(lines: Lines, path: str) -> None:
    async with serving(AccessLog(SampleApp())) as client:
        await client.get(path)
        assert lines() == []
        configure_logs("json", "DEBUG")
        await client.get(path)

    assert [line["level"] for line in lines() if line["event"] == "http.request"] == ["debug"]


async def test_an_unhandled_error_is_logged_once_with_its_traceback(lines: Lines) -> None:
    async with serving(AccessLog(SampleApp())) as client:
        answer = await client.get("/broken")

    (line,) = lines()
    assert answer.status_code == 500
    assert line["status"] == 500
    assert line["level"] == "error"
    assert line["request_id"] == answer.headers["x-request-id"]
    assert re.search(r'in break_down\n.*raise ValueError\("no"\)', line["exception"])


async def test_a_traceback_is_logged_only_once(lines: Lines) -> None:
    async with serving(AccessLog(SampleApp())) as client:
        await client.get("/told")

    (line,) = lines()
    assert (line["status"], line["level"]) == (500, "error")
    assert "exception" not in line


async def test_an_answer_that_says_we_cannot_is_a_warning(lines: Lines) -> None:
    async with serving(AccessLog(SampleApp())) as client:
        await client.get("/busy")

    assert [(line["status"], line["level"]) for line in lines()] == [(503, "warning")]


async def test_an_answer_that_breaks_off_counts_as_a_failure(lines: Lines) -> None:
    async with serving(AccessLog(SampleApp())) as client:
        with pytest.raises(Exception, match="peer closed"):
            await client.get("/breaks-off")

    (line,) = lines()
    assert (line["status"], line["level"], line["bytes"]) == (500, "error", 4)


async def test_a_client_that_leaves_during_the_answer_is_no_error(lines: Lines) -> None:
    line = await hang_up(SampleApp(), "GET /endless HTTP/1.1\nHost: localhost", lines)

    assert (line["status"], line["level"]) == (499, "info")
    assert "exception" not in line


async def test_a_client_that_leaves_during_its_upload_is_no_error(lines: Lines) -> None:
    line = await hang_up(SampleApp(), "POST /upload HTTP/1.1\nHost: localhost\nContent-Length: 1000", lines)

    assert (line["status"], line["level"], line["operation"]) == (499, "info", "upload")
    assert "exception" not in line


async def test_a_request_is_a_span_of_its_callers_trace() -> None:
    (span,) = await spans_of(SampleApp(), "/api/v1/things/7?q=secret")

    assert span.name == "GET /api/v1/things/{thing_id}"
    assert (span.trace_id.hex(), span.parent_span_id.hex()) == ("a" * 32, "b" * 16)
    attributes = {one.key: one.value.string_value or one.value.int_value for one in span.attributes}
    assert attributes == {
        "http.request.method": "GET",
        "http.route": "/api/v1/things/{thing_id}",
        "http.response.status_code": 200,
    }


@pytest.mark.parametrize("path", ["/broken", "/busy"])
async def test_the_span_of_a_failed_request_is_marked(path: str) -> None:
    (span,) = await spans_of(SampleApp(), path)

    assert span.status.code == Status.STATUS_CODE_ERROR


async def test_whoever_leaves_with_all_the_bytes_that_were_promised_has_not_hung_up(lines: Lines) -> None:
    async def gone() -> Message:
        return {"type": "http.disconnect"}

    async def nowhere(_: Message) -> None:
        pass

    async def streams(_: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"5")]})
        await send({"type": "http.response.body", "body": b"bytes", "more_body": True})
        await receive()  # a streaming response watches for a disconnect while it sends
        await send({"type": "http.response.body", "body": b"", "more_body": False})

    await AccessLog(streams)({"type": "http", "method": "GET", "path": "/file", "headers": []}, gone, nowhere)
    assert [line["status"] for line in lines()] == [200]
