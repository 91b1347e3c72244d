"""Serve the built web page from memory at every path outside the API."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from fastapi import APIRouter, FastAPI, Request, Response
from starlette.convertors import Convertor, register_url_convertor

from muniment.web.build import MANIFEST, ManifestEntry

STATIC = Path(__file__).parent / "static"


NOT_FOUND = "/404"


@dataclass(frozen=True)
class Asset:
    content: bytes
    compressed: bytes | None
    media_type: str
    digest: str
    policy: str | None
    is_immutable: bool


@dataclass(frozen=True)
class Site:
    assets: Mapping[str, Asset]

    def find(self, path: str) -> Asset | None:
        """Return the asset of a URL path such as `/kb`, `/kb.txt` or `/_next/static/…`."""
        return self.assets.get(path)

    @property
    def not_found(self) -> Asset | None:
        return self.assets.get(NOT_FOUND)


def load_site(folder: Path = STATIC) -> Site:
    """Load all assets into memory, about two megabytes. Without a built page there are none."""
    try:
        entries: dict[str, ManifestEntry] = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
    except FileNotFoundError:
        return Site({})
    return Site({path: _load_asset(folder, entry) for path, entry in entries.items()})


def _load_asset(folder: Path, entry: ManifestEntry) -> Asset:
    return Asset(
        content=(folder / entry["file"]).read_bytes(),
        compressed=(folder / entry["compressed"]).read_bytes() if entry["compressed"] else None,
        media_type=entry["media_type"],
        digest=entry["digest"],
        policy=entry["policy"],
        is_immutable=entry["is_immutable"],
    )


RESERVED = ("api", "internal", "docs", "health", "metrics", r"openapi\.json")


NOT_BUILT = "The web page has not been built. Run `make serve` or `tools/web` to build it. The API is at /docs.\n"


class PagePath(Convertor[str]):
    """Any path outside the API, whose own 404 responses must be kept."""

    regex = rf"(?!(?:{'|'.join(RESERVED)})(?:/|$)).*"

    def convert(self, value: str) -> str:
        return value

    def to_string(self, value: str) -> str:
        return value


register_url_convertor("page", PagePath())


def add_pages(app: FastAPI, site: Site) -> None:
    """Add the pages. Must come last, because it matches every remaining path."""
    router = APIRouter(include_in_schema=False)

    @router.api_route("/{path:page}", methods=["GET", "HEAD"])
    async def read_page(path: str, request: Request) -> Response:
        if found := site.find(f"/{path}"):
            return asset_response(found, request)
        if site.not_found:
            return asset_response(site.not_found, request, status_code=404)
        return Response(NOT_BUILT, status_code=503, media_type="text/plain")

    app.include_router(router)


def asset_response(asset: Asset, request: Request, *, status_code: int = 200) -> Response:
    is_compressed = asset.compressed is not None and _accepts_gzip(request)
    headers = _headers(asset, is_compressed=is_compressed)
    if status_code == 200 and _matches_etag(request, headers["ETag"]):
        return Response(status_code=304, headers=headers)
    if is_compressed:
        headers["Content-Encoding"] = "gzip"
    content = asset.compressed if is_compressed else asset.content
    return Response(content, status_code=status_code, media_type=asset.media_type, headers=headers)


def _headers(asset: Asset, *, is_compressed: bool) -> dict[str, str]:
    headers = {
        "ETag": f'"{asset.digest}{"-gz" if is_compressed else ""}"',
        # The name of an immutable file contains its hash, so it never changes.
        "Cache-Control": "public, max-age=31536000, immutable" if asset.is_immutable else "no-cache",
    }
    if asset.compressed is not None:
        headers["Vary"] = "Accept-Encoding"
    if asset.policy:
        headers["Content-Security-Policy"] = asset.policy
    return headers


def _accepts_gzip(request: Request) -> bool:
    """Whether the client accepts gzip. `gzip;q=0` is a refusal; other weights do not matter with a single encoding."""
    for encoding in request.headers.get("Accept-Encoding", "").split(","):
        name, _, weight = encoding.strip().partition(";")
        if name.strip().lower() in ("gzip", "*"):
            return weight.replace(" ", "").lower() not in ("q=0", "q=0.0", "q=0.00", "q=0.000")
    return False


def _matches_etag(request: Request, etag: str) -> bool:
    known = request.headers.get("If-None-Match", "")
    return known.strip() == "*" or etag in (tag.strip().removeprefix("W/") for tag in known.split(","))
