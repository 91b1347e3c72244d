"""Add the usage of an organization, which quotas limit, and the index that counts it without reading the rows."""

from alembic import op

from muniment.migrations.policies import definer_function, grant_execute

revision = "0030"
down_revision = "0029"

MAY_ASK = "p_organization_id = app_organization_id() OR app_is_operator()"


def upgrade() -> None:
    op.execute("""
        CREATE INDEX ix_document_revisions_usage ON document_revisions (organization_id, document_id)
            INCLUDE (file_size)
    """)
    # As the owner: members see only some knowledge bases, and a quota counts all of them. While a replacement is in
    # progress, the larger counts of the oldest revision, which is deleted in the end, and all newer ones together.
    definer_function(
        "organization_storage(p_organization_id uuid)",
        "TABLE (used_bytes bigint, documents bigint)",
        f"""
        SELECT kept.used_bytes - replaced.used_bytes, kept.documents
          FROM (SELECT coalesce(sum(file_size), 0)::bigint AS used_bytes, count(DISTINCT document_id) AS documents
                  FROM document_revisions WHERE organization_id = p_organization_id) AS kept,
               (SELECT coalesce(sum(least(sizes.of_all - sizes.of_oldest, sizes.of_oldest)), 0)::bigint AS used_bytes
                  FROM documents d,
                       LATERAL (SELECT (array_agg(r.file_size ORDER BY r.revision))[1] AS of_oldest,
                                       sum(r.file_size) AS of_all
                                  FROM document_revisions r WHERE r.document_id = d.id) AS sizes
                 WHERE d.organization_id = p_organization_id AND d.status IN ('pending', 'processing')
                   AND d.revision > 1) AS replaced
         WHERE {MAY_ASK}
        """,
    )
    definer_function(
        "organization_queued_runs(p_organization_id uuid)",
        "bigint",
        f"""
        SELECT (SELECT count(*) FROM document_processing_runs
                 WHERE organization_id = p_organization_id AND status = 'queued')
         WHERE {MAY_ASK}
        """,
    )
    for function in ("organization_storage(uuid)", "organization_queued_runs(uuid)"):
        grant_execute(function, "muniment_app")


def downgrade() -> None:
    op.execute("""
        DROP FUNCTION organization_queued_runs, organization_storage;
        DROP INDEX ix_document_revisions_usage;
    """)
