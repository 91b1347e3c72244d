"""Tags, correspondents, document types and custom fields, by their names."""

from collections.abc import Mapping
from typing import Any

from muniment.archival.paperless.answers import About
from muniment.archival.paperless.connected import Connected
from muniment.archival.paperless.errors import LineStopped, Rejected, Unclear
from muniment.archival.paperless.kinds import Kind
from muniment.archival.paperless.values import reading

_TEXT_FIELDS = ("string", "longtext")
_NO_MATCHING = {"matching_algorithm": 0, "match": "", "is_insensitive": False}


class Objects(Connected):
    async def find(self, kind: Kind, name: str) -> int | None:
        """The id of what bears exactly this name. Of several (their owners differ) the lowest that we may change."""
        rows = self._connection.rows(f"/api/{kind}/", {"name__iexact": name, "page_size": 100})
        with reading():
            # Whether the filter was understood is seen on the rows; the filter itself does not mind the case.
            named = [row async for row in rows if row["name"] == name]
            if not named:
                return None
            found = min(named, key=lambda row: (not row.get("user_can_change", True), int(row["id"])))
        if kind is Kind.CUSTOM_FIELD and found.get("data_type") not in _TEXT_FIELDS:
            raise LineStopped(f"The custom field {name} of Paperless is not one for text")
        return int(found["id"])

    async def find_or_make(self, kind: Kind, name: str) -> int:
        """The id of what bears this name, made with matching off if there is none. Doing it twice changes nothing."""
        if (found := await self.find(kind, name)) is not None:
            return found
        try:
            return await self._make(kind, name)
        except (Rejected, Unclear) as error:
            # Somebody was faster, or it was made in spite of the error (Paperless without its Redis does so).
            if (found := await self.find(kind, name)) is not None:
                return found
            if isinstance(error, Unclear):
                raise
            raise LineStopped(f"Paperless refuses to make {name} and shows none: {error.reason}") from None

    async def _make(self, kind: Kind, name: str) -> int:
        answer = await self._connection.post(f"/api/{kind}/", _new(kind, name), about=About.MAKE)
        with reading():
            return int(answer["id"])


def _new(kind: Kind, name: str) -> Mapping[str, Any]:
    return {"name": name, **({"data_type": "string"} if kind is Kind.CUSTOM_FIELD else _NO_MATCHING)}
