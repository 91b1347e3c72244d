from typing import Annotated, Generic, TypeVar

from fastapi import Query
from pydantic import BaseModel

ItemT = TypeVar("ItemT")


class PageRequest(BaseModel):
    page: Annotated[int, Query(ge=1, le=1_000_000)] = 1
    limit: Annotated[int, Query(ge=1, le=100)] = 20

    @property
    def offset(self) -> int:
        return (self.page - 1) * self.limit


Paging = Annotated[PageRequest, Query()]


class PaginatedRead(BaseModel, Generic[ItemT]):
    items: list[ItemT]
    total: int
    page: int
    limit: int
