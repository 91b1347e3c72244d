"""Synthetic knowledge bases that share topics: vectors around topic centers, written directly to the tables."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from uuid import UUID

import numpy as np
import psycopg
from numpy.typing import NDArray

from benchmarks.search.dataset import SearchDataset
from muniment.search.variants import variant_for

KBS, SUBJECTS, SUBJECTS_OF_A_KB = 200, 100, 8
CHUNKS_OF_A_DOCUMENT = 50
DIMENSIONS = 384
NOISE = 0.04
"""Per dimension: two passages of one subject have a cosine of about 0.6, as in real texts."""
TEXTS, WORDS, VOCABULARY = 2000, 120, 20_000
COMMON = "common"
"""A word in every passage."""
INDEX = "ix_artifact_vectors_hnsw_local"
_BATCH = 20_000
_COPY_HEADER = b"PGCOPY\n\xff\r\n\0" + bytes(8)
_COPY_END = b"\xff\xff"
_ROW = np.dtype(
    [
        *(("columns", ">i2"), ("number_bytes", ">i4"), ("number", ">i4"), ("vector_bytes", ">i4")),
        *(("dimensions", ">i2"), ("unused", ">i2"), ("values", ">f2", DIMENSIONS)),
    ]
)
_DOCUMENTS = """
    WITH given AS (SELECT %(organization)s::uuid AS organization_id, %(owner)s::uuid AS owner_id),
    texts AS (
        INSERT INTO artifacts_full_text (id, organization_id, content_hmac, algorithm_version, params_fingerprint,
               full_text_uri, full_text_sha256, total_pages, total_words, methods)
        SELECT id, organization_id, '0:' || id, 1, 'crowd', 'artifacts/x', '0', 1, 1, '{}' FROM given, bench_documents
         WHERE number >= %(first)s
    ), indexes AS (
        INSERT INTO artifact_indexes (artifact_text_id, fingerprint, organization_id, language, total_chunks,
               embedded_at, vectors_in_chunks)
        SELECT id, %(fingerprint)s, organization_id, 'english', %(chunks)s, now(), false FROM given, bench_documents
         WHERE number >= %(first)s
    )
    INSERT INTO documents (id, organization_id, knowledge_base_id, name, name_key, document_type, status, epoch,
           revision, media_type, original_uri, file_size, sha256, content_hmac, uploaded_by, artifact_text_id)
    SELECT id, organization_id, kb_id, id::text, id::text, 'other', 'completed', 1, 1, 'application/pdf',
           kb_id || '/' || id || '/1/original', 1, '0', '0:' || id, owner_id, id FROM given, bench_documents
     WHERE number >= %(first)s
"""
_CHUNKS = """
    INSERT INTO artifact_chunks (organization_id, artifact_text_id, fingerprint, model, page_number, chunk_index,
           start_char, end_char, text)
    SELECT %(organization)s, d.id, %(fingerprint)s, %(model)s, 1, v.number %% %(chunks)s, 0, 10, t.text
      FROM bench_vectors v JOIN bench_documents d ON d.number = v.number / %(chunks)s
      JOIN bench_texts t ON t.number = v.number %% %(texts)s
"""
_TERMS = """
    WITH lexicons AS (
        INSERT INTO artifact_lexicons (artifact_text_id, fingerprint, organization_id, analysis_version, language,
               total_length, vocabulary)
        SELECT id, %(fingerprint)s, %(organization)s, 1, 'english', %(chunks)s::integer * (%(words)s::integer + 1), ' '
          FROM bench_documents WHERE number >= %(first)s
    )
    INSERT INTO artifact_terms (artifact_text_id, fingerprint, chunk_index, organization_id, language, length, tsv)
    SELECT d.id, %(fingerprint)s, v.number %% %(chunks)s, %(organization)s, 'english', %(words)s::integer + 1, t.tsv
      FROM bench_vectors v JOIN bench_documents d ON d.number = v.number / %(chunks)s
      JOIN bench_texts t ON t.number = v.number %% %(texts)s
"""
_VECTORS = """
    INSERT INTO artifact_vectors (organization_id, artifact_text_id, fingerprint, model, chunk_index, embedding)
    SELECT %(organization)s, d.id, %(fingerprint)s, %(model)s, v.number %% %(chunks)s, v.embedding
      FROM bench_vectors v JOIN bench_documents d ON d.number = v.number / %(chunks)s
"""


@dataclass
class SyntheticCorpus:
    dataset: SearchDataset
    chunks_of_a_document: int = CHUNKS_OF_A_DOCUMENT
    size: int = 0
    kb_ids: Sequence[UUID] = ()
    _random: np.random.Generator = field(default_factory=lambda: np.random.default_rng(4))

    def __post_init__(self) -> None:
        owner = self.dataset.artifacts_env.owner
        self.kb_ids = [self.dataset.seed.knowledge_base(owner) for _ in range(KBS)]
        self._centres = _unit(self._random.standard_normal((SUBJECTS, DIMENSIONS)))
        self._of_kb = np.array([[(7 * kb + 13 * n) % SUBJECTS for n in range(SUBJECTS_OF_A_KB)] for kb in range(KBS)])
        self._run("CREATE UNLOGGED TABLE bench_documents (number integer PRIMARY KEY, id uuid, kb_id uuid)")
        self._run("CREATE UNLOGGED TABLE bench_vectors (number integer, embedding halfvec)")
        self._run("CREATE UNLOGGED TABLE bench_texts (number integer PRIMARY KEY, text text, tsv tsvector)")
        for number in range(TEXTS):
            words = f"{COMMON} " + " ".join(f"word{rank}" for rank in self._random.zipf(1.2, WORDS) % VOCABULARY)
            self._run("INSERT INTO bench_texts VALUES (%s, %s, to_tsvector('english', %s))", number, words, words)

    def grow(self, size: int) -> None:
        """Grow to this number of chunks. The index is rebuilt at the end, which is many times as fast."""
        given = {
            "organization": self.dataset.artifacts_env.owner.organization_id,
            "owner": self.dataset.artifacts_env.owner.id,
            "fingerprint": variant_for(self.dataset.embedder).fingerprint,
            "model": self.dataset.embedder.model,
            "chunks": self.chunks_of_a_document,
            "texts": TEXTS,
            "words": WORDS,
            "first": self.size // self.chunks_of_a_document,
        }
        definition = self.dataset.seed.one("SELECT pg_get_indexdef(%s::regclass)", INDEX)
        with psycopg.connect(self.dataset.address.conninfo) as connection:
            connection.execute(f"DROP INDEX {INDEX}")
            connection.execute(
                "INSERT INTO bench_documents SELECT n, gen_random_uuid(), (%s::uuid[])[n %% %s + 1]"
                " FROM generate_series(%s::integer, %s) AS n",
                [list(self.kb_ids), KBS, given["first"], size // self.chunks_of_a_document - 1],
            )
            connection.execute(_DOCUMENTS, given)
            connection.execute("TRUNCATE bench_vectors")
            with connection.cursor().copy("COPY bench_vectors FROM STDIN (FORMAT binary)") as copy:
                for piece in self._vectors(self.size, size):
                    copy.write(piece)
            connection.execute(_CHUNKS, given)
            connection.execute(_TERMS, given)
            connection.execute(_VECTORS, given)
            connection.execute("SET maintenance_work_mem = '3GB'")
            connection.execute(definition)
        self.size = size
        tables = "artifact_chunks, artifact_terms, artifact_lexicons, artifact_vectors, artifact_indexes, documents"
        self._run(f"VACUUM ANALYZE {tables}")

    def question(self, kbs: int, *, is_foreign: bool) -> tuple[Sequence[UUID], Sequence[float]]:
        """Return some knowledge bases, and a vector near a subject of one of them, or one that only others have."""
        subjects: list[int] = []
        while not subjects:  # among many knowledge bases there is rarely a subject that none of them has
            chosen = self._random.choice(KBS, kbs, replace=False)
            own = set(self._of_kb[chosen].ravel())
            subjects = sorted(set(range(SUBJECTS)) - own if is_foreign else own)
        near = self._near(np.array([self._random.choice(subjects)]))[0]
        return [self.kb_ids[kb] for kb in chosen], near.tolist()

    def _vectors(self, first: int, end: int) -> Iterator[bytes]:
        yield _COPY_HEADER
        for start in range(first, end, _BATCH):
            numbers = np.arange(start, min(start + _BATCH, end))
            kbs = numbers // self.chunks_of_a_document % KBS
            rows = np.zeros(len(numbers), _ROW)
            rows["columns"], rows["number_bytes"], rows["number"] = 2, 4, numbers
            rows["vector_bytes"], rows["dimensions"] = 4 + 2 * DIMENSIONS, DIMENSIONS
            rows["values"] = self._near(self._of_kb[kbs, self._random.integers(0, SUBJECTS_OF_A_KB, len(numbers))])
            yield rows.tobytes()
        yield _COPY_END

    def _near(self, subjects: NDArray[np.int64]) -> NDArray[np.float64]:
        return _unit(self._centres[subjects] + NOISE * self._random.standard_normal((len(subjects), DIMENSIONS)))

    def _run(self, statement: str, *values: object) -> None:
        self.dataset.seed.execute(statement, *values)


def _unit(vectors: NDArray[np.float64]) -> NDArray[np.float64]:
    unit: NDArray[np.float64] = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    return unit
