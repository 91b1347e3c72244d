"""What reading made of a document, in numbers (`ProcessedDocumentSummary`, specs/artifacts.md §7)."""

from pydantic import BaseModel, Field

from muniment.artifacts.tables import FullText
from muniment.processing.results.hydration import extraction_method


class PageProblem(BaseModel):
    page: int
    message: str


class Summary(BaseModel):
    total_pages: int
    total_words: int
    text_extraction_method: str
    pages_by_method: dict[str, int]
    problems: list[PageProblem] = Field(description="Pages that could not be read, and why")


def summarise(full: FullText) -> Summary:
    return Summary(
        total_pages=full.total_pages,
        total_words=full.total_words,
        text_extraction_method=extraction_method(full.methods),
        pages_by_method=full.methods,
        problems=[PageProblem(**problem) for problem in full.problems],
    )
