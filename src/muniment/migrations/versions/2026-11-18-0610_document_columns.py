"""Limit what the request login can read through the views of search and write to documents.

Both views become security barriers: otherwise a caller's own condition, which may raise an error that quotes a value,
can be evaluated on rows that the view is about to hide. A barrier keeps most conditions from reaching an index too, so
the two look-ups that depend on the indexes of passages become definer functions with the views' conditions.
"""

from alembic import op

from muniment.migrations.policies import definer_function, grant_execute

revision = "0028"
down_revision = "0027"

INSERTED = (
    "id", "organization_id", "knowledge_base_id", "name", "name_key", "document_type", "status", "epoch", "revision",
    "media_type", "original_uri", "file_size", "sha256", "content_hmac", "uploaded_by",
)  # fmt: skip
"""Columns that an upload writes."""
UPDATED = (
    "name", "name_key", "status", "epoch", "revision", "media_type", "original_uri", "file_size", "sha256",
    "content_hmac", "uploaded_by", "last_error", "processing_status", "processing_errors", "processing_started_at",
    "processing_completed_at", "artifact_text_id", "index_epoch", "total_pages", "total_word_count",
    "text_extraction_method", "updated_at", "completed_at", "archived_at", "archive_status", "archive_job_id",
    "paperless_doc_url", "handed_over_at",
)  # fmt: skip
"""Columns that moves write: replace resets them, revert restores them. A document keeps its id, organization, knowledge
base, type and time of creation."""

VISIBLE = "d.status = 'completed' AND d.knowledge_base_id = ANY (ARRAY(SELECT app_kb_ids()))"

# The words, knowledge bases and model are known when the statement is planned: a generic plan is ten times slower.
MATCH_PASSAGES = f"""
    BEGIN
        RETURN QUERY EXECUTE $query$
            SELECT d.id, c.chunk_index, c.language, c.tsv
              FROM documents d JOIN artifact_chunks c ON c.artifact_text_id = d.artifact_text_id
              JOIN unnest($5, $6, $7, $8, $9) AS l (language, required, rejected, phrases, excluded)
                   ON l.language = c.language
             WHERE {VISIBLE} AND d.knowledge_base_id = ANY ($1) AND c.fingerprint = $2
               AND ($3 IS NULL OR d.document_type = ANY ($3))
               AND c.tsv @@ $4 AND c.tsv @@ l.required AND (c.tsv @@ l.rejected) IS NOT TRUE
               AND (l.phrases IS NULL OR c.tsv @@ l.phrases) AND (l.excluded IS NULL OR NOT c.tsv @@ l.excluded)
             LIMIT $10
        $query$ USING p_kb_ids, p_fingerprint, p_document_types, p_looked_up, p_languages, p_required, p_rejected,
                      p_phrases, p_excluded, p_limit;
    END
"""
NEAREST_PASSAGES = f"""
    BEGIN
        RETURN QUERY EXECUTE format($query$
            SELECT found.id, found.chunk_index, found.embedding <=> $3 FROM (
                SELECT d.id, c.chunk_index, c.embedding
                  FROM documents d JOIN artifact_chunks c ON c.artifact_text_id = d.artifact_text_id
                 WHERE {VISIBLE} AND d.knowledge_base_id = ANY ($1) AND c.fingerprint = $2 AND c.model = %1$L
                 ORDER BY c.embedding::halfvec(%2$s) <=> $3::halfvec(%2$s) LIMIT $4
            ) AS found
        $query$, p_model, p_dimensions) USING p_kb_ids, p_fingerprint, p_vector, p_limit;
    END
"""

# A text that is shared by all organizations has none.
CHECK_ARTIFACT = """
    BEGIN
        IF EXISTS (SELECT FROM artifacts_full_text a WHERE a.id = NEW.artifact_text_id
                      AND (a.organization_id IS NULL OR a.organization_id = NEW.organization_id)) {or_else} THEN
            RETURN NULL;
        END IF;
        RAISE 'document % may not show artifact %', {document_id}, NEW.artifact_text_id
            USING ERRCODE = 'insufficient_privilege';
    END
"""
OF_A_REVISION = """
    OR EXISTS (SELECT FROM document_revisions r
                WHERE r.document_id = NEW.id AND r.artifact_text_id = NEW.artifact_text_id)
"""


def upgrade() -> None:
    for view in ("passages", "indexed_documents"):
        op.execute(f"ALTER VIEW {view} SET (security_barrier = true)")
    _look_ups()
    _column_grants()
    _artifact_triggers()


def _look_ups() -> None:
    definer_function(
        "match_passages(p_kb_ids uuid[], p_fingerprint text, p_document_types text[], p_looked_up tsquery,"
        " p_languages regconfig[], p_required tsquery[], p_rejected tsquery[], p_phrases tsquery[],"
        " p_excluded tsquery[], p_limit bigint)",
        "TABLE (document_id uuid, chunk_index integer, language regconfig, tsv tsvector)",
        MATCH_PASSAGES,
        language="plpgsql",
    )
    definer_function(
        "nearest_passages(p_kb_ids uuid[], p_fingerprint text, p_model text, p_dimensions integer, p_vector halfvec,"
        " p_limit bigint)",
        "TABLE (document_id uuid, chunk_index integer, distance double precision)",
        NEAREST_PASSAGES,
        language="plpgsql",
    )
    grant_execute("match_passages", "muniment_app")
    grant_execute("nearest_passages", "muniment_app")


def _column_grants() -> None:
    op.execute(f"""
        REVOKE INSERT, UPDATE ON documents FROM muniment_app;
        GRANT INSERT ({", ".join(INSERTED)}), UPDATE ({", ".join(UPDATED)}) ON documents TO muniment_app;
    """)


def _artifact_triggers() -> None:
    """Let a document show a text of its own organization, a shared one, or the one of a revision that it had."""
    for table, document_id, or_else in (
        ("documents", "NEW.id", OF_A_REVISION),
        ("document_revisions", "NEW.document_id", ""),
    ):
        function = f"check_artifact_of_{table}"
        body = CHECK_ARTIFACT.format(document_id=document_id, or_else=or_else)
        definer_function(f"{function}()", "trigger", body, language="plpgsql", volatility="VOLATILE")
        is_new = (
            "(NEW.artifact_text_id, NEW.organization_id) IS DISTINCT FROM (OLD.artifact_text_id, OLD.organization_id)"
        )
        for name, command, condition in (("added", "INSERT", "true"), ("changed", "UPDATE", is_new)):
            op.execute(f"""
                CREATE TRIGGER check_artifact_{name} AFTER {command} ON {table} FOR EACH ROW
                    WHEN (NEW.artifact_text_id IS NOT NULL AND {condition}) EXECUTE FUNCTION {function}()
            """)


def downgrade() -> None:
    for table in ("documents", "document_revisions"):
        op.execute(f"DROP FUNCTION check_artifact_of_{table}() CASCADE")
    op.execute(f"""
        REVOKE INSERT ({", ".join(INSERTED)}), UPDATE ({", ".join(UPDATED)}) ON documents FROM muniment_app;
        GRANT INSERT, UPDATE ON documents TO muniment_app;
        DROP FUNCTION nearest_passages, match_passages;
    """)
    for view in ("passages", "indexed_documents"):
        op.execute(f"ALTER VIEW {view} RESET (security_barrier)")
