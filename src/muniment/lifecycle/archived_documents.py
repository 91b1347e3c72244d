"""List archived documents across knowledge bases: owners see their own, admins those of the organization."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import ColumnElement, Row, Select, func, select, text
from sqlalchemy.ext.asyncio import AsyncSession

from muniment.documents.names import name_key
from muniment.documents.tables import Document, Status
from muniment.knowledge_bases.tables import KnowledgeBase
from muniment.storage.db.principal import Principal

SORT_COLUMNS: dict[str, ColumnElement[Any]] = {
    "archived_at": Document.archived_at.expression,
    "name": Document.name_key.expression,
    "completed_at": Document.completed_at.expression,
    "file_size": Document.file_size.expression,
}
SORTS = tuple(f"{direction}{name}" for name in SORT_COLUMNS for direction in ("-", ""))


@dataclass(frozen=True)
class ArchivedFilter:
    """Which archived documents to list, and in which order."""

    kb_id: UUID | None = None
    search: str = ""
    since: datetime | None = None
    before: datetime | None = None
    sort: str = "-archived_at"
    offset: int = 0
    limit: int = 20

    @property
    def is_filtered(self) -> bool:
        """Whether the list is filtered by more than the knowledge base."""
        return bool(self.search or self.since or self.before)


class ArchivedRepository:
    """Queries of the archive."""

    def __init__(self, session: AsyncSession) -> None:
        self._session = session

    async def list_(
        self, caller: Principal, archived_filter: ArchivedFilter
    ) -> tuple[Sequence[Row[Document, str]], int]:
        """Return one page of documents with the names of their knowledge bases, and the total."""
        matching, total = await self._plan(caller, archived_filter)
        if archived_filter.offset >= total:
            return [], total
        page = _page_from_nearest_end(matching, archived_filter, total).subquery()
        rows = (
            select(Document, KnowledgeBase.name)
            .join(page, page.c.id == Document.id)
            .join(KnowledgeBase, KnowledgeBase.id == Document.kb_id)
            .order_by(*_order(archived_filter.sort))
        )
        return (await self._session.execute(rows)).all(), total

    async def _plan(self, caller: Principal, archived_filter: ArchivedFilter) -> tuple[Select[UUID], int]:
        """Return the query that uses the fastest index, and the number of documents it matches."""
        if archived_filter.is_filtered:
            matching = _select_matching(archived_filter, _managed_scope(caller, archived_filter.kb_id))
            return matching, await self._session.scalar(select(func.count()).select_from(matching.subquery())) or 0
        # The function determines the caller's knowledge bases once; row level security would do so for each row.
        measure = select(func.measure_archive(archived_filter.kb_id).table_valued("total", "is_most"))
        total, is_most = (await self._session.execute(measure)).one()
        scan_organization = is_most and archived_filter.kb_id is None
        scope = _organization_scope(caller) if scan_organization else _managed_scope(caller, archived_filter.kb_id)
        return _select_matching(archived_filter, scope), total


def _select_matching(archived_filter: ArchivedFilter, scope: Sequence[ColumnElement[bool]]) -> Select[UUID]:
    matching = select(Document.id).where(Document.status == Status.ARCHIVED, *scope)
    if archived_filter.search:
        matching = matching.where(Document.name_key.contains(name_key(archived_filter.search), autoescape=True))
    if archived_filter.since:
        matching = matching.where(Document.archived_at >= archived_filter.since)
    if archived_filter.before:
        matching = matching.where(Document.archived_at < archived_filter.before)
    return matching


def _managed_scope(caller: Principal, kb_id: UUID | None) -> Sequence[ColumnElement[bool]]:
    """Restrict to the caller's knowledge bases. Each condition uses an index that is in list order."""
    if kb_id is None and caller.is_admin:
        return [Document.organization_id == caller.organization_id]
    managed = Document.kb_id == func.any(text("ARRAY(SELECT app_managed_kb_ids())"))
    return [managed] if kb_id is None else [managed, Document.kb_id == kb_id]


def _organization_scope(caller: Principal) -> Sequence[ColumnElement[bool]]:
    """Scan the organization's index in list order and filter by managed knowledge base, so that nothing is sorted.

    `IS TRUE` keeps the filter a lookup per row; a join would lose the order.
    """
    managed = Document.kb_id.in_(text("SELECT app_managed_kb_ids()"))
    return [Document.organization_id == caller.organization_id, managed.is_(True)]


def _page_from_nearest_end(matching: Select[UUID], archived_filter: ArchivedFilter, total: int) -> Select[UUID]:
    """Select the ids of the page, counted from the nearer end of the list."""
    offset_from_end = max(0, total - archived_filter.offset - archived_filter.limit)
    if archived_filter.offset <= offset_from_end:
        return (
            matching.order_by(*_order(archived_filter.sort)).offset(archived_filter.offset).limit(archived_filter.limit)
        )
    on_page = min(archived_filter.limit, total - archived_filter.offset)
    return matching.order_by(*_order(_reversed(archived_filter.sort))).offset(offset_from_end).limit(on_page)


def _reversed(sort: str) -> str:
    return sort.removeprefix("-") if sort.startswith("-") else f"-{sort}"


def _order(sort: str) -> Sequence[ColumnElement[Any]]:
    columns = (SORT_COLUMNS[sort.removeprefix("-")], Document.id.expression)
    return [column.desc() if sort.startswith("-") else column.asc() for column in columns]
