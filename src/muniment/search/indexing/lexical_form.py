"""The lexical form of an index: the terms of its passages as PostgreSQL stores them, and the words of the whole text.

It has its own version. A newer one is made from the stored passages by a job; chunks and vectors stay as they are.
"""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession

from muniment.search.analysis.analyzer import ANALYSIS_VERSION, Token, analyze, count_positions
from muniment.search.lexemes import MAX_CORRECTED_LETTERS, MIN_CORRECTED_LETTERS, quote_lexeme

BATCH_ROWS = 500
_WORD = re.compile(rf"[^\W\d_]{{{MIN_CORRECTED_LETTERS - 1},{MAX_CORRECTED_LETTERS}}}")


@dataclass(frozen=True)
class PassageTerms:
    """The terms of one passage as a `tsvector` literal, and their number."""

    length: int
    literal: str


@dataclass(frozen=True)
class LexicalForm:
    """What search by keywords needs of the passages of one index, in their order."""

    language: str
    passages: Sequence[PassageTerms]
    vocabulary: str
    """The distinct words in which a typing error can be corrected, between spaces."""
    version: int = ANALYSIS_VERSION

    @property
    def total_length(self) -> int:
        return sum(passage.length for passage in self.passages)


def make_lexical_form(texts: Iterable[str], language: str) -> LexicalForm:
    """Analyze the passages of a text. It takes a second per megabyte: call it in a thread."""
    passages: list[PassageTerms] = []
    words: set[str] = set()
    for passage in texts:
        tokens = analyze(passage, language)
        passages.append(PassageTerms(count_positions(tokens), tsvector_literal(tokens)))
        words.update(match.group().lower() for match in _WORD.finditer(passage))
    return LexicalForm(language, passages, f" {' '.join(sorted(words))} " if words else "")


def tsvector_literal(tokens: Iterable[Token]) -> str:
    """Format terms with their positions as PostgreSQL reads them."""
    positions: dict[str, set[int]] = {}
    for token in tokens:
        positions.setdefault(token.term.replace("\0", " "), set()).add(token.position)
    return " ".join(f"{quote_lexeme(term)}:{','.join(map(str, sorted(at)))}" for term, at in positions.items())


_DELETE = text(
    "DELETE FROM artifact_lexicons WHERE artifact_text_id = :artifact_text_id AND fingerprint = :fingerprint"
)
_ADD_LEXICON = text("""
    INSERT INTO artifact_lexicons (artifact_text_id, fingerprint, organization_id, analysis_version, language,
                                   total_length, vocabulary)
    VALUES (:artifact_text_id, :fingerprint, :organization_id, :version, :language, :total_length, :vocabulary)
""")
# Rows are passed as one JSON parameter: a few statements, whatever the number of passages.
_ADD_TERMS = text("""
    INSERT INTO artifact_terms (artifact_text_id, fingerprint, chunk_index, organization_id, language, length, tsv)
    SELECT :artifact_text_id, :fingerprint, chunk_index, :organization_id, :language, length, CAST(tsv AS tsvector)
      FROM jsonb_to_recordset(CAST(:rows AS jsonb)) AS passage (chunk_index integer, length integer, tsv text)
""")

# The lock makes a purge wait for the new form, or this statement find nothing. Small texts go first.
_NEXT_OUTDATED = text("""
    SELECT i.artifact_text_id, i.fingerprint, i.organization_id, i.language
      FROM artifact_indexes i LEFT JOIN artifact_lexicons x ON x.artifact_text_id = i.artifact_text_id
                                                           AND x.fingerprint = i.fingerprint
     WHERE x.analysis_version IS NULL OR x.analysis_version < :version
     ORDER BY i.total_chunks, i.artifact_text_id LIMIT 1 FOR NO KEY UPDATE OF i SKIP LOCKED
""")
_TEXTS = text("""
    SELECT text FROM artifact_chunks WHERE artifact_text_id = :artifact_text_id AND fingerprint = :fingerprint
     ORDER BY chunk_index
""")


@dataclass(frozen=True)
class OutdatedIndex:
    """An index without a lexical form of the present version."""

    artifact_text_id: UUID
    fingerprint: str
    organization_id: UUID | None
    language: str

    @property
    def key(self) -> Mapping[str, Any]:
        return {
            "artifact_text_id": self.artifact_text_id,
            "fingerprint": self.fingerprint,
            "organization_id": self.organization_id,
        }


class LexicalFormRepository:
    def __init__(self, session: AsyncSession) -> None:
        self._session = session

    async def add(self, key: Mapping[str, Any], form: LexicalForm) -> None:
        """Store the lexical form of an index that has none."""
        of_form = {"version": form.version, "language": form.language, "vocabulary": form.vocabulary}
        await self._session.execute(_ADD_LEXICON, {**key, **of_form, "total_length": form.total_length})
        for start in range(0, len(form.passages), BATCH_ROWS):
            batch = enumerate(form.passages[start : start + BATCH_ROWS], start)
            rows = [{"chunk_index": index, "length": one.length, "tsv": one.literal} for index, one in batch]
            given = {"language": form.language, "rows": json.dumps(rows, ensure_ascii=False)}
            await self._session.execute(_ADD_TERMS, {**key, **given})

    async def replace(self, key: Mapping[str, Any], form: LexicalForm) -> None:
        """Store the lexical form of an index in place of an older one."""
        await self._session.execute(_DELETE, key)
        await self.add(key, form)

    async def lock_outdated(self) -> OutdatedIndex | None:
        """Return an index whose lexical form is missing or of an older version, locked until the transaction ends."""
        row = (await self._session.execute(_NEXT_OUTDATED, {"version": ANALYSIS_VERSION})).one_or_none()
        return OutdatedIndex(*row) if row else None

    async def list_texts(self, index: OutdatedIndex) -> Sequence[str]:
        """Return the passages of an index in their order."""
        return list(await self._session.scalars(_TEXTS, index.key))
