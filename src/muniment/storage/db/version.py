"""Which version the tables have, and which this Muniment needs. Without Alembic, which takes long to load."""

import re
from functools import cache
from pathlib import Path

from muniment.errors import MunimentError

MIGRATIONS = Path(__file__).parents[2] / "migrations"


class SchemaOutOfDate(MunimentError):
    """The database is not at the version of this Muniment: run `muniment migrate`"""


class DatabaseUnreachable(MunimentError):
    """The database cannot be reached"""


@cache
def newest_version() -> str:
    """Of the last migration file; their names sort by date."""
    last = max((MIGRATIONS / "versions").glob("*.py"), key=lambda file: file.name)
    found = re.search(r'^revision = "(.+)"$', last.read_text(encoding="utf-8"), re.MULTILINE)
    assert found is not None
    return found[1]
