"""Record which hand-overs belong to a document of ours, and let only those concern its purge.

Anyone could hand over a PDF under any id, and other producers write to the queue themselves.
"""

from alembic import op

from muniment.migrations.policies import definer_function, grant_execute

revision = "0029"
down_revision = "0028"

OPEN = """
    SELECT bilko_document_id AS document_id, r2_object_key AS job_id, archive_status
      FROM archive_audit_log WHERE archive_status <> 'archived'
"""
COPIES = """
    SELECT stock || jsonb_build_object('hand_over', nullif(
        coalesce(nullif(stock -> 'hand_over', 'null'), '{{}}') || coalesce((
            SELECT jsonb_build_object('copies', jsonb_agg(jsonb_build_object('key', a.r2_object_key,
                'sha256', a.sha256, 'status', a.archive_status, 'paperless_doc_id', a.paperless_doc_id,
                'url', a.paperless_doc_url) ORDER BY a.created_at, a.r2_object_key))
              FROM archive_audit_log a JOIN documents d ON d.id = p_document_id
             WHERE a.bilko_document_id = d.id AND a.organization_id = d.organization_id {condition}
            HAVING count(*) > 0), '{{}}'), '{{}}'))
      FROM take_stock_inside(p_document_id) stock
"""


def upgrade() -> None:
    # True by default, as a process of the version before means it.
    op.execute("ALTER TABLE archive_audit_log ADD COLUMN belongs_to_document boolean NOT NULL DEFAULT true")
    # A document's own hand-over is recorded in the audit log of its knowledge base, any other one in none.
    op.execute("""
        ALTER TABLE audit_events NO FORCE ROW LEVEL SECURITY;
        UPDATE archive_audit_log a SET belongs_to_document = false
         WHERE a.archive_status <> 'archived' AND NOT EXISTS (
            SELECT FROM audit_events e
             WHERE e.document_id = a.bilko_document_id AND e.organization_id = a.organization_id
               AND e.action = 'document_handed_over' AND e.knowledge_base_id IS NOT NULL
               AND e.payload ->> 'sha256' = a.sha256);
        ALTER TABLE audit_events FORCE ROW LEVEL SECURITY;
    """)
    _replace_view(f"{OPEN} AND belongs_to_document")
    # Whatever is in Paperless under the document's id stays there, and the receipt says so.
    _replace_function("AND (a.archive_status = 'archived' OR a.belongs_to_document)")


def _replace_view(query: str) -> None:
    op.execute(f"CREATE OR REPLACE VIEW open_handovers WITH (security_invoker = true) AS {query}")


def _replace_function(condition: str) -> None:
    op.execute("DROP FUNCTION take_stock(uuid)")
    definer_function("take_stock(p_document_id uuid)", "jsonb", COPIES.format(condition=condition))
    grant_execute("take_stock(uuid)", "muniment_app", "muniment_service")


def downgrade() -> None:
    _replace_function("")
    _replace_view(OPEN)
    op.execute("ALTER TABLE archive_audit_log DROP COLUMN belongs_to_document")
