"""The web page over HTTP, at every path that is not the API's."""

from fastapi import APIRouter, FastAPI, Request, Response
from starlette.convertors import Convertor, register_url_convertor

from muniment.web.site import Asset, Site

RESERVED = ("api", "internal", "docs", "health", "metrics", r"openapi\.json")
NOT_BUILT = "The web page was not built. In a clone, `make serve` and `tools/web` build it; the API is at /docs.\n"


class PagePath(Convertor[str]):
    """Any path but the API's, whose own answers to what it does not know must stay its own."""

    regex = rf"(?!(?:{'|'.join(RESERVED)})(?:/|$)).*"

    def convert(self, value: str) -> str:
        return value

    def to_string(self, value: str) -> str:
        return value


register_url_convertor("page", PagePath())


def add_pages(app: FastAPI, site: Site) -> None:
    """Last of all: it takes whatever nobody else did."""
    router = APIRouter(include_in_schema=False)

    @router.api_route("/{path:page}", methods=["GET", "HEAD"])
    async def read_page(path: str, request: Request) -> Response:
        if found := site.find(f"/{path}"):
            return answer(found, request)
        if site.not_found:
            return answer(site.not_found, request, status_code=404)
        return Response(NOT_BUILT, status_code=503, media_type="text/plain")

    app.include_router(router)


def answer(asset: Asset, request: Request, *, status_code: int = 200) -> Response:
    is_compressed = asset.compressed is not None and _takes_gzip(request)
    headers = _headers(asset, is_compressed=is_compressed)
    if status_code == 200 and _has_it(request, headers["ETag"]):
        return Response(status_code=304, headers=headers)
    if is_compressed:
        headers["Content-Encoding"] = "gzip"
    content = asset.compressed if is_compressed else asset.content
    return Response(content, status_code=status_code, media_type=asset.media_type, headers=headers)


def _headers(asset: Asset, *, is_compressed: bool) -> dict[str, str]:
    headers = {
        "ETag": f'"{asset.digest}{"-gz" if is_compressed else ""}"',
        # The name of an immutable one holds its hash: when it changes, it is another.
        "Cache-Control": "public, max-age=31536000, immutable" if asset.is_immutable else "no-cache",
    }
    if asset.compressed is not None:
        headers["Vary"] = "Accept-Encoding"
    if asset.policy:
        headers["Content-Security-Policy"] = asset.policy
    return headers


def _takes_gzip(request: Request) -> bool:
    """`gzip;q=0` is a refusal; what else a weight says does not matter to one who has no other."""
    for offered in request.headers.get("Accept-Encoding", "").split(","):
        name, _, weight = offered.strip().partition(";")
        if name.strip().lower() in ("gzip", "*"):
            return weight.replace(" ", "").lower() not in ("q=0", "q=0.0", "q=0.00", "q=0.000")
    return False


def _has_it(request: Request, etag: str) -> bool:
    known = request.headers.get("If-None-Match", "")
    return known.strip() == "*" or etag in (tag.strip().removeprefix("W/") for tag in known.split(","))
