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
    ".txt": "text/plain; charset=utf-8",  # data of a page, for navigation between our pages
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
    """Entry of one URL in the manifest."""

    file: str
    media_type: str
    digest: str
    compressed: str | None
    policy: str | None
    is_immutable: bool


def build_site(exported: Path, target: Path) -> dict[str, ManifestEntry]:
    """Rebuild `target` and return the content of `site.json`: an entry for each URL."""
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
    """Return the URL of a file: `/kb` for `kb.html`, `/` for the index, otherwise its own name."""
    if name.suffix != ".html":
        return f"/{name}"
    return "/" if name.name == "index.html" else f"/{name.with_suffix('')}"


def _copy_file(name: PurePosixPath, source: Path, target: Path) -> ManifestEntry:
    content = source.read_bytes()
    copy = target / name
    copy.parent.mkdir(parents=True, exist_ok=True)
    copy.write_bytes(content)
    compressed = None
    if name.suffix in COMPRESSED_SUFFIXES:
        compressed = f"{name}.gz"
        # Without a timestamp, so that equal pages give equal files.
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
    """Return the policy of a page: our scripts, its inline scripts by hash, and nothing else."""
    hashes = sorted(
        {_hash(match["code"]) for match in INLINE_SCRIPT.finditer(page) if b"src=" not in match["attributes"]}
    )
    return "; ".join(
        (
            "default-src 'none'",
            " ".join(["script-src 'self'", *hashes]),
            # Menus and dialogs are positioned by style attributes, and a dialog blocks scrolling with a style element.
            # Both are written by scripts, which are restricted above.
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
