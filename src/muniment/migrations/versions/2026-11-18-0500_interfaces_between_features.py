"""Add views and functions through which a feature reads tables of a feature above it.

They run with the rights of the caller, so that row level security decides as it does for the tables. Here a table's
owner can see who depends on it; in an SQL string elsewhere it could not.
"""

from alembic import op

from muniment.migrations.policies import grant_execute

revision = "0026"
down_revision = "0025"

_BOTH_LOGINS = ("muniment_app", "muniment_service")
_SERVICE = ("muniment_service",)

_VIEWS = {
    "knowledge_base_document_counts": (
        """
        SELECT knowledge_base_id, status, count(*) AS document_count FROM documents GROUP BY knowledge_base_id, status
        """,
        _BOTH_LOGINS,
    ),
    "open_handovers": (
        """
        SELECT bilko_document_id AS document_id, r2_object_key AS job_id, archive_status
          FROM archive_audit_log WHERE archive_status <> 'archived'
        """,
        _BOTH_LOGINS,
    ),
    "open_runs": (
        """
        SELECT run_id, organization_id, job_id, updated_at
          FROM document_processing_runs WHERE status IN ('queued', 'in_progress')
        """,
        _SERVICE,
    ),
}

_FUNCTIONS = {
    "list_organizations()": ("SETOF uuid", "SELECT id FROM organizations ORDER BY id", "STABLE", _SERVICE),
    # Two at most: the caller wants to know whether there is exactly one.
    "list_password_logins()": (
        "SETOF text",
        "SELECT email FROM users WHERE password_hash IS NOT NULL LIMIT 2",
        "STABLE",
        (),
    ),
    "list_embedding_models()": (
        "TABLE (model text, dimensions integer)",
        "SELECT model, max(dimensions) FROM indexing_variants GROUP BY model HAVING count(DISTINCT dimensions) = 1",
        "STABLE",
        (),
    ),
    "set_run_job(p_run_id uuid, p_job_id bigint)": (
        "void",
        "UPDATE document_processing_runs SET job_id = p_job_id, updated_at = now() WHERE run_id = p_run_id",
        "VOLATILE",
        _SERVICE,
    ),
    # Copies in an external index are those of the models that were known when the run that wrote them ended, whatever
    # other documents of the same content have.
    "document_needs_reindex(p_document_id uuid, p_has_copies boolean)": (
        "boolean",
        """
        SELECT NOT EXISTS (SELECT FROM indexed_documents i
                            WHERE i.document_id = d.id AND i.fingerprint = v.fingerprint)
               OR p_has_copies AND NOT EXISTS (SELECT FROM document_processing_runs r WHERE r.document_id = d.id
                                                  AND r.epoch = d.index_epoch AND r.ended_at >= v.created_at)
          FROM documents d, indexing_variants v WHERE d.id = p_document_id AND v.is_active
        """,
        "STABLE",
        _BOTH_LOGINS,
    ),
    # Every table with rows of a document.
    "count_document_rows(p_document_ids uuid[])": (
        "TABLE (document_id uuid, row_count bigint)",
        """
        SELECT wanted.id, (SELECT count(*) FROM documents t WHERE t.id = wanted.id)
                        + (SELECT count(*) FROM document_revisions t WHERE t.document_id = wanted.id)
                        + (SELECT count(*) FROM document_pages t WHERE t.document_id = wanted.id)
                        + (SELECT count(*) FROM document_paragraphs t WHERE t.document_id = wanted.id)
                        + (SELECT count(*) FROM document_diagrams t WHERE t.document_id = wanted.id)
                        + (SELECT count(*) FROM document_processing_runs t WHERE t.document_id = wanted.id)
          FROM unnest(p_document_ids) AS wanted (id)
        """,
        "STABLE",
        _SERVICE,
    ),
    "count_passages(p_artifact_text_ids uuid[])": (
        "TABLE (artifact_text_id uuid, passages bigint)",
        """
        SELECT c.artifact_text_id, count(*) FROM artifact_chunks c
         WHERE c.artifact_text_id = ANY (p_artifact_text_ids) GROUP BY c.artifact_text_id
        """,
        "STABLE",
        _SERVICE,
    ),
}


def upgrade() -> None:
    for name, (query, logins) in _VIEWS.items():
        op.execute(f"CREATE VIEW {name} WITH (security_invoker = true) AS {query}")
        op.execute(f"GRANT SELECT ON {name} TO {', '.join(logins)}")
    for signature, (returns, body, volatility, logins) in _FUNCTIONS.items():
        op.execute(
            f"CREATE FUNCTION {signature} RETURNS {returns} LANGUAGE sql {volatility} AS $function$ {body} $function$"
        )
        if logins:
            grant_execute(_without_names(signature), *logins)
    grant_execute("app_document_is_gone(uuid)", *_SERVICE)


def downgrade() -> None:
    op.execute("REVOKE EXECUTE ON FUNCTION app_document_is_gone(uuid) FROM muniment_service")
    for signature in _FUNCTIONS:
        op.execute(f"DROP FUNCTION {_without_names(signature)}")
    for name in _VIEWS:
        op.execute(f"DROP VIEW {name}")


def _without_names(signature: str) -> str:
    """Return the signature with the types of the parameters only."""
    name, _, parameters = signature.removesuffix(")").partition("(")
    return f"{name}({', '.join(parameter.split()[-1] for parameter in parameters.split(',') if parameter)})"
