"""Saved searches of the caller. Row level security hides those of everybody else."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from sqlalchemy import delete, func, select, text
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncSession

from muniment.errors import Conflict, NotFound
from muniment.search.saved.tables import SavedView, ViewKind
from muniment.storage.db.principal import Principal

MAX_SAVED_SEARCHES = 100
"""Per user."""


class SavedSearchNotFound(NotFound):
    """Saved search not found"""


class SavedSearchNameTaken(Conflict):
    """You already have a saved search with this name"""


class TooManySavedSearches(Conflict):
    """You have 100 saved searches. Delete one first"""


# Two requests of one user would otherwise both count 99.
_LOCK_USER = text("SELECT pg_advisory_xact_lock(hashtextextended('saved_views:' || CAST(:user_id AS text), 0))")


class SavedSearchRepository:
    def __init__(self, session: AsyncSession) -> None:
        self._session = session

    async def list_(self) -> Sequence[SavedView]:
        """Return all saved searches by name."""
        searches = select(SavedView).where(SavedView.kind == ViewKind.SEARCH)
        return (await self._session.scalars(searches.order_by(func.lower(SavedView.name), SavedView.name))).all()

    async def add(self, principal: Principal, name: str, parameters: dict[str, Any]) -> SavedView:
        """Save a search; raise `SavedSearchNameTaken` or `TooManySavedSearches`."""
        await self._session.execute(_LOCK_USER, {"user_id": str(principal.user_id)})
        count = select(func.count(SavedView.id)).where(SavedView.kind == ViewKind.SEARCH)
        if (await self._session.scalar(count) or 0) >= MAX_SAVED_SEARCHES:
            raise TooManySavedSearches
        view = SavedView(
            organization_id=principal.organization_id,
            user_id=principal.user_id,
            kind=ViewKind.SEARCH,
            name=name,
            parameters=parameters,
        )
        self._session.add(view)
        await self._flush(view)
        return view

    async def change(self, view_id: UUID, *, name: str | None, parameters: dict[str, Any] | None) -> SavedView:
        """Rename a saved search, or replace its parameters."""
        view = await self._session.scalar(
            select(SavedView).where(SavedView.id == view_id, SavedView.kind == ViewKind.SEARCH)
        )
        if view is None:
            raise SavedSearchNotFound
        view.name = view.name if name is None else name
        view.parameters = view.parameters if parameters is None else parameters
        await self._flush(view)
        return view

    async def remove(self, view_id: UUID) -> None:
        removed = delete(SavedView).where(SavedView.id == view_id, SavedView.kind == ViewKind.SEARCH)
        if await self._session.scalar(removed.returning(SavedView.id)) is None:
            raise SavedSearchNotFound

    async def _flush(self, view: SavedView) -> None:
        try:
            await self._session.flush()
        except IntegrityError as error:
            if "uq_saved_views_user_id_kind_name" not in str(error.orig):
                raise
            raise SavedSearchNameTaken from None
        await self._session.refresh(view)
