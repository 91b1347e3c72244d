"""SQL of lexical ranking: BM25 over the passages that a function of the database has found.

The functions `scan_terms` and `look_up_terms` have the conditions of the view `passages`, through which a condition of
ours could not reach the index. They return the terms of each passage.
"""

from functools import lru_cache
from itertools import pairwise

from sqlalchemy import TextClause, text

K1, B = 1.2, 0.75
"""The constants of BM25, as in Lucene."""
_MAX_FREQUENCY = 64
"""Terms that occur more often are not told apart: BM25 hardly does so either."""

# `ts_rank` of one lexeme at equal weights is 0.1 · (1 + 1/4 + … + 1/tf²) / 1.64493406685, a step for each frequency.
_LIMIT = 1.64493406685
_RANKS = [sum(0.1 / n**2 for n in range(1, frequency + 1)) / _LIMIT for frequency in range(_MAX_FREQUENCY + 1)]
_STEPS = ", ".join(repr((before + after) / 2) for before, after in pairwise(_RANKS))

# A generic plan, which PostgreSQL would choose after five executions, is ten times slower than a plan for the actual
# words and knowledge bases. With the default `work_mem` the matches would be written to disk.
SET_PLANNER = text(
    "SELECT set_config('plan_cache_mode', 'force_custom_plan', true), set_config('work_mem', '64MB', true)"
)

_SCOPE = """
    CAST(:kb_ids AS uuid[]), :fingerprint, CAST(:document_types AS text[]), CAST(:added_from AS timestamptz),
    CAST(:added_before AS timestamptz), CAST(:uploaded_by AS uuid[]), CAST(:media_types AS text[])
"""
_QUERY = """
    {scope}, CAST(:languages AS text[]), CAST(CAST(:{matching} AS text[]) AS tsquery[]),
    CAST(CAST(:phrases AS text[]) AS tsquery[]), CAST(CAST(:excluded AS text[]) AS tsquery[])
"""
_SCAN = "SELECT * FROM scan_terms({query}, :step)"
SCANNED = _SCAN.format(query=_QUERY.format(scope=_SCOPE, matching="any"))
"""Every `:step`-th passage of the scope, if it matches."""


_LOOK_UP = "SELECT * FROM look_up_terms({query}, CAST(:{name}_any AS tsquery), :has_old_form, :limit_{name})"


def looked_up(name: str) -> str:
    """Return the query for the passages that match `:name` in their language, at most `:limit_name`."""
    return _LOOK_UP.format(query=_QUERY.format(scope=_SCOPE, matching=name), name=name)


_SPELLINGS = "SELECT word FROM find_spellings({scope}, CAST(:patterns AS text[]), :expression, :limit)"
SPELLINGS = text(_SPELLINGS.format(scope=_SCOPE))

_FREQUENCY = """
    width_bucket(CAST(greatest({ranks}) AS float8), CAST('{{{steps}}}' AS float8[])) AS tf_{n}
"""
_RANK = "ts_rank('{{0.1,0.1,0.1,0.1}}', f.terms, l.term_{n}_{m})"
# A term that was looked up is counted among the passages found, and the sample may have missed it.
_COUNT = "greatest(:count_{n}, count(*) FILTER (WHERE tf_{n} > 0)) AS count_{n}"
_WEIGHT = """
    CAST(:weight_{n} AS float8) * ln(1 + (greatest(:passages, count_{n}) - count_{n} + 0.5) / (count_{n} + 0.5))
    AS weight_{n}
"""
_SCORE = "coalesce(weight_{n} * tf_{n} / (tf_{n} + norm), 0)"
_MATCHED = "coalesce(CASE WHEN tf_{n} > 0 THEN weight_{n} END, 0)"
_ASKED = "coalesce(CASE WHEN tf_{n} IS NOT NULL THEN weight_{n} END, 0)"

_RANKING = """
    WITH found AS MATERIALIZED (
        SELECT DISTINCT ON (document_id, chunk_index) * FROM ({found}) AS either
    ), counted AS MATERIALIZED (
        SELECT f.document_id, f.chunk_index, {k1} * ({rest} + {b} * f.length / :average_length) AS norm,
               {frequencies}
          FROM found f JOIN unnest(CAST(:languages AS text[]), {terms}) AS l (language, {columns})
               ON l.language = f.language
    ), counts AS MATERIALIZED (
        SELECT {counts} FROM counted
    ), weights AS MATERIALIZED (
        SELECT {weights} FROM counts
    ), scored AS MATERIALIZED (
        SELECT document_id, chunk_index, {score} AS score, ({matched}) / nullif({asked}, 0) AS share,
               ({score}) / nullif({asked}, 0) AS relative_score
          FROM counted, weights
    )
    SELECT document_id, chunk_index, score, share, relative_score, all_counts
      FROM (SELECT ARRAY[{all_counts}] AS all_counts FROM counts) AS known LEFT JOIN (
               SELECT * FROM scored WHERE score > 0 AND share >= :min_share
                ORDER BY score DESC, document_id, chunk_index LIMIT :limit) AS best ON true
     ORDER BY score DESC, document_id, chunk_index
"""
_COUNTING = """
    SELECT {counts} FROM (SELECT f.terms, l.* FROM (SELECT * FROM ({found}) AS f) AS f
      JOIN unnest(CAST(:languages AS text[]), {terms}) AS l (language, {columns}) ON l.language = f.language) AS f
"""
_CONTAINS = "count(*) FILTER (WHERE f.terms @@ f.term_{n})"


@lru_cache(maxsize=200)
def ranking_statement(alternatives: tuple[int, ...], found: str) -> TextClause:
    """Return the statement that ranks what `found` finds, for units with so many alternatives each.

    It has the parameters `:term_n_m` (for each language, the alternative m of unit n), `:weight_n` and `:count_n`.
    Without a passage its only row has the counts of the units.
    """
    columns = [f"term_{n}_{m}" for n, count in enumerate(alternatives) for m in range(count)]
    frequencies = [
        _FREQUENCY.format(n=n, steps=_STEPS, ranks=", ".join(_RANK.format(n=n, m=m) for m in range(count)))
        for n, count in enumerate(alternatives)
    ]
    units = range(len(alternatives))
    statement = _RANKING.format(
        found=found,
        k1=K1,
        b=B,
        rest=1 - B,
        columns=", ".join(columns),
        terms=_terms(columns),
        frequencies=", ".join(frequencies),
        counts=", ".join(_COUNT.format(n=n) for n in units),
        all_counts=", ".join(f"count_{n}" for n in units),
        weights=", ".join(_WEIGHT.format(n=n) for n in units),
        score=" + ".join(_SCORE.format(n=n) for n in units),
        matched=" + ".join(_MATCHED.format(n=n) for n in units),
        asked=" + ".join(_ASKED.format(n=n) for n in units),
    )
    return text(statement)


@lru_cache(maxsize=200)
def counting_statement(units: int) -> TextClause:
    """Return the statement that counts the passages of a sample with each unit, by the parameters `:term_n`."""
    columns = [f"term_{n}" for n in range(units)]
    counts = ", ".join(_CONTAINS.format(n=n) for n in range(units))
    statement = _COUNTING.format(found=SCANNED, counts=counts, terms=_terms(columns), columns=", ".join(columns))
    return text(statement)


def _terms(columns: list[str]) -> str:
    return ", ".join(f"CAST(CAST(:{column} AS text[]) AS tsquery[])" for column in columns)
