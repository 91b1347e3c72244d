"""Link a document to an artifact with one statement per kind of part, whatever the number of pages. Idempotent.

Annotations are kept: each is re-anchored to its text, or marked stale if that text no longer exists.
"""

from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self
from uuid import UUID

from sqlalchemy import delete, select, text
from sqlalchemy.ext.asyncio import AsyncSession

from muniment.artifacts.tables import ArtifactDiagram, ArtifactPage, ArtifactParagraph, TextArtifact
from muniment.documents.tables import Document, Revision
from muniment.processing.readers.contract import ExtractionMethod
from muniment.processing.results.tables import DocumentParagraph
from muniment.processing.runs.repository import ClaimedRun
from muniment.storage.db.base import now


@dataclass(frozen=True)
class ParagraphPosition:
    """Position of a paragraph in the current artifact."""

    page_number: int
    paragraph_index: int
    sha256: str
    artifact_id: UUID

    @property
    def position(self) -> tuple[int, int]:
        return self.page_number, self.paragraph_index


@dataclass(frozen=True)
class AnnotatedParagraph:
    """An annotated paragraph, identified by the hash of the text it was written about."""

    page_number: int
    paragraph_index: int
    sha256: str

    @property
    def position(self) -> tuple[int, int]:
        return self.page_number, self.paragraph_index


@dataclass(frozen=True)
class AnchorResult:
    paragraph: AnnotatedParagraph
    position: ParagraphPosition | None
    """`None` if the text no longer exists; the annotation is kept and marked stale."""


class _UnclaimedParagraphs:
    """Positions of one text that no annotation has claimed, in reading order."""

    def __init__(self, paragraphs: Iterable[ParagraphPosition]) -> None:
        self._paragraphs = sorted(paragraphs, key=lambda paragraph: paragraph.position)
        self._positions = [paragraph.position for paragraph in self._paragraphs]

    def claim(self, paragraph: AnnotatedParagraph, *, only_same_position: bool) -> ParagraphPosition | None:
        """Claim the nearest position, or only the same position."""
        index = self._nearest(paragraph)
        if index is None or (only_same_position and self._positions[index] != paragraph.position):
            return None
        del self._positions[index]
        return self._paragraphs.pop(index)

    def _nearest(self, paragraph: AnnotatedParagraph) -> int | None:
        following = bisect_left(self._positions, paragraph.position)
        adjacent = [index for index in (following - 1, following) if 0 <= index < len(self._positions)]
        return min(adjacent, key=lambda index: _distance(paragraph, self._positions[index]), default=None)


def reanchor(annotated: Sequence[AnnotatedParagraph], candidates: Iterable[ParagraphPosition]) -> list[AnchorResult]:
    """Assign each annotation the paragraph with its text: at the same position if it is still there, or the nearest.

    No paragraph gets two annotations. Those whose position is unchanged come first, so that no other takes it.
    """
    by_text: dict[str, list[ParagraphPosition]] = {}
    for position in candidates:
        by_text.setdefault(position.sha256, []).append(position)
    unclaimed = {sha256: _UnclaimedParagraphs(of_text) for sha256, of_text in by_text.items()}
    found: dict[AnnotatedParagraph, ParagraphPosition | None] = dict.fromkeys(annotated)
    for only_same_position in (True, False):
        for paragraph in sorted(annotated, key=lambda paragraph: paragraph.position):
            if found[paragraph] is None and paragraph.sha256 in unclaimed:
                found[paragraph] = unclaimed[paragraph.sha256].claim(paragraph, only_same_position=only_same_position)
    return [AnchorResult(paragraph, position) for paragraph, position in found.items()]


def _distance(paragraph: AnnotatedParagraph, position: tuple[int, int]) -> tuple[int, int]:
    return abs(position[0] - paragraph.page_number), abs(position[1] - paragraph.paragraph_index)


_TEXTS, _DOCUMENTS, _REVISIONS = TextArtifact.__table__, Document.__table__, Revision.__table__


_OF_ARTIFACT = f"""
    JOIN {_TEXTS} t ON (t.content_hmac, t.algorithm_version, t.params_fingerprint)
                                = (a.content_hmac, a.algorithm_version, a.params_fingerprint)
   WHERE t.id = :text_id
"""


# Rows whose position is not in this artifact are deleted, or marked stale if they are annotated.
_SAVE = """
    WITH here AS MATERIALIZED (
        SELECT a.id, a.page_number {key} FROM {artifacts} a {of_text}
    ), forgotten AS (
        DELETE FROM {table} AS mine WHERE document_id = :document_id AND {untouched}
           AND NOT EXISTS (SELECT FROM here WHERE {same_place})
    ), marked AS (
        UPDATE {table} AS mine SET stale_at = now(), {artifact} = NULL
         WHERE document_id = :document_id AND stale_at IS NULL AND NOT ({untouched})
           AND NOT EXISTS (SELECT FROM here WHERE {same_place})
    )
    INSERT INTO {table} AS mine (document_id, organization_id, page_number {key}, {artifact})
    SELECT :document_id, :organization_id, page_number {key}, id FROM here
    ON CONFLICT (document_id, page_number {key}) DO UPDATE
       SET {artifact} = EXCLUDED.{artifact}, stale_at = NULL, updated_at = now()
     WHERE mine.{artifact} IS DISTINCT FROM EXCLUDED.{artifact}
"""


_SAVE_PAGES = text(
    _SAVE.format(
        table="document_pages",
        artifacts=ArtifactPage.__table__,
        artifact="artifact_page_id",
        key="",
        of_text=_OF_ARTIFACT,
        untouched="annotations IS NULL AND flags IS NULL",
        same_place="here.page_number = mine.page_number",
    )
)


# Most documents have no pages yet, and inserting them takes half the time without conflict handling. The fence of the
# run's transaction excludes other writers.
_FIRST_PAGES = text(f"""
    INSERT INTO document_pages (document_id, organization_id, page_number, artifact_page_id)
    SELECT :document_id, :organization_id, a.page_number, a.id FROM {ArtifactPage.__table__} a {_OF_ARTIFACT}
""")


_SAVE_DIAGRAMS = text(
    _SAVE.format(
        table="document_diagrams",
        artifacts=ArtifactDiagram.__table__,
        artifact="artifact_diagram_id",
        key=", diagram_key",
        of_text=_OF_ARTIFACT,
        untouched="annotations IS NULL",
        same_place="(here.page_number, here.diagram_key) = (mine.page_number, mine.diagram_key)",
    )
)


_PARAGRAPH_POSITIONS = text(f"""
    SELECT a.page_number, a.paragraph_index, a.paragraph_text_sha256, a.id
      FROM {ArtifactParagraph.__table__} a {_OF_ARTIFACT}
       AND a.paragraph_text_sha256 = ANY(:hashes)
""")


# The revision references the artifact too, which is kept as long as the revision can be restored.
_SAVE_METRICS = text(f"""
    WITH shown AS (
        SELECT id, total_pages, total_words FROM {_TEXTS} WHERE id = :text_id
    ), of_revision AS (
        UPDATE {_REVISIONS} SET artifact_text_id = shown.id FROM shown
         WHERE document_id = :document_id AND revision = :revision
    )
    UPDATE {_DOCUMENTS} d
       SET artifact_text_id = shown.id, total_pages = shown.total_pages, total_word_count = shown.total_words,
           text_extraction_method = :method, index_epoch = :epoch, updated_at = now()
      FROM shown WHERE d.id = :document_id
""")


_KEY = "(a.content_hmac, a.algorithm_version, a.params_fingerprint)"
_FIND_PARTS = text(f"""
    SELECT EXISTS (SELECT FROM document_pages WHERE document_id = :document_id),
           EXISTS (SELECT FROM document_paragraphs WHERE document_id = :document_id),
           EXISTS (SELECT FROM document_diagrams WHERE document_id = :document_id)
               OR EXISTS (SELECT FROM {ArtifactDiagram.__table__} a
                           WHERE {_KEY} = (t.content_hmac, t.algorithm_version, t.params_fingerprint)),
           CASE WHEN CAST(:may_have_figures AS boolean) THEN EXISTS (
               SELECT FROM {ArtifactPage.__table__} a
                WHERE {_KEY} = (t.content_hmac, t.algorithm_version, t.params_fingerprint)
                  AND jsonb_array_length(a.metrics->'figures') > 0) ELSE false END,
           t.methods
      FROM {_TEXTS} t WHERE t.id = :text_id
""")


@dataclass(frozen=True)
class Hydration:
    """A document, the artifact that it is to show, and which parts of the two exist. Most have few, and each kind that
    is missing saves a statement."""

    run: ClaimedRun
    artifact_id: UUID
    has_pages: bool
    """Whether the document has pages of an earlier result."""
    has_annotated_paragraphs: bool
    has_diagrams: bool
    """Whether the document or the artifact has diagrams already."""
    has_new_figures: bool
    """Whether the pages of the artifact have figures that may not be diagrams yet."""
    methods: Mapping[str, int] | None

    @classmethod
    async def find(
        cls, session: AsyncSession, run: ClaimedRun, artifact_id: UUID, *, may_have_figures: bool = True
    ) -> Self:
        """Find the parts. Without `may_have_figures`, the pages are not searched for them."""
        values = {"document_id": run.document_id, "text_id": artifact_id, "may_have_figures": may_have_figures}
        return cls(run, artifact_id, *(await session.execute(_FIND_PARTS, values)).one())

    @property
    def values(self) -> dict[str, Any]:
        """Parameters of the statements."""
        run = self.run
        return {"document_id": run.document_id, "organization_id": run.organization_id, "text_id": self.artifact_id}


async def save_pages(session: AsyncSession, hydration: Hydration) -> None:
    await session.execute(_SAVE_PAGES if hydration.has_pages else _FIRST_PAGES, hydration.values)


async def save_diagrams(session: AsyncSession, hydration: Hydration) -> None:
    if hydration.has_diagrams or hydration.has_new_figures:
        await session.execute(_SAVE_DIAGRAMS, hydration.values)


async def save_metrics(session: AsyncSession, hydration: Hydration) -> None:
    """Save the document's counts and its reference to the artifact."""
    run, method = hydration.run, extraction_method(hydration.methods or {})
    values = {"document_id": run.document_id, "revision": run.revision, "epoch": run.epoch}
    await session.execute(_SAVE_METRICS, {**values, "text_id": hydration.artifact_id, "method": method})


def extraction_method(pages_by_method: Mapping[str, int]) -> str:
    """Return `text`, `ocr`, `mixed`, or `none` if no page has any text."""
    used = [method for method, pages in pages_by_method.items() if pages and method != ExtractionMethod.NONE]
    if not used:
        return ExtractionMethod.NONE
    return used[0] if len(used) == 1 else "mixed"


async def save_paragraphs(session: AsyncSession, hydration: Hydration) -> None:
    """Re-anchor annotated paragraphs. Other paragraphs have no rows."""
    if not hydration.has_annotated_paragraphs:
        return
    run, artifact_id = hydration.run, hydration.artifact_id
    of_document = select(DocumentParagraph).where(DocumentParagraph.document_id == run.document_id)
    rows = {_annotated_paragraph(found): found for found in await session.scalars(of_document)}
    hashes = list({paragraph.sha256 for paragraph in rows})
    found = await session.execute(_PARAGRAPH_POSITIONS, {"text_id": artifact_id, "hashes": hashes})
    anchored = reanchor(list(rows), [ParagraphPosition(*row) for row in found])
    await session.execute(delete(DocumentParagraph).where(DocumentParagraph.document_id == run.document_id))
    for row in rows.values():
        session.expunge(row)
    stale = 0
    for item in anchored:
        stale += item.position is None
        session.add(_reanchored_row(rows[item.paragraph], item, stale))
    await session.flush()


def _annotated_paragraph(found: DocumentParagraph) -> AnnotatedParagraph:
    return AnnotatedParagraph(found.page_number, found.paragraph_index, found.paragraph_text_sha256)


def _reanchored_row(old: DocumentParagraph, anchored: AnchorResult, stale: int) -> DocumentParagraph:
    position = anchored.position
    return DocumentParagraph(
        document_id=old.document_id,
        organization_id=old.organization_id,
        page_number=position.page_number if position else old.page_number,
        # Its old index may belong to another paragraph now: stale annotations get indexes from -1 downwards.
        paragraph_index=position.paragraph_index if position else -stale,
        artifact_paragraph_id=position.artifact_id if position else None,
        paragraph_text_sha256=old.paragraph_text_sha256,
        annotations=old.annotations,
        stale_at=None if position else old.stale_at or now(),
        created_at=old.created_at,
        updated_at=old.updated_at,
    )
