"""Compile each statement once for all tests of a process, whose databases are all alike.

Every test has engines of its own, and an engine keeps what it compiled for itself: compiling the same statements again
in each test takes longer than the statements.
"""

from typing import Any

from sqlalchemy import Engine
from sqlalchemy.dialects.postgresql.psycopg import PGDialectAsync_psycopg
from sqlalchemy.util import LRUCache


def share_compiled_statements() -> None:
    """Give all engines the same store of compiled statements."""
    compiled = LRUCache[Any, Any](5000)
    store = property(lambda engine: compiled, lambda engine, own: None)
    setattr(Engine, "_compiled_cache", store)  # noqa: B010
    # A compiled statement is found by the dialect that it was compiled for; two that are set up alike are the same.
    setattr(PGDialectAsync_psycopg, "__eq__", lambda self, other: type(self) is type(other))  # noqa: B010
    setattr(PGDialectAsync_psycopg, "__hash__", lambda self: hash(type(self)))  # noqa: B010
