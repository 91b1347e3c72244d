"""Our documents in Paperless's trash, looked at once in a pass: each row there brings its whole text."""

import asyncio
from dataclasses import dataclass, field

from muniment.archival.paperless.client import Paperless


@dataclass(frozen=True)
class Trashed:
    document_id: int
    tags: frozenset[int]
    file_name: str | None


@dataclass
class TrashView:
    paperless: Paperless
    _found: list[Trashed] | None = None
    _looking: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def find(self, source_tag: int, telling_tags: frozenset[int], file_name: str | None) -> int | None:
        """The lowest id of what carries these tags or was uploaded under this name."""
        async with self._looking:
            if self._found is None:
                self._found = [
                    Trashed(document.id, document.tags, document.original_file_name)
                    async for document in self.paperless.trashed()
                    if source_tag in document.tags
                ]
        return min((one.document_id for one in self._found if _is(one, telling_tags, file_name)), default=None)

    def forget(self) -> None:
        self._found = None


def _is(one: Trashed, telling_tags: frozenset[int], file_name: str | None) -> bool:
    return telling_tags <= one.tags or (file_name is not None and one.file_name == file_name)
