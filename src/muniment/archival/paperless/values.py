"""What is read from Paperless's answers. A shape that is not known is `Unclear`, never a guess."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date
from typing import Any, NamedTuple, Self

from muniment.archival.paperless.errors import LineStopped, Unclear


class Version(NamedTuple):
    major: int
    minor: int

    @classmethod
    def parse(cls, text: str) -> Self:
        """From `2.20.15`; `LineStopped` for what is no version, and for one whose uploads cannot carry our fields."""
        major, _, rest = text.partition(".")
        minor = rest.partition(".")[0]
        if not (major.isdecimal() and minor.isdecimal()):
            raise LineStopped("Paperless did not tell its version; is the address that of a Paperless-ngx?")
        version = cls(int(major), int(minor))
        if version < OLDEST:
            raise LineStopped(f"Paperless-ngx {major}.{minor} is too old: 2.19 or newer is needed")
        return version

    @property
    def has_sha256(self) -> bool:
        """Whether Paperless keeps the SHA-256 of an original; before, it was the MD5."""
        return self.major >= 3


OLDEST = Version(2, 19)
"""The first that takes custom fields with values in an upload."""


@dataclass(frozen=True)
class PaperlessDocument:
    id: int
    title: str
    tags: frozenset[int]
    correspondent: int | None
    document_type: int | None
    custom_fields: Mapping[int, object]
    original_file_name: str | None
    created_on: date
    is_trashed: bool

    FIELDS = "id,title,tags,correspondent,document_type,custom_fields,original_file_name,created,deleted_at"
    """To ask for these alone: the rest of an answer is the whole text of the document."""

    @classmethod
    def read(cls, row: Mapping[str, Any]) -> Self:
        return cls(
            id=int(row["id"]),
            title=row["title"],
            tags=frozenset(map(int, row["tags"])),
            correspondent=_id(row["correspondent"]),
            document_type=_id(row["document_type"]),
            custom_fields={int(field["field"]): field["value"] for field in row["custom_fields"]},
            original_file_name=row["original_file_name"],
            created_on=date.fromisoformat(row["created"][:10]),
            is_trashed=row["deleted_at"] is not None,
        )


def _id(value: object) -> int | None:
    return None if value is None else int(str(value))


@contextmanager
def reading() -> Iterator[None]:
    """Say `Unclear` where an answer is not shaped as Paperless's are."""
    try:
        yield
    except (AttributeError, KeyError, IndexError, TypeError, ValueError):
        raise Unclear("Paperless answered in a shape that is not known") from None
