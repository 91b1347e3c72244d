"""The parameters of a search as callers send them. Saved searches are validated by the same model."""

from typing import Annotated
from uuid import UUID

from pydantic import BaseModel, Field

from muniment.documents.tables import DocumentType
from muniment.lifecycle.schemas import DateOrTime, range_end, range_start
from muniment.search.query.filters import FileFormat, SearchFilters
from muniment.search.query.request import SearchMode, SearchRequest, SearchSort

MAX_KNOWLEDGE_BASES = 1000
MAX_VALUES = 100
"""Of each other filter."""
MAX_QUERY_CHARACTERS = 1000
# At least one visible character, and no NUL, which PostgreSQL cannot store in text.
QUERY_PATTERN = r"^[^\x00]*[^\s\x00][^\x00]*$"
QUERY_DESCRIPTION = 'Keywords, "exact phrases" and -excluded words'


class SearchCriteria(BaseModel):
    """What is searched for, and in which documents."""

    q: Annotated[str, Field(max_length=MAX_QUERY_CHARACTERS, pattern=QUERY_PATTERN, description=QUERY_DESCRIPTION)]
    kb_id: Annotated[list[UUID] | None, Field(max_length=MAX_KNOWLEDGE_BASES, description="All by default")] = None
    mode: SearchMode = SearchMode.HYBRID
    document_type: Annotated[list[DocumentType] | None, Field(max_length=MAX_VALUES)] = None
    added_from: Annotated[DateOrTime | None, Field(description="A time, or a day in UTC (from its start)")] = None
    added_to: Annotated[DateOrTime | None, Field(description="A time, or a day in UTC (until its end)")] = None
    uploaded_by: Annotated[
        list[UUID] | None, Field(max_length=MAX_VALUES, description="Users who uploaded the document")
    ] = None
    format: Annotated[list[FileFormat] | None, Field(max_length=MAX_VALUES)] = None
    sort: Annotated[
        SearchSort, Field(description="`date` sorts the most relevant passages by the date added, newest first")
    ] = SearchSort.RELEVANCE

    def to_request(self, limit: int) -> SearchRequest:
        filters = SearchFilters(
            range_start(self.added_from), range_end(self.added_to), self.uploaded_by or (), self.format or ()
        )
        return SearchRequest(
            self.q, self.kb_id or (), self.mode, self.document_type or (), limit, filters=filters, sort=self.sort
        )


class SearchParameters(SearchCriteria):
    """The query parameters of a search."""

    limit: Annotated[int, Field(ge=1, le=50)] = 10

    def request(self) -> SearchRequest:
        return self.to_request(self.limit)
