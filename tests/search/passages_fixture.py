"""Documents with hand-made passages, without reader and model. Everything is written as the superuser."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from muniment.search.indexing.lexical_form import make_lexical_form
from muniment.storage.db.base import new_id
from muniment.storage.vectors.port import IndexedDocument, IndexingVariant, Point
from tests.support.seed import Person, Seed

MODEL = IndexingVariant(model="all-MiniLM-L6-v2-int8", dimensions=384, fingerprint="variant of the tests")
TOPICS = ("invoice", "contract", "dog", "garden", "sea")
"""One dimension each, so that a test can define what is similar."""


def vector(**weights: float) -> list[float]:
    """Return a unit vector by topics: `vector(dog=1, sea=0.5)`."""
    values = [weights.get(topic, 0.0) for topic in TOPICS]
    length = sum(value * value for value in values) ** 0.5 or 1.0
    return [value / length for value in values] + [0.0] * (MODEL.dimensions - len(TOPICS))


@dataclass(frozen=True)
class Passage:
    text: str
    near: Mapping[str, float] = field(default_factory=lambda: {"invoice": 1.0})
    page: int = 1
    start: int = 0

    @property
    def vector(self) -> list[float]:
        return vector(**self.near)


@dataclass
class FakeEmbedder:
    """Fake model: the topic words of a text determine its vector. Counts its calls."""

    model: str = MODEL.model
    dimensions: int = MODEL.dimensions
    asked: list[str] = field(default_factory=list)
    error: Exception | None = None

    async def embed_query(self, text: str) -> list[float]:
        self.asked.append(text)
        if self.error:
            raise self.error
        return vector(**{topic: 1.0 for topic in TOPICS if topic in text.casefold()})

    async def close(self) -> None:
        pass


class PassagesFixture:
    """Fills a database with findable documents."""

    def __init__(self, seed: Seed) -> None:
        self.seed = seed
        self.variant(MODEL, is_active=True)

    def variant(self, model: IndexingVariant, *, is_active: bool) -> None:
        self.seed.insert(
            "indexing_variants",
            fingerprint=model.fingerprint,
            model=model.model,
            dimensions=model.dimensions,
            is_active=is_active,
        )

    def add(
        self,
        kb_id: UUID,
        owner: Person,
        passages: Sequence[Passage],
        *,
        name: str | None = None,
        language: str = "english",
        **columns: Any,
    ) -> UUID:
        """Add a document, completed by default, whose index holds these passages."""
        text_id = self.text(owner.organization_id, passages, language=language)
        name = name or f"{text_id}.pdf"
        return self.seed.document(kb_id, owner, name=name, artifact_text_id=text_id, **columns)

    def text(self, organization_id: UUID, passages: Sequence[Passage], *, language: str = "english") -> UUID:
        """Add an artifact with its index, which several documents may show."""
        text_id = new_id()
        key: dict[str, Any] = {
            "organization_id": organization_id,
            "content_hmac": f"0:{text_id}",
            "algorithm_version": 1,
            "params_fingerprint": "of the tests",
        }
        read = {"full_text_uri": f"artifacts/{text_id}", "full_text_sha256": "0", "total_pages": 1, "total_words": 1}
        self.seed.insert("artifacts_full_text", id=text_id, **key, **read, methods={"text": 1})
        self.index(text_id, organization_id, passages, language=language)
        return text_id

    def index(
        self,
        text_id: UUID,
        organization_id: UUID,
        passages: Sequence[Passage],
        *,
        language: str = "english",
        model: IndexingVariant = MODEL,
    ) -> None:
        of_index = {"artifact_text_id": text_id, "fingerprint": model.fingerprint, "organization_id": organization_id}
        self.seed.insert("artifact_indexes", **of_index, language=language, total_chunks=len(passages))
        self.terms(text_id, organization_id, [passage.text for passage in passages], language=language, model=model)
        for number, passage in enumerate(passages):
            self.seed.execute(
                """INSERT INTO artifact_chunks (organization_id, artifact_text_id, fingerprint, model, page_number,
                       chunk_index, start_char, end_char, text, embedding)
                   VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s, %s::halfvec)""",
                *(organization_id, text_id, model.fingerprint, model.model, passage.page, number, passage.start),
                *(passage.start + len(passage.text), passage.text),
                str(passage.vector[: model.dimensions]),
            )

    def terms(
        self,
        text_id: UUID,
        organization_id: UUID,
        texts: Sequence[str],
        *,
        language: str = "english",
        model: IndexingVariant = MODEL,
    ) -> None:
        """Add the lexical form of an index."""
        form = make_lexical_form(texts, language)
        key = {"artifact_text_id": text_id, "fingerprint": model.fingerprint, "organization_id": organization_id}
        self.seed.insert(
            "artifact_lexicons",
            **key,
            analysis_version=form.version,
            language=language,
            total_length=form.total_length,
            vocabulary=form.vocabulary,
        )
        for number, passage in enumerate(form.passages):
            self.seed.insert(
                "artifact_terms",
                **key,
                chunk_index=number,
                language=language,
                length=passage.length,
                tsv=passage.literal,
            )

    def old_form(self, document_id: UUID) -> None:
        """Turn the index of a document into one that a worker of the previous version has written."""
        text_id = self.seed.one("SELECT artifact_text_id FROM documents WHERE id = %s", document_id)
        self.seed.execute(
            """UPDATE artifact_chunks c SET language = x.language::regconfig,
                      tsv = to_tsvector(x.language::regconfig, c.text)
                 FROM artifact_lexicons x WHERE c.artifact_text_id = %s AND x.artifact_text_id = c.artifact_text_id""",
            text_id,
        )
        self.seed.execute("DELETE FROM artifact_lexicons WHERE artifact_text_id = %s", text_id)

    def layout(self, document_id: UUID, page: int, text: str) -> None:
        """Add boxes for the words of this page on one line: ten points wide per character."""
        text_id = self.seed.one("SELECT artifact_text_id FROM documents WHERE id = %s", document_id)
        ((organization_id, key),) = self.seed.rows(
            "SELECT organization_id, content_hmac FROM artifacts_full_text WHERE id = %s", text_id
        )
        words, start = [], 0
        for word in text.split():
            start = text.index(word, start)
            end = start + len(word)
            words.append([start, end, start * 10.0, 100.0 * page, end * 10.0, 100.0 * page + 12])
            start = end
        self.seed.insert(
            "artifact_pages",
            organization_id=organization_id,
            content_hmac=key,
            algorithm_version=1,
            params_fingerprint="of the tests",
            page_number=page,
            page_text_uri="artifacts/x#bytes=0-1",
            page_text_sha256="0",
            layout={"width": 595.0, "height": 842.0, "rotation": 0, "words": words},
        )

    def crowd(self, kb_id: UUID, owner: Person, *, documents: int, chunks: int) -> None:
        """Add many documents with many chunks, each with a random vector and a few words."""
        self.seed.execute(
            """WITH given AS (
                   SELECT %s::uuid AS organization_id, %s::uuid AS kb_id, %s::uuid AS owner_id, %s AS fingerprint
               ), texts AS (
                   INSERT INTO artifacts_full_text (id, organization_id, content_hmac, algorithm_version,
                       params_fingerprint, full_text_uri, full_text_sha256, total_pages, total_words, methods)
                   SELECT gen_random_uuid(), organization_id, '0:' || gen_random_uuid(), 1, 'crowd', 'artifacts/x', '0',
                          1, 1, '{}' FROM given, generate_series(1, %s) RETURNING id, content_hmac
               ), indexes AS (
                   INSERT INTO artifact_indexes (artifact_text_id, fingerprint, organization_id, language, total_chunks)
                   SELECT id, fingerprint, organization_id, 'english', %s FROM given, texts RETURNING *
               ), shown AS (
                   INSERT INTO documents (id, organization_id, knowledge_base_id, name, name_key, document_type, status,
                       epoch, revision, media_type, original_uri, file_size, sha256, content_hmac, uploaded_by,
                       artifact_text_id)
                   SELECT gen_random_uuid(), organization_id, kb_id, id::text, id::text, 'other', 'completed', 1, 1,
                          'application/pdf', kb_id || '/' || id || '/1/original', 1, '0', content_hmac, owner_id, id
                     FROM given, texts
               ), lexicons AS (
                   INSERT INTO artifact_lexicons (artifact_text_id, fingerprint, organization_id, analysis_version,
                       language, total_length, vocabulary)
                   SELECT artifact_text_id, fingerprint, organization_id, 1, 'english', 2 * total_chunks, ' common '
                     FROM indexes
               ), chunks AS (
                   INSERT INTO artifact_chunks (organization_id, artifact_text_id, fingerprint, model, page_number,
                       chunk_index, start_char, end_char, text, embedding)
                   SELECT organization_id, artifact_text_id, fingerprint, %s, 1, number, 0, 10, words, embedding
                     FROM indexes, generate_series(0, total_chunks - 1) AS number,
                      LATERAL (
                          SELECT 'common rare' || abs(hashtext(artifact_text_id::text || number)) %% 5000 AS words
                      ),
                      LATERAL (SELECT array_agg(random() - 0.5 + 0 * i)::real[]::halfvec AS embedding
                                 FROM generate_series(1, %s) AS i WHERE (artifact_text_id, number) IS NOT NULL)
                   RETURNING *
               )
               INSERT INTO artifact_terms (artifact_text_id, fingerprint, chunk_index, organization_id, language,
                       length, tsv)
               SELECT artifact_text_id, fingerprint, chunk_index, organization_id, 'english', 2,
                      to_tsvector('simple', text) FROM chunks""",
            *(owner.organization_id, kb_id, owner.id, MODEL.fingerprint, documents, chunks),
            *(MODEL.model, MODEL.dimensions),
        )

    def indexed(self, document_id: UUID) -> IndexedDocument:
        ((kb_id, organization_id),) = self.seed.rows(
            "SELECT knowledge_base_id, organization_id FROM documents WHERE id = %s", document_id
        )
        return IndexedDocument(document_id, kb_id, organization_id)

    def set_status(self, document_id: UUID, status: str) -> None:
        self.seed.execute("UPDATE documents SET status = %s WHERE id = %s", status, document_id)


def points(passages: Sequence[Passage]) -> list[Point]:
    return [Point(number, passage.page, passage.vector) for number, passage in enumerate(passages)]
