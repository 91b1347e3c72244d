"""Keep the terms of passages in a separate table, so that a better analysis needs neither new chunks nor new vectors.

An index without a row in `artifact_lexicons` has the old form: the column `artifact_chunks.tsv`, which processes of the
previous version write. It answers until a job has analyzed the text. The columns `tsv` and `language` of
`artifact_chunks` and the function `match_passages` are dropped one version later.

API processes of the previous version read the view `passages` and the function `match_passages`, which take terms from
either table.
"""

from alembic import op

from muniment.migrations.policies import allow, allow_owner, definer_function, grant_execute, protect

revision = "0041"
down_revision = "0040"

OF_SCOPE = "organization_id IS NULL OR organization_id = app_service_organization_id()"
VISIBLE = "d.status = 'completed' AND d.knowledge_base_id = ANY (ARRAY(SELECT app_kb_ids()))"

# The scope of a search, as both functions below take it.
SCOPE_PARAMETERS = """
    p_kb_ids uuid[], p_fingerprint text, p_document_types text[], p_added_from timestamptz, p_added_before timestamptz,
    p_uploaded_by uuid[], p_media_types text[]
"""
IN_SCOPE = f"""
    {VISIBLE} AND d.knowledge_base_id = ANY ($1) AND ($3 IS NULL OR d.document_type = ANY ($3))
    AND ($4 IS NULL OR d.created_at >= $4) AND ($5 IS NULL OR d.created_at < $5)
    AND ($6 IS NULL OR d.uploaded_by = ANY ($6)) AND ($7 IS NULL OR d.media_type = ANY ($7))
"""
QUERY_PARAMETERS = "p_languages text[], p_matching tsquery[], p_phrases tsquery[], p_excluded tsquery[]"
MATCHES = """
    {terms} @@ l.matching AND (l.phrases IS NULL OR {terms} @@ l.phrases)
    AND (l.excluded IS NULL OR NOT {terms} @@ l.excluded)
"""
OF_LANGUAGE = "unnest($8, $9, $10, $11) AS l (language, matching, phrases, excluded)"
ROWS = "TABLE (document_id uuid, chunk_index integer, language text, length integer, terms tsvector)"
USING = """
    USING p_kb_ids, p_fingerprint, p_document_types, p_added_from, p_added_before, p_uploaded_by, p_media_types,
          p_languages, p_matching, p_phrases, p_excluded
"""

# Every p_step-th passage of the scope, counted through its documents, and of these the ones that match. `OFFSET 0`
# makes the planner fetch each by its key; it would otherwise compare all of them with the whole table.
SCAN = f"""
    BEGIN
        RETURN QUERY EXECUTE $query$
            WITH shown AS MATERIALIZED (
                SELECT d.id, i.artifact_text_id, x.artifact_text_id IS NULL AS is_old, i.total_chunks,
                       sum(i.total_chunks) OVER (ORDER BY d.id ROWS UNBOUNDED PRECEDING) - i.total_chunks AS before
                  FROM documents d JOIN artifact_indexes i ON i.artifact_text_id = d.artifact_text_id
                  LEFT JOIN artifact_lexicons x ON x.artifact_text_id = i.artifact_text_id
                                               AND x.fingerprint = i.fingerprint
                 WHERE {IN_SCOPE} AND i.fingerprint = $2
            ), chosen AS MATERIALIZED (
                SELECT s.id, s.artifact_text_id, s.is_old, number::integer AS chunk_index
                  FROM shown s, generate_series(mod($12 - mod(s.before, $12), $12), s.total_chunks - 1, $12) AS number
            )
            SELECT c.id, t.chunk_index, t.language, t.length, t.tsv
              FROM chosen c, LATERAL (
                       SELECT * FROM artifact_terms WHERE artifact_text_id = c.artifact_text_id AND fingerprint = $2
                                                      AND chunk_index = c.chunk_index OFFSET 0) AS t
              JOIN {OF_LANGUAGE} ON l.language = t.language
             WHERE NOT c.is_old AND {MATCHES.format(terms="t.tsv")}
            UNION ALL
            SELECT c.id, t.chunk_index, t.language::text, length(t.tsv), t.tsv
              FROM chosen c, LATERAL (
                       SELECT * FROM artifact_chunks WHERE artifact_text_id = c.artifact_text_id AND fingerprint = $2
                                                       AND chunk_index = c.chunk_index OFFSET 0) AS t
              JOIN {OF_LANGUAGE} ON l.language = t.language::text
             WHERE c.is_old AND {MATCHES.format(terms="t.tsv")}
        $query$ {USING}, p_step;
    END
"""

# `$12` is what the index looks up: the queries of all languages.
LOOK_UP = f"""
    DECLARE
        v_statement text := $query$
            (SELECT d.id, t.chunk_index, t.language, t.length, t.tsv
               FROM documents d JOIN artifact_terms t ON t.artifact_text_id = d.artifact_text_id
               JOIN {OF_LANGUAGE} ON l.language = t.language
              WHERE {IN_SCOPE} AND t.fingerprint = $2 AND t.tsv @@ $12 AND {MATCHES.format(terms="t.tsv")}
              LIMIT $13)
        $query$;
    BEGIN
        IF p_has_old_form THEN
            v_statement := v_statement || $query$
                UNION ALL
                (SELECT d.id, t.chunk_index, t.language::text, length(t.tsv), t.tsv
                   FROM documents d JOIN artifact_chunks t ON t.artifact_text_id = d.artifact_text_id
                   JOIN {OF_LANGUAGE} ON l.language = t.language::text
                  WHERE {IN_SCOPE} AND t.fingerprint = $2 AND t.tsv @@ $12 AND {MATCHES.format(terms="t.tsv")}
                    AND NOT EXISTS (SELECT FROM artifact_lexicons x WHERE x.artifact_text_id = t.artifact_text_id
                                                                      AND x.fingerprint = t.fingerprint)
                  LIMIT $13)
            $query$;
        END IF;
        RETURN QUERY EXECUTE v_statement {USING}, p_looked_up, p_limit;
    END
"""

# Words of the scope that have the beginning or the end of a word: with one wrong letter, one half is right.
SPELLINGS = f"""
    BEGIN
        RETURN QUERY EXECUTE $query$
            SELECT word, count(*) FROM (
                SELECT DISTINCT d.id, found[1] AS word
                  FROM documents d JOIN artifact_lexicons x ON x.artifact_text_id = d.artifact_text_id,
                       regexp_matches(x.vocabulary, $9, 'g') AS found
                 WHERE {IN_SCOPE} AND x.fingerprint = $2 AND x.vocabulary LIKE ANY ($8)
            ) AS words GROUP BY word ORDER BY count(*) DESC, word LIMIT $10
        $query$ USING p_kb_ids, p_fingerprint, p_document_types, p_added_from, p_added_before, p_uploaded_by,
                      p_media_types, p_patterns, p_expression, p_limit;
    END
"""

_MATCH_PASSAGES = """
    BEGIN
        RETURN QUERY EXECUTE $query$
            {look_up}
             LIMIT $10
        $query$ USING p_kb_ids, p_fingerprint, p_document_types, p_looked_up, p_languages, p_required, p_rejected,
                      p_phrases, p_excluded, p_limit;
    END
"""
_MATCH_LOOK_UP = f"""
            SELECT d.id, c.chunk_index, {{language}}, c.tsv
              FROM documents d JOIN {{table}} c ON c.artifact_text_id = d.artifact_text_id
              JOIN unnest($5, $6, $7, $8, $9) AS l (language, required, rejected, phrases, excluded)
                   ON l.language = {{language}}
             WHERE {VISIBLE} AND d.knowledge_base_id = ANY ($1) AND c.fingerprint = $2
               AND ($3 IS NULL OR d.document_type = ANY ($3))
               AND c.tsv @@ $4 AND c.tsv @@ l.required AND (c.tsv @@ l.rejected) IS NOT TRUE
               AND (l.phrases IS NULL OR c.tsv @@ l.phrases) AND (l.excluded IS NULL OR NOT c.tsv @@ l.excluded)
               {{condition}}
"""
_IN_CHUNKS = _MATCH_LOOK_UP.format(table="artifact_chunks", language="c.language", condition="{condition}")
_IN_TERMS = _MATCH_LOOK_UP.format(table="artifact_terms", language="c.language::regconfig", condition="")
_IS_OLD = """
    AND NOT EXISTS (SELECT FROM artifact_lexicons x WHERE x.artifact_text_id = c.artifact_text_id
                                                      AND x.fingerprint = c.fingerprint)
"""

_ZERO_VECTOR = """
    (SELECT array_fill(0::real, ARRAY[m.dimensions])::halfvec FROM indexing_variants m
      WHERE m.fingerprint = c.fingerprint)
"""
# As in migration 0040, with words from either table. PostgreSQL removes the joins whose columns a query does not use.
_PASSAGES = f"""
    CREATE OR REPLACE VIEW passages WITH (security_barrier = true) AS
        SELECT d.id AS document_id, d.knowledge_base_id, d.name AS document_name, d.document_type, d.media_type,
               d.revision, d.epoch, c.id AS chunk_id, c.fingerprint, c.model, c.page_number, c.chunk_index,
               c.start_char, c.end_char, c.text, {{words}}, coalesce(v.embedding, c.embedding, {_ZERO_VECTOR})
               AS embedding
          FROM documents d JOIN artifact_chunks c ON c.artifact_text_id = d.artifact_text_id
          LEFT JOIN artifact_vectors v ON v.artifact_text_id = c.artifact_text_id AND v.fingerprint = c.fingerprint
                                      AND v.chunk_index = c.chunk_index
          {{join}}
         WHERE {VISIBLE}
"""
_EITHER_WORDS = "coalesce(t.language::regconfig, c.language) AS language, coalesce(t.tsv, c.tsv) AS tsv"
_OF_TERMS = """
    LEFT JOIN artifact_terms t ON t.artifact_text_id = c.artifact_text_id AND t.fingerprint = c.fingerprint
                              AND t.chunk_index = c.chunk_index
"""


def upgrade() -> None:
    op.execute("""
        CREATE TABLE artifact_lexicons (
            artifact_text_id uuid NOT NULL,
            fingerprint text NOT NULL,
            organization_id uuid,
            analysis_version integer NOT NULL,
            language text NOT NULL,
            total_length bigint NOT NULL,
            vocabulary text NOT NULL,
            CONSTRAINT pk_artifact_lexicons PRIMARY KEY (artifact_text_id, fingerprint),
            CONSTRAINT fk_artifact_lexicons_of_index FOREIGN KEY (artifact_text_id, fingerprint)
                REFERENCES artifact_indexes (artifact_text_id, fingerprint) ON DELETE CASCADE
        );
        CREATE INDEX ix_artifact_lexicons_analysis_version ON artifact_lexicons (analysis_version);
        CREATE INDEX ix_artifact_lexicons_vocabulary ON artifact_lexicons USING gin (vocabulary gin_trgm_ops);

        CREATE TABLE artifact_terms (
            artifact_text_id uuid NOT NULL,
            fingerprint text NOT NULL,
            chunk_index integer NOT NULL,
            organization_id uuid,
            language text NOT NULL,
            length integer NOT NULL,
            tsv tsvector NOT NULL,
            CONSTRAINT pk_artifact_terms PRIMARY KEY (artifact_text_id, fingerprint, chunk_index),
            CONSTRAINT fk_artifact_terms_of_lexicon FOREIGN KEY (artifact_text_id, fingerprint)
                REFERENCES artifact_lexicons (artifact_text_id, fingerprint) ON DELETE CASCADE
        );
        -- Every search reads the terms of many passages: they stay in their rows.
        ALTER TABLE artifact_terms SET (toast_tuple_target = 8160);
        CREATE INDEX ix_artifact_terms_tsv ON artifact_terms USING gin (tsv);

        ALTER TABLE artifact_chunks ALTER COLUMN tsv DROP NOT NULL, ALTER COLUMN language DROP NOT NULL;
    """)
    for table in ("artifact_lexicons", "artifact_terms"):
        protect(table)
        allow_owner(table)  # read by the views and functions
        allow("muniment_service", table, "SELECT", using=OF_SCOPE)
        allow("muniment_service", table, "INSERT", check=OF_SCOPE)
        allow("muniment_service", table, "DELETE", using=OF_SCOPE)
    op.execute(_PASSAGES.format(words=_EITHER_WORDS, join=_OF_TERMS))
    op.execute(f"""
        CREATE VIEW lexical_documents WITH (security_barrier = true) AS
            SELECT d.id AS document_id, d.knowledge_base_id, d.document_type, i.fingerprint, i.language, i.total_chunks,
                   i.embedded_at, x.total_length
              FROM documents d JOIN artifact_indexes i ON i.artifact_text_id = d.artifact_text_id
              LEFT JOIN artifact_lexicons x ON x.artifact_text_id = i.artifact_text_id
                                           AND x.fingerprint = i.fingerprint
             WHERE {VISIBLE};
        GRANT SELECT ON lexical_documents TO muniment_app;
    """)
    _replace_match_passages(f"{_IN_TERMS} UNION ALL {_IN_CHUNKS.format(condition=_IS_OLD)}")
    scope_and_query = f"{SCOPE_PARAMETERS}, {QUERY_PARAMETERS}"
    definer_function(f"scan_terms({scope_and_query}, p_step integer)", ROWS, SCAN, language="plpgsql")
    definer_function(
        f"look_up_terms({scope_and_query}, p_looked_up tsquery, p_has_old_form boolean, p_limit bigint)",
        ROWS,
        LOOK_UP,
        language="plpgsql",
    )
    definer_function(
        f"find_spellings({SCOPE_PARAMETERS}, p_patterns text[], p_expression text, p_limit bigint)",
        "TABLE (word text, documents bigint)",
        SPELLINGS,
        language="plpgsql",
    )
    # The planner estimates the scope at a twentieth of its size, because the function compares knowledge bases twice.
    # It would search the index once per document.
    op.execute("ALTER FUNCTION look_up_terms SET enable_nestloop = off")
    for function in ("scan_terms", "look_up_terms", "find_spellings"):
        grant_execute(function, "muniment_app")


def _replace_match_passages(look_up: str) -> None:
    op.execute("DROP FUNCTION match_passages")
    definer_function(
        "match_passages(p_kb_ids uuid[], p_fingerprint text, p_document_types text[], p_looked_up tsquery,"
        " p_languages regconfig[], p_required tsquery[], p_rejected tsquery[], p_phrases tsquery[],"
        " p_excluded tsquery[], p_limit bigint)",
        "TABLE (document_id uuid, chunk_index integer, language regconfig, tsv tsvector)",
        _MATCH_PASSAGES.format(look_up=look_up),
        language="plpgsql",
    )
    grant_execute("match_passages", "muniment_app")


def downgrade() -> None:
    op.execute("DROP FUNCTION find_spellings, look_up_terms, scan_terms; DROP VIEW lexical_documents")
    _replace_match_passages(_IN_CHUNKS.format(condition=""))
    op.execute("""
        UPDATE artifact_chunks c SET tsv = to_tsvector(x.language::regconfig, c.text), language = x.language::regconfig
          FROM artifact_lexicons x WHERE c.tsv IS NULL AND x.artifact_text_id = c.artifact_text_id
                                     AND x.fingerprint = c.fingerprint
    """)
    op.execute(_PASSAGES.format(words="c.language, c.tsv", join=""))
    op.execute("""
        ALTER TABLE artifact_chunks ALTER COLUMN tsv SET NOT NULL, ALTER COLUMN language SET NOT NULL;
        DROP TABLE artifact_terms, artifact_lexicons;
    """)
