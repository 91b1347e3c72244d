"""Request and response bodies of saved searches."""

from datetime import datetime
from typing import Annotated, Any
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from muniment.search.criteria import SearchCriteria

SearchName = Annotated[
    str, StringConstraints(strip_whitespace=True, min_length=1, max_length=100, pattern=r"^[^\x00-\x1f\x7f]*$")
]


class SavedCriteria(SearchCriteria):
    """The query parameters of the search, apart from `limit`."""

    model_config = ConfigDict(extra="forbid")

    def to_json(self) -> dict[str, Any]:
        """Return what is stored: parameters with a value other than the default."""
        return self.model_dump(mode="json", exclude_defaults=True)


class SavedSearchRequest(BaseModel):
    name: SearchName
    parameters: SavedCriteria


class SavedSearchChange(BaseModel):
    """Fields that are omitted or null stay unchanged."""

    name: SearchName | None = None
    parameters: SavedCriteria | None = None


class SavedSearchRead(BaseModel):
    model_config = ConfigDict(from_attributes=True)

    id: UUID
    name: str
    parameters: dict[str, Any] = Field(description="Query parameters of `GET /search`")
    created_at: datetime
    updated_at: datetime


class SavedSearchesRead(BaseModel):
    items: list[SavedSearchRead]
