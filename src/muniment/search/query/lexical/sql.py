"""SQL statements of lexical search, one for each match strategy."""

from functools import lru_cache

from sqlalchemy import TextClause, text

from muniment.search.query.lexical.strategy import MatchStrategy

# A generic plan, which PostgreSQL would choose after five executions, is ten times slower than a plan for the actual
# words and knowledge bases. With the default `work_mem` the matches would be written to disk.
SET_PLANNER = text(
    "SELECT set_config('plan_cache_mode', 'force_custom_plan', true), set_config('work_mem', '64MB', true)"
)


# The planner estimates the scope at a twentieth of its size, because the view compares knowledge bases a second time.
# It would therefore choose a nested loop that searches the full-text index once per document.
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


# Limits how many matches are ranked, and prefers those of the whole query. `OFFSET 0` keeps the inner query separate;
# otherwise the planner searches the full-text index once per document.
_SCAN_SCOPE = """
    found AS MATERIALIZED (
        SELECT p.document_id, p.chunk_index, p.language, p.tsv, (p.tsv @@ l.strict) IS TRUE AS is_whole
          FROM (SELECT p.document_id, p.chunk_index, p.language, p.tsv FROM passages p WHERE {of_kbs} {filters}
                OFFSET 0) AS p
          JOIN {languages} ON l.language = p.language
         WHERE p.tsv @@ l.query AND {allowed}
    ), matched AS (
        (SELECT * FROM found WHERE is_whole LIMIT :most_ranked)
        UNION ALL
        (SELECT * FROM found WHERE NOT is_whole
          LIMIT greatest(0, :most_ranked - (SELECT count(*) FROM found WHERE is_whole)))
    )
"""


# The function looks one query up in the index and then compares each passage with the queries in its language. It has
# the conditions of the view `passages`, through which a condition of ours could not reach the index.
_INDEXED_MATCHES = """
        SELECT document_id, chunk_index, language, tsv FROM match_passages(
            CAST(:kb_ids AS uuid[]), :fingerprint, CAST(:document_types AS text[]), CAST({looked_up} AS tsquery),
            CAST(CAST(:languages AS text[]) AS regconfig[]), CAST(CAST({required} AS text[]) AS tsquery[]),
            CAST(CAST({rejected} AS text[]) AS tsquery[]), CAST(CAST(:phrases AS text[]) AS tsquery[]),
            CAST(CAST(:excluded AS text[]) AS tsquery[]), {limit})
"""


_USE_INDEX = """
    whole AS MATERIALIZED ({whole}), part AS MATERIALIZED ({part}), matched AS (
        SELECT * FROM whole UNION ALL SELECT * FROM part
    )
"""


_LOOK_UPS = {
    "whole": {"looked_up": ":all", "required": ":strict", "rejected": "NULL", "limit": ":most_ranked"},
    "part": {
        "looked_up": ":any",
        "required": ":queries",
        "rejected": ":strict",
        "limit": ":most_ranked - (SELECT count(*) FROM whole)",
    },
}


# Takes an equal share from each knowledge base; otherwise the first ones could fill the limit alone.
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


# PostgreSQL's ranks weigh all words equally; here a word counts more, the fewer matches contain it. Each word has a
# column: a join with a list of words would copy and hash the passages first, at half the speed.
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


_PARTS = {"of_kbs": _OF_KBS, "allowed": _ALLOWED, "languages": LANGUAGES_TABLE, "filters": "{filters}"}


_MATCHES = {
    MatchStrategy.SCAN_SCOPE: _SCAN_SCOPE.format(**_PARTS),
    MatchStrategy.SCAN_UNTIL_ENOUGH: _SCAN_UNTIL_ENOUGH.format(**_PARTS),
    MatchStrategy.USE_INDEX: _USE_INDEX.format(
        **{name: _INDEXED_MATCHES.format(**look_up) for name, look_up in _LOOK_UPS.items()}
    ),
}


# Samples several passages per document, fewer towards its end, so that words of first pages do not seem frequent.
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
def match_statement(word_count: int, strategy: MatchStrategy, filters: str = "") -> TextClause:
    """Return the statement for this many words, with the parameters `:language_n` and `:lexeme_n` for each.

    `filters` is a condition with its leading `AND`, which only the strategy `SCAN_SCOPE` can apply. The rows are
    passages, each with the number of matches that were ranked.
    """
    matched = _MATCHES[strategy].format(filters=filters)
    ranks, weights = (", ".join(column.format(n=n) for n in range(word_count)) for column in (_RANK, _WEIGHT))
    score = " + ".join(_SCORE.format(n=n) for n in range(word_count))
    return text(_MATCH.format(matched=matched, ranks=ranks, weights=weights, score=score))
