"""Every query of the garbage collection (specs/artifacts.md §9). Whatever refers to an artifact keeps it."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple
from uuid import UUID

from sqlalchemy import ColumnElement, case, delete, func, select, update
from sqlalchemy.ext.asyncio import AsyncSession

from muniment.artifacts.packs import key_of
from muniment.artifacts.tables import FullText


@dataclass(frozen=True)
class Unused:
    """An artifact without a reference, the object that holds its text, and since when we know."""

    text_id: UUID
    pack: str
    marked_at: datetime | None


class Marks(NamedTuple):
    """How many were found without a reference for the first time, and how many are referred to again."""

    made: int
    taken_back: int


class UnusedArtifactRepository:
    def __init__(self, session: AsyncSession) -> None:
        self._session = session

    async def list_ids(self, organization_id: UUID | None, *, after: UUID | None, limit: int) -> Sequence[UUID]:
        """The next ones of this organization, or of those that all share."""
        owned = select(FullText.id).where(FullText.organization_id.is_not_distinct_from(organization_id))
        behind = owned.where(FullText.id > after) if after else owned
        return (await self._session.scalars(behind.order_by(FullText.id).limit(limit))).all()

    async def list_ids_of(self, content_key: str) -> Sequence[UUID]:
        """Whatever was read from these bytes, in whichever way."""
        of_content = select(FullText.id).where(FullText.content_hmac == content_key)
        return (await self._session.scalars(of_content.order_by(FullText.id))).all()

    async def list_unused(self, ids: Sequence[UUID]) -> Sequence[Unused]:
        """Those of them that nothing refers to."""
        columns = (FullText.id, FullText.full_text_uri, FullText.unreferenced_at)
        found = await self._session.execute(
            select(*columns).where(FullText.id.in_(ids), ~_is_used()).order_by(FullText.id)
        )
        return [Unused(text_id, key_of(uri), marked_at) for text_id, uri, marked_at in found]

    async def correct_marks(self, ids: Sequence[UUID], at: datetime) -> Marks:
        """Mark what nothing refers to, take back the marks of what is referred to again; others keep their time."""
        # Takes no lock that a finder would wait for: the mark is no part of a key.
        changed = await self._session.scalars(
            update(FullText)
            .where(FullText.id.in_(ids), _is_used() == FullText.unreferenced_at.is_not(None))
            .values(unreferenced_at=case((FullText.unreferenced_at.is_(None), at)))
            .returning(FullText.unreferenced_at)
            .execution_options(synchronize_session=False)
        )
        marks = changed.all()
        return Marks(made=sum(mark is not None for mark in marks), taken_back=marks.count(None))

    async def take(self, text_id: UUID) -> str | None:
        """Remove it with all its parts if nothing refers to it: the key of its pack, which is to be erased after.

        Held first, and asked about in a second statement: whoever found it a moment ago (`ArtifactRepository.find`)
        or is referring to it has ended by then, and what they wrote is seen. Nobody can find it from here on: they
        wait for our end and find nothing. So no foreign key is ever hurt.
        """
        await self._session.execute(select(FullText.id).where(FullText.id == text_id).with_for_update())
        uri = await self._session.scalar(
            delete(FullText)
            .where(FullText.id == text_id, ~_is_used())
            .returning(FullText.full_text_uri)
            .execution_options(synchronize_session=False)
        )
        return key_of(uri) if uri else None

    async def take_all(self, content_keys: Sequence[str]) -> tuple[dict[str, list[str]], set[str]]:
        """The same for whatever was read from these contents: the packs by content, and the contents of which something
        is kept."""
        of_contents = select(FullText.id).where(FullText.content_hmac.in_(content_keys))
        # In one order: of two that take the same at once, one waits for the other and never each for each.
        held = (await self._session.scalars(of_contents.order_by(FullText.id).with_for_update())).all()
        gone = await self._session.execute(
            delete(FullText)
            .where(FullText.id.in_(held), ~_is_used())
            .returning(FullText.content_hmac, FullText.full_text_uri)
            .execution_options(synchronize_session=False)
        )
        packs: dict[str, list[str]] = {}
        for content_key, uri in gone:
            packs.setdefault(content_key, []).append(key_of(uri))
        kept = select(FullText.content_hmac).where(FullText.content_hmac.in_(content_keys))
        return packs, set(await self._session.scalars(kept))


def _is_used() -> ColumnElement[bool]:
    """With the eyes of all organizations, where they share."""
    used: ColumnElement[bool] = func.app_artifact_is_used(FullText.id)
    return used
