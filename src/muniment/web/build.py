"""Last step of the build: turn Next's export into the folder that is served.

    python -m muniment.web.build web/out src/muniment/web/static

Every page gets its own Content-Security-Policy, because Next writes inline scripts that differ from page to page;
compressible files get a compressed twin. `site.json` lists all files, and nothing else is ever served.
"""

import gzip
import hashlib
import json
import re
import shutil
import sys
from base64 import b64encode
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import TypedDict

MANIFEST = "site.json"
MEDIA_TYPES = {
    ".html": "text/html; charset=utf-8",
    ".txt": "text/plain; charset=utf-8",  # what a page is made of when one comes from another page of ours
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".json": "application/json",
    ".svg": "image/svg+xml",
    ".ico": "image/x-icon",
    ".png": "image/png",
    ".woff2": "font/woff2",
    ".webmanifest": "application/manifest+json",
}
COMPRESSED_SUFFIXES = {".html", ".txt", ".js", ".css", ".json", ".svg", ".webmanifest"}
INLINE_SCRIPT = re.compile(rb"<script(?P<attributes>[^>]*)>(?P<code>.*?)</script>", re.DOTALL)


class ManifestEntry(TypedDict):
    """One thing that can be asked for."""

    file: str
    media_type: str
    digest: str
    compressed: str | None
    policy: str | None
    is_immutable: bool


def build_site(exported: Path, target: Path) -> dict[str, ManifestEntry]:
    """Fill `target` anew. Returns what stands in `site.json`: each path, and what there is to know of it."""
    if target.exists():
        shutil.rmtree(target)
    target.mkdir(parents=True)
    site = {_url_path(name): _copy_file(name, exported / name, target) for name in sorted(_list_files(exported))}
    (target / MANIFEST).write_text(json.dumps(site, indent=1), encoding="utf-8")
    return site


def _list_files(exported: Path) -> Iterator[PurePosixPath]:
    for file in exported.rglob("*"):
        if file.is_file() and file.suffix in MEDIA_TYPES:
            yield PurePosixPath(file.relative_to(exported).as_posix())


def _url_path(name: PurePosixPath) -> str:
    """`kb.html` is asked for as `/kb`, the index as `/`; everything else by its own name."""
    if name.suffix != ".html":
        return f"/{name}"
    return "/" if name.name == "index.html" else f"/{name.with_suffix('')}"


def _copy_file(name: PurePosixPath, source: Path, target: Path) -> ManifestEntry:
    content = source.read_bytes()
    kept = target / name
    kept.parent.mkdir(parents=True, exist_ok=True)
    kept.write_bytes(content)
    compressed = None
    if name.suffix in COMPRESSED_SUFFIXES:
        compressed = f"{name}.gz"
        # Without a time in it: the same page is the same file, whenever it was built.
        (target / compressed).write_bytes(gzip.compress(content, 9, mtime=0))
    return ManifestEntry(
        file=str(name),
        media_type=MEDIA_TYPES[name.suffix],
        digest=hashlib.sha256(content).hexdigest()[:32],
        compressed=compressed,
        policy=content_security_policy(content) if name.suffix == ".html" else None,
        is_immutable=str(name).startswith("_next/static/"),
    )


def content_security_policy(page: bytes) -> str:
    """What a browser may do with this page: its own scripts, those inside of it by their hashes, and nothing else."""
    hashes = sorted(
        {_hash(match["code"]) for match in INLINE_SCRIPT.finditer(page) if b"src=" not in match["attributes"]}
    )
    return "; ".join(
        (
            "default-src 'none'",
            " ".join(["script-src 'self'", *hashes]),
            # Menus and dialogs place themselves by style attributes, and a dialog holds the page still by a style
            # element: both are written by scripts, which are the ones above.
            "style-src 'self' 'unsafe-inline'",
            "img-src 'self' data: blob:",
            "font-src 'self'",
            "connect-src 'self'",
            "manifest-src 'self'",
            "base-uri 'none'",
            "form-action 'self'",
            "frame-ancestors 'none'",
        )
    )


def _hash(code: bytes) -> str:
    return f"'sha256-{b64encode(hashlib.sha256(code).digest()).decode()}'"


if __name__ == "__main__":
    build_site(Path(sys.argv[1]), Path(sys.argv[2]))
