"""Paginated lists with absolute links, as in Paperless."""

from collections.abc import Callable, Sequence
from typing import Any
from urllib.parse import urlencode

from tests.support.fake_paperless.call import Call, refuse
from tests.support.fake_paperless.wire import Response

_MOST = 100_000


def paged(call: Call, items: Sequence[Any], show: Callable[[Any], Any], identify: Callable[[Any], int]) -> Response:
    return Response.of_json(page_of(call, items, show, identify))


def page_of(
    call: Call, items: Sequence[Any], show: Callable[[Any], Any], identify: Callable[[Any], int]
) -> dict[str, Any]:
    size = _page_size(call.request.last("page_size"))
    number = _page_number(call.request.last("page"))
    last = max(1, -(-len(items) // size))
    if not 1 <= number <= last:
        raise refuse(404, {"detail": "Invalid page."})
    body: dict[str, Any] = {
        "count": len(items),
        "next": _link(call, number + 1) if number < last else None,
        "previous": _link(call, number - 1) if number > 1 else None,
    }
    if call.api < 10:
        body["all"] = [identify(item) for item in items]
    body["results"] = [show(item) for item in items[(number - 1) * size : number * size]]
    return body


def _page_size(text: str) -> int:
    return min(int(text), _MOST) if text.isdecimal() and int(text) > 0 else 25


def _page_number(text: str) -> int:
    if text in ("", "last"):
        return 1
    return int(text) if text.isdecimal() else 0


def _link(call: Call, page: int) -> str:
    host = call.state.switches.host or call.request.headers.get("host", "localhost")
    query = {**call.request.query, "page": [str(page)]}
    return f"http://{host}{call.request.path}?{urlencode(query, doseq=True)}"
