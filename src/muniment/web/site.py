"""What the build left in the package, held in memory: nothing else can be asked for, whatever a path looks like."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from muniment.web.packing import SITE, Entry

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
        """By the path as a browser writes it: `/kb`, `/kb.txt`, `/_next/static/…`."""
        return self.assets.get(path)

    @property
    def not_found(self) -> Asset | None:
        return self.assets.get(NOT_FOUND)


def load_site(folder: Path = STATIC) -> Site:
    """Some two megabytes. Without any assets where the page was not built."""
    try:
        entries: dict[str, Entry] = json.loads((folder / SITE).read_text(encoding="utf-8"))
    except FileNotFoundError:
        return Site({})
    return Site({path: _read(folder, entry) for path, entry in entries.items()})


def _read(folder: Path, entry: Entry) -> Asset:
    return Asset(
        content=(folder / entry["file"]).read_bytes(),
        compressed=(folder / entry["compressed"]).read_bytes() if entry["compressed"] else None,
        media_type=entry["media_type"],
        digest=entry["digest"],
        policy=entry["policy"],
        is_immutable=entry["is_immutable"],
    )
