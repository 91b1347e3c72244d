"""Every query of artifacts: find, insert once, pages, paragraphs and diagrams.

Artifacts are inserted once and never overwritten. A second writer gets what the first one stored.
"""

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any
from uuid import UUID

from sqlalchemy import ColumnElement, Select, and_, bindparam, func, select, text
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm import defer

from muniment.artifacts.keys import ReadingVariant
from muniment.artifacts.tables import KEY_COLUMNS, ArtifactDiagram, ArtifactPage, ArtifactParagraph, TextArtifact

BATCH_ROWS = 1000


BATCH_CHARACTERS = 8_000_000


@dataclass(frozen=True)
class ArtifactKey:
    """Identity of an artifact: content, variant and organization (`None` if all organizations share it)."""

    organization_id: UUID | None
    content_key: str
    variant: ReadingVariant

    @property
    def columns(self) -> dict[str, Any]:
        return {
            "organization_id": self.organization_id,
            "content_hmac": self.content_key,
            "algorithm_version": self.variant.algorithm_version,
            "params_fingerprint": self.variant.params_fingerprint,
        }


@dataclass(frozen=True)
class NewArtifact:
    """An artifact to be stored: its columns, and the rows of its parts as one JSON object each."""

    columns: Mapping[str, Any]
    pages: Sequence[str]
    paragraphs: Sequence[str]


_PAGES = {
    "page_number": "integer",
    "page_text_uri": "text",
    "page_text_sha256": "text",
    "layout": "jsonb",
    "metrics": "jsonb",
}


_PARAGRAPHS = {
    "page_number": "integer",
    "paragraph_index": "integer",
    "paragraph_text_uri": "text",
    "paragraph_text_sha256": "text",
    "features": "jsonb",
}


_INSERT_PARTS = """
    INSERT INTO {table} (organization_id, content_hmac, algorithm_version, params_fingerprint, {columns})
    SELECT :organization_id, :content_hmac, :algorithm_version, :params_fingerprint, {columns}
      FROM jsonb_to_recordset(CAST(:{table} AS jsonb)) AS part ({types}) ON CONFLICT DO NOTHING
"""


def _insert_parts(table: str, columns: Mapping[str, str]) -> str:
    types = ", ".join(f"{name} {kind}" for name, kind in columns.items())
    return _INSERT_PARTS.format(table=table, columns=", ".join(columns), types=types)


# The rows of each kind come as one JSON parameter: one statement for a small document, a few for any number of pages.
_ADD_PARTS = text(
    f"WITH pages AS ({_insert_parts('artifact_pages', _PAGES)}) {_insert_parts('artifact_paragraphs', _PARAGRAPHS)}"
)


# Each figure of a page becomes a row.
_ADD_DIAGRAMS = text("""
    INSERT INTO artifact_diagrams
        (organization_id, content_hmac, algorithm_version, params_fingerprint, page_number, diagram_key, diagram_meta)
    SELECT p.organization_id, p.content_hmac, p.algorithm_version, p.params_fingerprint, p.page_number,
           figure->>'key', figure - 'key'
      FROM artifacts_full_text t
      JOIN artifact_pages p ON (p.content_hmac, p.algorithm_version, p.params_fingerprint)
                             = (t.content_hmac, t.algorithm_version, t.params_fingerprint),
           jsonb_array_elements(p.metrics->'figures') AS figure
     WHERE t.id = :text_id
    ON CONFLICT DO NOTHING
""")


def _locked(statement: Select[TextArtifact]) -> Select[TextArtifact]:
    return statement.with_for_update(read=True, key_share=True)


# Built once, because every run executes it.
_FIND = _locked(select(TextArtifact).where(*(getattr(TextArtifact, name) == bindparam(name) for name in KEY_COLUMNS)))


_GET = select(TextArtifact).where(TextArtifact.id == bindparam("text_id"))


_ADD = insert(TextArtifact).on_conflict_do_nothing().returning(TextArtifact)


class ArtifactRepository:
    def __init__(self, session: AsyncSession) -> None:
        self._session = session

    async def find(self, key: ArtifactKey) -> TextArtifact | None:
        """Find the artifact and lock it until the transaction ends, so that it cannot be collected as garbage."""
        return await self._session.scalar(_FIND, {name: key.columns[name] for name in KEY_COLUMNS})

    async def find_newest(self, content_key: str, algorithm_version: int) -> TextArtifact | None:
        """Return the newest artifact of an older version, whatever its parameters were."""
        of_version = select(TextArtifact).filter_by(content_hmac=content_key, algorithm_version=algorithm_version)
        return await self._session.scalar(_locked(of_version.order_by(TextArtifact.created_at.desc()).limit(1)))

    async def get(self, artifact_id: UUID) -> TextArtifact:
        return (await self._session.scalars(_GET, {"text_id": artifact_id})).one()

    async def add_once(self, key: ArtifactKey, new: NewArtifact) -> tuple[TextArtifact, bool]:
        """Store the artifact, or find the one stored in the meantime. Return it and whether it is the new one."""
        while (added := await self._insert(key, new)) is None:
            if kept := await self.find(key):
                return kept, False
            # The other artifact was garbage-collected between the two statements.
        return added, True

    async def _insert(self, key: ArtifactKey, new: NewArtifact) -> TextArtifact | None:
        added = await self._session.scalar(_ADD, {**key.columns, **new.columns})
        if added is not None:
            for pages, paragraphs in zip_longest(_batches(new.pages), _batches(new.paragraphs), fillvalue=()):
                parts = {"artifact_pages": _json_list(pages), "artifact_paragraphs": _json_list(paragraphs)}
                await self._session.execute(_ADD_PARTS, {**key.columns, **parts})
        return added

    async def add_missing_diagrams(self, text_id: UUID) -> None:
        """Insert the rows of diagrams found on the pages that do not exist yet."""
        await self._session.execute(_ADD_DIAGRAMS, {"text_id": text_id})

    async def list_paragraphs(self, artifact: TextArtifact, page_numbers: Sequence[int]) -> Sequence[ArtifactParagraph]:
        """Return the paragraphs of these pages in reading order."""
        found = _select_parts(ArtifactParagraph, artifact).where(ArtifactParagraph.page_number.in_(page_numbers))
        ordered = found.order_by(ArtifactParagraph.page_number, ArtifactParagraph.paragraph_index)
        return (await self._session.scalars(ordered)).all()


def _json_list(rows: Sequence[str]) -> str:
    return "[" + ",".join(rows) + "]"


def _batches(rows: Sequence[str]) -> Iterator[Sequence[str]]:
    """Split rows into batches by number and size: PostgreSQL accepts JSON up to 256 MB."""
    batch: list[str] = []
    size = 0
    for each in rows:
        if batch and (len(batch) == BATCH_ROWS or size + len(each) > BATCH_CHARACTERS):
            yield batch
            batch, size = [], 0
        batch.append(each)
        size += len(each)
    if batch:
        yield batch


def _select_parts(table: type[Any], artifact: TextArtifact) -> Any:
    return select(table).filter_by(**{name: getattr(artifact, name) for name in KEY_COLUMNS})


def part_as_json(**columns: Any) -> str:
    """Serialize one row of a part as JSON."""
    return json.dumps(columns, ensure_ascii=False, separators=(",", ":"))


class ArtifactPartRepository:
    def __init__(self, session: AsyncSession) -> None:
        self._session = session

    async def find_artifact(self, text_id: UUID) -> TextArtifact | None:
        return await self._session.scalar(select(TextArtifact).where(TextArtifact.id == text_id))

    async def find_page(self, page_id: UUID) -> ArtifactPage | None:
        return await self._session.scalar(select(ArtifactPage).where(ArtifactPage.id == page_id))

    async def list_pages(self, page_ids: Collection[UUID]) -> Mapping[UUID, ArtifactPage]:
        """Return pages by id, without their layouts, which are as long as the text."""
        pages = select(ArtifactPage).where(ArtifactPage.id.in_(page_ids)).options(_WITHOUT_LAYOUT)
        return {page.id: page for page in await self._session.scalars(pages)}

    async def list_paragraphs(
        self, artifact: TextArtifact, page_number: int | None, *, offset: int, limit: int
    ) -> tuple[Sequence[ArtifactParagraph], int]:
        """Return paragraphs in reading order."""
        of_text = _belongs_to(ArtifactParagraph, artifact)
        if page_number is not None:
            of_text.append(ArtifactParagraph.page_number == page_number)
        total = await self._session.scalar(select(func.count()).select_from(ArtifactParagraph).where(*of_text))
        ordered = (
            select(ArtifactParagraph)
            .where(*of_text)
            .order_by(ArtifactParagraph.page_number, ArtifactParagraph.paragraph_index)
        )
        return (await self._session.scalars(ordered.offset(offset).limit(limit))).all(), total or 0

    async def list_pages_by_number(
        self, artifact: TextArtifact, page_numbers: Collection[int]
    ) -> Sequence[ArtifactPage]:
        of_text = (*_belongs_to(ArtifactPage, artifact), ArtifactPage.page_number.in_(page_numbers))
        return (await self._session.scalars(select(ArtifactPage).where(*of_text).options(_WITHOUT_LAYOUT))).all()

    async def find_paragraph(self, text_id: UUID, page_number: int, index: int) -> ArtifactParagraph | None:
        same_text = [getattr(ArtifactParagraph, name) == getattr(TextArtifact, name) for name in KEY_COLUMNS]
        return await self._session.scalar(
            select(ArtifactParagraph)
            .join(TextArtifact, onclause=and_(*same_text))
            .where(
                TextArtifact.id == text_id,
                ArtifactParagraph.page_number == page_number,
                ArtifactParagraph.paragraph_index == index,
            )
        )

    async def list_diagrams(self, diagram_ids: Collection[UUID]) -> Mapping[UUID, ArtifactDiagram]:
        diagrams = select(ArtifactDiagram).where(ArtifactDiagram.id.in_(diagram_ids))
        return {diagram.id: diagram for diagram in await self._session.scalars(diagrams)}


_WITHOUT_LAYOUT = defer(ArtifactPage.layout)


def _belongs_to(table: type[Any], artifact: TextArtifact) -> list[ColumnElement[bool]]:
    return [getattr(table, name) == getattr(artifact, name) for name in KEY_COLUMNS]
