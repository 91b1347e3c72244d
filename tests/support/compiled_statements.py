"""Compile each statement once for all tests of a process, whose databases are identical.

Each test has its own engines with their own caches: compiling the same statements in each test would take longer
than executing them.
"""

from typing import Any

from sqlalchemy import Engine
from sqlalchemy.dialects.postgresql.psycopg import PGDialectAsync_psycopg
from sqlalchemy.util import LRUCache


def share_compiled_statements() -> None:
    """Give all engines the same cache of compiled statements."""
    compiled = LRUCache[Any, Any](5000)
    store = property(lambda engine: compiled, lambda engine, own: None)
    setattr(Engine, "_compiled_cache", store)  # noqa: B010
    # The cache key contains the dialect, so dialects with the same configuration must be equal.
    setattr(PGDialectAsync_psycopg, "__eq__", lambda self, other: type(self) is type(other))  # noqa: B010
    setattr(PGDialectAsync_psycopg, "__hash__", lambda self: hash(type(self)))  # noqa: B010
