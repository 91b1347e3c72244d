"""What a shown result is made of. For the service login alone, once the caller's rights have been checked."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any
from uuid import UUID

from sqlalchemy import ColumnElement, and_, func, select
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm import defer

from muniment.artifacts.tables import KEY, ArtifactDiagram, ArtifactPage, ArtifactParagraph, FullText


class PartRepository:
    def __init__(self, session: AsyncSession) -> None:
        self._session = session

    async def find_text(self, text_id: UUID) -> FullText | None:
        return await self._session.scalar(select(FullText).where(FullText.id == text_id))

    async def find_page(self, page_id: UUID) -> ArtifactPage | None:
        return await self._session.scalar(select(ArtifactPage).where(ArtifactPage.id == page_id))

    async def list_pages(self, page_ids: Collection[UUID]) -> Mapping[UUID, ArtifactPage]:
        """By id, without their layouts: those are as long as the text."""
        wanted = select(ArtifactPage).where(ArtifactPage.id.in_(page_ids)).options(_WITHOUT_LAYOUT)
        return {page.id: page for page in await self._session.scalars(wanted)}

    async def list_paragraphs(
        self, full: FullText, page_number: int | None, *, offset: int, limit: int
    ) -> tuple[Sequence[ArtifactParagraph], int]:
        """In reading order."""
        of_text = _of(ArtifactParagraph, full)
        if page_number is not None:
            of_text.append(ArtifactParagraph.page_number == page_number)
        total = await self._session.scalar(select(func.count()).select_from(ArtifactParagraph).where(*of_text))
        ordered = (
            select(ArtifactParagraph)
            .where(*of_text)
            .order_by(ArtifactParagraph.page_number, ArtifactParagraph.paragraph_index)
        )
        return (await self._session.scalars(ordered.offset(offset).limit(limit))).all(), total or 0

    async def list_pages_of(self, full: FullText, numbers: Collection[int]) -> Sequence[ArtifactPage]:
        of_text = (*_of(ArtifactPage, full), ArtifactPage.page_number.in_(numbers))
        return (await self._session.scalars(select(ArtifactPage).where(*of_text).options(_WITHOUT_LAYOUT))).all()

    async def find_paragraph(self, text_id: UUID, page_number: int, index: int) -> ArtifactParagraph | None:
        same_text = [getattr(ArtifactParagraph, name) == getattr(FullText, name) for name in KEY]
        return await self._session.scalar(
            select(ArtifactParagraph)
            .join(FullText, onclause=and_(*same_text))
            .where(
                FullText.id == text_id,
                ArtifactParagraph.page_number == page_number,
                ArtifactParagraph.paragraph_index == index,
            )
        )

    async def list_diagrams(self, diagram_ids: Collection[UUID]) -> Mapping[UUID, ArtifactDiagram]:
        wanted = select(ArtifactDiagram).where(ArtifactDiagram.id.in_(diagram_ids))
        return {diagram.id: diagram for diagram in await self._session.scalars(wanted)}


_WITHOUT_LAYOUT = defer(ArtifactPage.layout)


def _of(table: type[Any], full: FullText) -> list[ColumnElement[bool]]:
    return [getattr(table, name) == getattr(full, name) for name in KEY]
