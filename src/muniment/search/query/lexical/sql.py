"""SQL statements of lexical search, one for each match strategy."""

from functools import lru_cache

from sqlalchemy import TextClause, text

from muniment.search.query.lexical.strategy import MatchStrategy

# A plan for any words and any knowledge bases is a bad one for these: a tenth of the speed, after five questions. With
# the memory as it is set usually, what was found would be kept on the disk.
SET_PLANNER = text(
    "SELECT set_config('plan_cache_mode', 'force_custom_plan', true), set_config('work_mem', '64MB', true)"
)


# The planner takes a scope for a twentieth of what it is, because the view compares knowledge bases once more. Left
# alone it would ask the index of the words again for every single document.
DISABLE_NESTED_LOOPS = text("SELECT set_config('enable_nestloop', 'off', true)")


ENABLE_NESTED_LOOPS = text("SELECT set_config('enable_nestloop', 'on', true)")


_OF_KBS = """
    p.knowledge_base_id = ANY (CAST(:kb_ids AS uuid[])) AND p.fingerprint = :fingerprint
    AND (CAST(:document_types AS text[]) IS NULL OR p.document_type = ANY (CAST(:document_types AS text[])))
"""


_ALLOWED = "(l.phrases IS NULL OR p.tsv @@ l.phrases) AND (l.excluded IS NULL OR NOT p.tsv @@ l.excluded)"


IN_SCOPE = f"{_OF_KBS} AND {_ALLOWED}"


LANGUAGES_TABLE = """
    unnest(CAST(CAST(:languages AS text[]) AS regconfig[]), CAST(CAST(:phrases AS text[]) AS tsquery[]),
           CAST(CAST(:excluded AS text[]) AS tsquery[]), CAST(CAST(:queries AS text[]) AS tsquery[]),
           CAST(CAST(:strict AS text[]) AS tsquery[]))
        AS l (language, phrases, excluded, query, strict)
"""


# No more than these are ranked, and those that satisfy everything that was typed are never left out for others. The
# inner one stands by itself, or the planner asks the index of the words for every single document.
_SCAN_SCOPE = """
    found AS MATERIALIZED (
        SELECT p.document_id, p.chunk_index, p.language, p.tsv, (p.tsv @@ l.strict) IS TRUE AS is_whole
          FROM (SELECT p.document_id, p.chunk_index, p.language, p.tsv FROM passages p WHERE {of_kbs} OFFSET 0) AS p
          JOIN {languages} ON l.language = p.language
         WHERE p.tsv @@ l.query AND {allowed}
    ), matched AS (
        (SELECT * FROM found WHERE is_whole LIMIT :most_ranked)
        UNION ALL
        (SELECT * FROM found WHERE NOT is_whole
          LIMIT greatest(0, :most_ranked - (SELECT count(*) FROM found WHERE is_whole)))
    )
"""


# First a constant that the index can look up; then, for each passage, the query of its own language.
_INDEXED_MATCHES = """
        SELECT p.document_id, p.chunk_index, p.language, p.tsv
          FROM passages p JOIN {languages} ON l.language = p.language WHERE {of_kbs} AND {allowed}
"""


_USE_INDEX = """
    whole AS MATERIALIZED (
        {of_many} AND p.tsv @@ CAST(:all AS tsquery) AND p.tsv @@ l.strict LIMIT :most_ranked
    ), part AS MATERIALIZED (
        {of_many} AND p.tsv @@ CAST(:any AS tsquery) AND p.tsv @@ l.query AND (p.tsv @@ l.strict) IS NOT TRUE
         LIMIT :most_ranked - (SELECT count(*) FROM whole)
    ), matched AS (
        SELECT * FROM whole UNION ALL SELECT * FROM part
    )
"""


# From each knowledge base the same: the first ones alone could have enough.
_SCAN_UNTIL_ENOUGH = """
    matched AS (
        SELECT p.* FROM unnest(CAST(:kb_ids AS uuid[])) AS kb (id), LATERAL (
            SELECT p.document_id, p.chunk_index, p.language, p.tsv
              FROM (SELECT document_id, chunk_index, language, tsv FROM passages
                     WHERE knowledge_base_id = kb.id AND fingerprint = :fingerprint LIMIT :looked_through_of_each) AS p
              JOIN {languages} ON l.language = p.language
             WHERE p.tsv @@ l.strict AND {allowed} LIMIT :most_ranked_of_each
        ) AS p LIMIT :most_ranked
    )
"""


# PostgreSQL's own ranks take every word for equally telling; here one counts the more, the fewer of them hold it. Each
# word has a column: joined with a list of the words, the passages would be copied and hashed first, at half the speed.
_MATCH = """
    WITH {matched}, ranked AS MATERIALIZED (
        SELECT document_id, chunk_index, {ranks} FROM matched OFFSET 0
    ), told AS MATERIALIZED (
        SELECT {weights} FROM ranked
    ), scored AS (
        SELECT document_id, chunk_index, {score} AS score FROM ranked, told
    )
    SELECT document_id, chunk_index, (SELECT count(*) FROM ranked) AS ranked FROM scored WHERE score > 0
     ORDER BY score DESC, document_id, chunk_index LIMIT :limit
"""


_RANK = """
    CASE WHEN language = CAST(:language_{n} AS regconfig)
         THEN nullif(ts_rank(tsv, CAST(:lexeme_{n} AS tsquery), 1), 0) END AS rank_{n}
"""


_WEIGHT = "CAST(ln(1 + (count(*) - count(rank_{n}) + 0.5) / (count(rank_{n}) + 0.5)) AS float8) AS weight_{n}"


_SCORE = "coalesce(weight_{n} * rank_{n}, 0)"


_PARTS = {"of_kbs": _OF_KBS, "allowed": _ALLOWED, "languages": LANGUAGES_TABLE}


_MATCHES = {
    MatchStrategy.SCAN_SCOPE: _SCAN_SCOPE.format(**_PARTS),
    MatchStrategy.SCAN_UNTIL_ENOUGH: _SCAN_UNTIL_ENOUGH.format(**_PARTS),
    MatchStrategy.USE_INDEX: _USE_INDEX.format(of_many=_INDEXED_MATCHES.format(**_PARTS)),
}


# Of each document some, the fewer the further from its beginning: a word of the first page must not seem frequent.
_SAMPLE = """
    SELECT coalesce(CAST(avg(CAST((p.tsv @@ l.strict) IS TRUE AS integer)) AS float8), 0),
           coalesce(CAST(avg(CAST((p.tsv @@ l.query) IS TRUE AS integer)) AS float8), 0),
           (SELECT CAST(reltuples AS bigint) FROM pg_class WHERE oid = CAST('artifact_chunks' AS regclass))
      FROM unnest(CAST(:kb_ids AS uuid[])) AS kb (id),
           LATERAL (SELECT language, tsv FROM passages WHERE knowledge_base_id = kb.id AND fingerprint = :fingerprint
                       AND chunk_index IN (0, 2, 4, 7, 11, 16) LIMIT :sampled_of_each) AS p
      JOIN {languages} ON l.language = p.language
"""


SELECTIVITY_SAMPLE = text(_SAMPLE.format(languages=LANGUAGES_TABLE))


@lru_cache(maxsize=200)
def match_statement(word_count: int, strategy: MatchStrategy) -> TextClause:
    """For so many words, `:language_n` and `:lexeme_n` each. Beside each passage, how many were ranked."""
    matched = _MATCHES[strategy]
    ranks, weights = (", ".join(column.format(n=n) for n in range(word_count)) for column in (_RANK, _WEIGHT))
    score = " + ".join(_SCORE.format(n=n) for n in range(word_count))
    return text(_MATCH.format(matched=matched, ranks=ranks, weights=weights, score=score))
