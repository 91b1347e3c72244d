"""Snapshot of a prepared installation, so that every case starts with the same rows, objects and points."""

import copy
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from tests.support.qdrant import LocalQdrant
from tests.support.seed import Seed

LEFT_ALONE = ("alembic_version", "procrastinate_version", "request_times")
"""The last one counts requests, whatever their outcome."""
TABLES = """
    SELECT c.relname, string_agg(quote_ident(a.attname), ', ' ORDER BY a.attnum)
      FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
     WHERE c.relnamespace = 'public'::regnamespace AND c.relkind = 'r' AND a.attnum > 0
       AND NOT a.attisdropped AND a.attgenerated = '' GROUP BY 1 ORDER BY 1
"""


@dataclass
class InstallationSnapshot:
    seed: Seed
    folder: Path
    qdrant: LocalQdrant | None
    _tables: dict[str, str] = field(default_factory=dict)
    _digests: dict[str, str] = field(default_factory=dict)
    _files: dict[Path, bytes] = field(default_factory=dict)
    _points: Any = None
    _is_as_kept: bool = False

    def save(self) -> None:
        """Save the current state."""
        found = self.seed.rows(TABLES)
        self._tables = {name: columns for name, columns in found if name not in LEFT_ALONE}
        statements = ["DROP SCHEMA IF EXISTS kept CASCADE", "CREATE SCHEMA kept"]
        statements += [f"CREATE TABLE kept.{name} AS TABLE public.{name}" for name in self._tables]
        self.seed.execute("; ".join(statements))
        self._digests = self.digests()
        self._files = self._stored()
        self._points = copy.deepcopy(self._collections)

    def restore(self) -> None:
        """Restore the saved state."""
        if not self._is_as_kept:
            self._restore()
        self._is_as_kept = False

    def _restore(self) -> None:
        changed = [name for name, digest in self.digests().items() if self._digests[name] != digest]
        if changed:
            self.seed.execute(
                "; ".join(
                    [
                        "SET session_replication_role = replica",
                        *self._put_back(changed),
                        "RESET session_replication_role",
                    ]
                )
            )
        now = self._stored()
        for path in now.keys() - self._files.keys():
            path.unlink()
        for path, content in self._files.items():
            if now.get(path) != content:
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(content)
        if self.qdrant is not None:
            self._local.collections = copy.deepcopy(self._points)

    def is_unchanged(self) -> bool:
        """Return whether every row, object and point equals the saved one."""
        self._is_as_kept = (
            self.digests() == self._digests and self._stored() == self._files and not self._moved_points()
        )
        return self._is_as_kept

    def whole(self) -> object:
        """Return every row, object and point for comparison."""
        return self.digests(), self._stored(), points_of(self.qdrant) if self.qdrant else None

    def digests(self) -> dict[str, str]:
        """Return a digest of the rows of each table."""
        whole = "SELECT '{0}', md5(coalesce(string_agg(t::text, '|' ORDER BY t::text), '')) FROM public.{0} t"
        return dict(self.seed.rows(" UNION ALL ".join(whole.format(name) for name in self._tables)))

    def _put_back(self, names: list[str]) -> list[str]:
        again = "INSERT INTO public.{0} ({1}) OVERRIDING SYSTEM VALUE SELECT {1} FROM kept.{0}"
        deletions = [f"DELETE FROM public.{name}" for name in names]
        return [*deletions, *(again.format(name, self._tables[name]) for name in names)]

    def _stored(self) -> dict[Path, bytes]:
        return {path: path.read_bytes() for path in self.folder.rglob("*") if path.is_file()}

    @property
    def _local(self) -> Any:
        assert self.qdrant is not None
        return self.qdrant._client

    @property
    def _collections(self) -> Any:
        return self._local.collections if self.qdrant is not None else None

    def _moved_points(self) -> bool:
        return self.qdrant is not None and points_of(self.qdrant) != _told(self._points)


class PointState(NamedTuple):
    """A point as stored in the index."""

    document_id: str
    epoch: int
    status: str


def points_of(qdrant: LocalQdrant) -> list[PointState]:
    """Return all points without our own code."""
    client: Any = qdrant._client
    return _told(client.collections)


def _told(collections: Any) -> list[PointState]:
    return sorted(
        PointState(payload["doc_id"], payload["epoch"], payload["status"])
        for collection in collections.values()
        for place, payload in enumerate(collection.payload)
        if not collection.deleted[place]
    )
