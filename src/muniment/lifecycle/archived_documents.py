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
SORTS = tuple(f"{way}{name}" for name in SORT_COLUMNS for way in ("-", ""))


@dataclass(frozen=True)
class WantedArchived:
    kb_id: UUID | None = None
    search: str = ""
    since: datetime | None = None
    before: datetime | None = None
    sort: str = "-archived_at"
    offset: int = 0
    limit: int = 20

    @property
    def is_filtered(self) -> bool:
        """By more than the knowledge base."""
        return bool(self.search or self.since or self.before)


ArchivedDocument = tuple[Document, str]
"""With the name of its knowledge base."""


class ArchivedRepository:
    def __init__(self, session: AsyncSession) -> None:
        self._session = session

    async def list_(self, caller: Principal, wanted: WantedArchived) -> tuple[Sequence[Row[Document, str]], int]:
        matching, total = await self._measured(caller, wanted)
        if wanted.offset >= total:
            return [], total
        page = _nearer_end(matching, wanted, total).subquery()
        rows = (
            select(Document, KnowledgeBase.name)
            .join(page, page.c.id == Document.id)
            .join(KnowledgeBase, KnowledgeBase.id == Document.kb_id)
            .order_by(*_order(wanted.sort))
        )
        return (await self._session.execute(rows)).all(), total

    async def _measured(self, caller: Principal, wanted: WantedArchived) -> tuple[Select[UUID], int]:
        """What is wanted, along the index that leads there fastest, and how much it is."""
        if wanted.is_filtered:
            matching = _matching(wanted, _managed(caller, wanted.kb_id))
            return matching, await self._session.scalar(select(func.count()).select_from(matching.subquery())) or 0
        # The function has looked once which knowledge bases are the caller's; row level security would for each row.
        measured = select(func.measure_archive(wanted.kb_id).table_valued("total", "is_most"))
        total, is_most = (await self._session.execute(measured)).one()
        along_all = is_most and wanted.kb_id is None
        return _matching(wanted, _of_most(caller) if along_all else _managed(caller, wanted.kb_id)), total


def _matching(wanted: WantedArchived, scope: Sequence[ColumnElement[bool]]) -> Select[UUID]:
    matching = select(Document.id).where(Document.status == Status.ARCHIVED, *scope)
    if wanted.search:
        matching = matching.where(Document.name_key.contains(name_key(wanted.search), autoescape=True))
    if wanted.since:
        matching = matching.where(Document.archived_at >= wanted.since)
    if wanted.before:
        matching = matching.where(Document.archived_at < wanted.before)
    return matching


def _managed(caller: Principal, kb_id: UUID | None) -> Sequence[ColumnElement[bool]]:
    """Each leads to an index in the order of the list."""
    if kb_id is None and caller.is_admin:
        return [Document.organization_id == caller.organization_id]
    managed = Document.kb_id == func.any(text("ARRAY(SELECT app_managed_kb_ids())"))
    return [managed] if kb_id is None else [managed, Document.kb_id == kb_id]


def _of_most(caller: Principal) -> Sequence[ColumnElement[bool]]:
    """Along the organization's index, what is not the caller's passed over: nothing to sort. `IS TRUE` keeps it a
    look-up for each row; a join would lose the order."""
    managed = Document.kb_id.in_(text("SELECT app_managed_kb_ids()"))
    return [Document.organization_id == caller.organization_id, managed.is_(True)]


def _nearer_end(matching: Select[UUID], wanted: WantedArchived, total: int) -> Select[UUID]:
    """The ids of the page, counted from that end of the list to which it is nearer."""
    behind = max(0, total - wanted.offset - wanted.limit)
    if wanted.offset <= behind:
        return matching.order_by(*_order(wanted.sort)).offset(wanted.offset).limit(wanted.limit)
    on_page = min(wanted.limit, total - wanted.offset)
    return matching.order_by(*_order(_turned(wanted.sort))).offset(behind).limit(on_page)


def _turned(sort: str) -> str:
    return sort.removeprefix("-") if sort.startswith("-") else f"-{sort}"


def _order(sort: str) -> Sequence[ColumnElement[Any]]:
    columns = (SORT_COLUMNS[sort.removeprefix("-")], Document.id.expression)
    return [column.desc() if sort.startswith("-") else column.asc() for column in columns]
