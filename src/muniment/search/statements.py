"""The two large statements: which passages hold the words, and which of the proposed ones may be shown."""

from sqlalchemy import text

SMALL_SCOPE = 10_000
"""Chunks: so few are looked through one by one; where there are more, the index of the words is asked first."""
# A plan for any words and any knowledge bases is a bad one for these: a tenth of the speed, after five questions. With
# the memory as it is set usually, what is looked through would be sorted on the disk.
_PLANNED = "SELECT set_config('plan_cache_mode', 'force_custom_plan', true), set_config('work_mem', '64MB', true)"
TUNE_FOR_FEW = text(_PLANNED)
# The planner takes a scope for a twentieth of what it is, because the view compares knowledge bases once more. Left
# alone it would ask the index of the words again for every single document.
TUNE_FOR_MANY = text(f"{_PLANNED}, set_config('enable_nestloop', 'off', true)")
RESTORE = text("SELECT set_config('enable_nestloop', 'on', true)")
_OF_KBS = """
    p.knowledge_base_id = ANY (CAST(:kb_ids AS uuid[])) AND p.fingerprint = :fingerprint
    AND (CAST(:document_types AS text[]) IS NULL OR p.document_type = ANY (CAST(:document_types AS text[])))
"""
_ALLOWED = "(l.phrases IS NULL OR p.tsv @@ l.phrases) AND (l.excluded IS NULL OR NOT p.tsv @@ l.excluded)"
_IN_SCOPE = f"{_OF_KBS} AND {_ALLOWED}"
_LANGUAGES = """
    unnest(CAST(CAST(:languages AS text[]) AS regconfig[]), CAST(CAST(:phrases AS text[]) AS tsquery[]),
           CAST(CAST(:excluded AS text[]) AS tsquery[]), CAST(CAST(:queries AS text[]) AS tsquery[]),
           CAST(CAST(:strict AS text[]) AS tsquery[]))
        AS l (language, phrases, excluded, query, strict)
"""
# No more than these are ranked, and those that satisfy everything that was typed are never left out for others. The
# inner one stands by itself, or the planner asks the index of the words for every single document.
_FEW = """
    matched AS MATERIALIZED (
        SELECT p.document_id, p.chunk_index, p.language, p.tsv
          FROM (SELECT p.document_id, p.chunk_index, p.language, p.tsv FROM passages p WHERE {of_kbs} OFFSET 0) AS p
          JOIN {languages} ON l.language = p.language
         WHERE p.tsv @@ l.query AND {allowed} ORDER BY (p.tsv @@ l.strict) IS TRUE DESC LIMIT :most_ranked
    )
"""
# First a constant that the index can look up; then, for each passage, the query of its own language.
_OF_MANY = """
        SELECT p.document_id, p.chunk_index, p.language, p.tsv
          FROM passages p JOIN {languages} ON l.language = p.language WHERE {of_kbs} AND {allowed}
"""
_MANY = """
    whole AS MATERIALIZED (
        {of_many} AND p.tsv @@ CAST(:all AS tsquery) AND p.tsv @@ l.strict LIMIT :most_ranked
    ), part AS MATERIALIZED (
        {of_many} AND p.tsv @@ CAST(:any AS tsquery) AND p.tsv @@ l.query AND (p.tsv @@ l.strict) IS NOT TRUE
         LIMIT :most_ranked - (SELECT count(*) FROM whole)
    ), matched AS MATERIALIZED (
        SELECT * FROM whole UNION ALL SELECT * FROM part
    )
"""
# PostgreSQL's own ranks take every word for equally telling; here one counts the more, the fewer of them hold it.
_MATCH = """
    WITH {matched}, held AS MATERIALIZED (
        SELECT document_id, chunk_index, word, ts_rank(tsv, lexeme, 1) AS rank
          FROM matched JOIN unnest(CAST(CAST(:lexeme_languages AS text[]) AS regconfig[]),
                                   CAST(CAST(:lexemes AS text[]) AS tsquery[])) WITH ORDINALITY
                            AS wanted (language, lexeme, word)
               ON wanted.language = matched.language AND tsv @@ lexeme
    ), told AS MATERIALIZED (
        SELECT word, ln(1 + ((SELECT count(*) FROM matched) - count(*) + 0.5) / (count(*) + 0.5)) AS weight
          FROM held GROUP BY word
    )
    SELECT document_id, chunk_index FROM held JOIN told USING (word) GROUP BY document_id, chunk_index
     ORDER BY sum(weight * rank) DESC, document_id, chunk_index LIMIT :limit
"""
_PARTS = {"of_kbs": _OF_KBS, "allowed": _ALLOWED, "languages": _LANGUAGES}
MATCH_FEW = text(_MATCH.format(matched=_FEW.format(**_PARTS)))
MATCH_MANY = text(_MATCH.format(matched=_MANY.format(of_many=_OF_MANY.format(**_PARTS))))
_CONFIRM = """
    SELECT p.document_id, p.chunk_index
      FROM unnest(CAST(:ids AS uuid[]), CAST(:indexes AS integer[]), CAST(:epochs AS integer[])) WITH ORDINALITY
           AS proposed (document_id, chunk_index, epoch, place)
      JOIN passages p ON p.document_id = proposed.document_id AND p.chunk_index = proposed.chunk_index
      JOIN {languages} ON l.language = p.language {live}
     WHERE {in_scope} ORDER BY place
"""
_LIVE = "JOIN documents d ON d.id = p.document_id AND d.index_epoch = proposed.epoch"
CONFIRM_SHARED = text(_CONFIRM.format(languages=_LANGUAGES, in_scope=_IN_SCOPE, live=""))
CONFIRM_COPIES = text(_CONFIRM.format(languages=_LANGUAGES, in_scope=_IN_SCOPE, live=_LIVE))
