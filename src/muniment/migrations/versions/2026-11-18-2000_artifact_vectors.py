"""Keep the vectors of passages in a table of their own, so that a text is searchable before they are computed.

The old form, vectors in `artifact_chunks`, stays readable: workers of the previous version write it, and a job moves it
in batches. `embedded_at` and `vectors_in_chunks` have defaults that describe what such a worker inserts. The defaults,
`vectors_in_chunks` and `artifact_chunks.embedding` are dropped one version later.

API processes of the previous version read the view `passages` and the function `nearest_passages`, which take vectors
from either table.
"""

from alembic import op

from muniment.migrations.policies import allow, allow_owner, definer_function, grant_execute, protect

revision = "0040"
down_revision = "0039"

OF_SCOPE = "organization_id IS NULL OR organization_id = app_service_organization_id()"
LOCAL_MODEL, LOCAL_DIMENSIONS = "all-MiniLM-L6-v2-int8", 384
VISIBLE = "d.status = 'completed' AND d.knowledge_base_id = ANY (ARRAY(SELECT app_kb_ids()))"

_NEW_FORM = "i.embedded_at IS NOT NULL AND NOT i.vectors_in_chunks"
_OLD_FORM = "i.vectors_in_chunks AND v.embedding IS NOT NULL"
_OF_INDEX = "v.artifact_text_id = i.artifact_text_id AND v.fingerprint = i.fingerprint"

# A passage without a vector has a zero vector for processes of the previous version: its distance is not a number,
# which is sorted behind all others. They cannot read a distance that is null.
_ZERO_VECTOR = """
    (SELECT array_fill(0::real, ARRAY[m.dimensions])::halfvec FROM indexing_variants m
      WHERE m.fingerprint = c.fingerprint)
"""
_PASSAGES = """
    CREATE OR REPLACE VIEW passages WITH (security_barrier = true) AS
        SELECT d.id AS document_id, d.knowledge_base_id, d.name AS document_name, d.document_type, d.media_type,
               d.revision, d.epoch, c.id AS chunk_id, c.fingerprint, c.model, c.page_number, c.chunk_index,
               c.start_char, c.end_char, c.text, c.language, c.tsv, {embedding} AS embedding
          FROM documents d JOIN artifact_chunks c ON c.artifact_text_id = d.artifact_text_id {vectors}
         WHERE {visible}
"""
# Without the column `embedding`, PostgreSQL removes the join: the key of the table is unique.
_OF_CHUNK = """
    LEFT JOIN artifact_vectors v ON v.artifact_text_id = c.artifact_text_id AND v.fingerprint = c.fingerprint
                                AND v.chunk_index = c.chunk_index
"""

# The vectors that answer queries: those of complete indexes, from one table or the other.
_PASSAGE_VECTORS = f"""
    CREATE VIEW passage_vectors WITH (security_barrier = true) AS
        SELECT d.id AS document_id, d.knowledge_base_id, v.fingerprint, v.model, v.chunk_index, v.embedding, v.sketch
          FROM documents d JOIN artifact_indexes i ON i.artifact_text_id = d.artifact_text_id
          JOIN artifact_vectors v ON {_OF_INDEX}
         WHERE {VISIBLE} AND {_NEW_FORM}
        UNION ALL
        SELECT d.id, d.knowledge_base_id, v.fingerprint, v.model, v.chunk_index, v.embedding,
               binary_quantize(v.embedding)::bit varying
          FROM documents d JOIN artifact_indexes i ON i.artifact_text_id = d.artifact_text_id
          JOIN artifact_chunks v ON {_OF_INDEX}
         WHERE {VISIBLE} AND {_OLD_FORM}
"""

_NEAREST = f"""
    BEGIN
        RETURN QUERY EXECUTE format($query$
            SELECT found.id, found.chunk_index, found.embedding <=> $3 FROM (
                (SELECT d.id, v.chunk_index, v.embedding
                   FROM documents d JOIN artifact_indexes i ON i.artifact_text_id = d.artifact_text_id
                   JOIN artifact_vectors v ON {_OF_INDEX}
                  WHERE {VISIBLE} AND {_NEW_FORM}
                    AND d.knowledge_base_id = ANY ($1) AND v.fingerprint = $2 AND v.model = %1$L
                  ORDER BY v.embedding::halfvec(%2$s) <=> $3::halfvec(%2$s) LIMIT $4)
                UNION ALL
                (SELECT d.id, v.chunk_index, v.embedding
                   FROM documents d JOIN artifact_indexes i ON i.artifact_text_id = d.artifact_text_id
                   JOIN artifact_chunks v ON {_OF_INDEX}
                  WHERE {VISIBLE} AND {_OLD_FORM} AND EXISTS (SELECT FROM artifact_indexes o WHERE o.vectors_in_chunks)
                    AND d.knowledge_base_id = ANY ($1) AND v.fingerprint = $2 AND v.model = %1$L
                  ORDER BY v.embedding::halfvec(%2$s) <=> $3::halfvec(%2$s) LIMIT $4)
            ) AS found
        $query$, p_model, p_dimensions) USING p_kb_ids, p_fingerprint, p_vector, p_limit;
    END
"""
_NEAREST_BEFORE = f"""
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

RUN_JOBS, FAIR_JOBS = "task_name = 'processing.run'", "task_name IN ('processing.run', 'index.embed')"


def upgrade() -> None:
    op.execute(f"""
        ALTER TABLE artifact_indexes
            ADD COLUMN embedded_at timestamptz DEFAULT now(),
            ADD COLUMN vectors_in_chunks boolean NOT NULL DEFAULT true,
            ADD COLUMN embedding_error text;
        CREATE INDEX ix_artifact_indexes_incomplete ON artifact_indexes (created_at) WHERE embedded_at IS NULL;
        CREATE INDEX ix_artifact_indexes_vectors_in_chunks ON artifact_indexes (artifact_text_id)
            WHERE vectors_in_chunks;
        ALTER TABLE artifact_chunks ALTER COLUMN embedding DROP NOT NULL;

        CREATE TABLE artifact_vectors (
            artifact_text_id uuid NOT NULL,
            fingerprint text NOT NULL,
            chunk_index integer NOT NULL,
            organization_id uuid,
            model text NOT NULL,
            embedding halfvec NOT NULL,
            sketch bit varying NOT NULL GENERATED ALWAYS AS (binary_quantize(embedding)::bit varying) STORED,
            CONSTRAINT pk_artifact_vectors PRIMARY KEY (artifact_text_id, fingerprint, chunk_index),
            CONSTRAINT fk_artifact_vectors_of_index FOREIGN KEY (artifact_text_id, fingerprint)
                REFERENCES artifact_indexes (artifact_text_id, fingerprint) ON DELETE CASCADE
        );
        -- Vectors stay in their rows, as in `artifact_chunks`.
        ALTER TABLE artifact_vectors SET (toast_tuple_target = 8160);
        CREATE INDEX ix_artifact_vectors_hnsw_local ON artifact_vectors
            USING hnsw ((embedding::halfvec({LOCAL_DIMENSIONS})) halfvec_cosine_ops) WHERE model = '{LOCAL_MODEL}';
        CREATE INDEX ix_artifact_vectors_exact_local ON artifact_vectors (artifact_text_id, fingerprint)
            INCLUDE (chunk_index, embedding) WHERE model = '{LOCAL_MODEL}';
    """)
    protect("artifact_vectors")
    allow_owner("artifact_vectors")  # read by the views
    allow("muniment_service", "artifact_vectors", "SELECT", using=OF_SCOPE)
    allow("muniment_service", "artifact_vectors", "INSERT", check=OF_SCOPE)
    allow("muniment_service", "artifact_vectors", "DELETE", using=OF_SCOPE)
    columns = "(embedded_at, vectors_in_chunks, embedding_error)"
    allow("muniment_service", "artifact_indexes", "UPDATE", using=OF_SCOPE, check=OF_SCOPE, columns=columns)
    op.execute(
        _PASSAGES.format(
            embedding=f"coalesce(v.embedding, c.embedding, {_ZERO_VECTOR})", vectors=_OF_CHUNK, visible=VISIBLE
        )
    )
    op.execute(_PASSAGE_VECTORS)
    op.execute("GRANT SELECT ON passage_vectors TO muniment_app")
    op.execute(f"""
        CREATE OR REPLACE VIEW indexed_documents WITH (security_barrier = true) AS
            SELECT d.id AS document_id, d.knowledge_base_id, i.fingerprint, i.language, i.total_chunks, i.embedded_at
              FROM documents d JOIN artifact_indexes i ON i.artifact_text_id = d.artifact_text_id
             WHERE {VISIBLE}
    """)
    _replace_nearest_passages(_NEAREST)
    _progress()
    _jobs()
    _replace_claims(FAIR_JOBS)
    _replace_count_passages("""
        SELECT found.artifact_text_id, count(*) FROM (
            SELECT c.artifact_text_id, c.fingerprint, c.chunk_index FROM artifact_chunks c
             WHERE c.artifact_text_id = ANY (p_artifact_text_ids)
            UNION SELECT v.artifact_text_id, v.fingerprint, v.chunk_index FROM artifact_vectors v
             WHERE v.artifact_text_id = ANY (p_artifact_text_ids)
        ) AS found GROUP BY found.artifact_text_id
    """)


def _progress() -> None:
    """Add functions that tell how far the vectors are."""
    # Of the model that answers queries. A document in processing shows no text, so that it has no passages.
    definer_function(
        "count_document_passages(p_document_ids uuid[])",
        "TABLE (document_id uuid, passages integer, passages_embedded integer, is_embedded boolean)",
        """
        SELECT d.id, i.total_chunks,
               CASE WHEN i.embedded_at IS NOT NULL THEN i.total_chunks
                    ELSE (SELECT count(*)::integer FROM artifact_vectors v
                           WHERE v.artifact_text_id = i.artifact_text_id AND v.fingerprint = i.fingerprint) END,
               i.embedded_at IS NOT NULL
          FROM documents d JOIN artifact_indexes i ON i.artifact_text_id = d.artifact_text_id
          JOIN indexing_variants m ON m.fingerprint = i.fingerprint AND m.is_active
         WHERE d.id = ANY (p_document_ids) AND d.knowledge_base_id = ANY (ARRAY(SELECT app_kb_ids()))
        """,
    )
    grant_execute("count_document_passages(uuid[])", "muniment_app")
    # Of the whole installation, for workers and operators.
    definer_function(
        "count_embedding_backlog()",
        "TABLE (passages bigint, oldest_at timestamptz, error text)",
        """
        SELECT coalesce(sum(i.total_chunks - (
                   SELECT count(*) FROM artifact_vectors v
                    WHERE v.artifact_text_id = i.artifact_text_id AND v.fingerprint = i.fingerprint)), 0)::bigint,
               min(i.created_at), min(i.embedding_error)
          FROM artifact_indexes i
         WHERE i.embedded_at IS NULL AND (session_user = 'muniment_service' OR app_is_operator())
        """,
    )
    grant_execute("count_embedding_backlog()", "muniment_app", "muniment_service")
    # Also of organizations that share the text. The listeners read what they may see.
    definer_function(
        "announce_artifact(p_artifact_text_id uuid)",
        "void",
        """
        SELECT pg_notify('muniment_documents', d.id::text) FROM documents d
         WHERE d.artifact_text_id = p_artifact_text_id
        """,
        volatility="VOLATILE",
    )
    grant_execute("announce_artifact(uuid)", "muniment_service")
    definer_function(
        "organizations_with_vectors_in_chunks()",
        "SETOF uuid",
        """
        SELECT DISTINCT coalesce(i.organization_id, (SELECT o.id FROM organizations o ORDER BY o.id LIMIT 1))
          FROM artifact_indexes i WHERE i.vectors_in_chunks
        """,
    )
    grant_execute("organizations_with_vectors_in_chunks()", "muniment_service")


def _jobs() -> None:
    """Add functions that queue the embedding of an artifact, and the runs that wait for it."""
    op.execute("""
        -- At most one job of an artifact and model waits, and the lock lets only one run. Small texts go before large
        -- ones, as in `run_priority`.
        CREATE FUNCTION enqueue_embedding(
            p_artifact_text_id uuid, p_fingerprint text, p_organization_id uuid, p_passages integer, p_purpose text)
        RETURNS void LANGUAGE plpgsql VOLATILE AS $function$
        DECLARE
            v_name text := format('embed %s %s', p_artifact_text_id, p_fingerprint);
        BEGIN
            PERFORM procrastinate_defer_jobs_v1(ARRAY[ROW(
                'embedding', 'index.embed', run_priority(now(), p_passages * 1000::bigint, p_purpose), v_name, v_name,
                jsonb_build_object('artifact_text_id', p_artifact_text_id, 'fingerprint', p_fingerprint,
                                   'organization_id', p_organization_id), NULL
            )]::procrastinate_job_to_defer_v1[]);
        EXCEPTION WHEN unique_violation THEN
            NULL;  -- it waits already
        END
        $function$;
    """)
    grant_execute("enqueue_embedding(uuid, text, uuid, integer, text)", "muniment_service")
    # With the rights of the caller, for reconciliation.
    op.execute("""
        CREATE FUNCTION list_overdue_embeddings(p_unchanged_since timestamptz, p_stalled_after interval)
        RETURNS TABLE (artifact_text_id uuid, fingerprint text) LANGUAGE sql STABLE AS $function$
            SELECT i.artifact_text_id, i.fingerprint FROM artifact_indexes i
             WHERE i.embedded_at IS NULL AND i.created_at < p_unchanged_since
               AND NOT EXISTS (SELECT FROM procrastinate_jobs j
                                WHERE j.queueing_lock = format('embed %s %s', i.artifact_text_id, i.fingerprint)
                                  AND (j.status = 'todo' OR (j.status = 'doing' AND EXISTS (
                                       SELECT FROM procrastinate_workers w
                                        WHERE w.id = j.worker_id AND w.last_heartbeat > now() - p_stalled_after))))
             ORDER BY i.artifact_text_id, i.fingerprint
        $function$;
    """)
    grant_execute("list_overdue_embeddings(timestamptz, interval)", "muniment_service")
    # A run that waits for vectors is in its queue with a time in the future. Of all organizations that share the text.
    definer_function(
        "resume_waiting_runs(p_artifact_text_id uuid DEFAULT NULL)",
        "bigint",
        """
        WITH resumed AS (
            UPDATE procrastinate_jobs j SET scheduled_at = now()
              FROM document_processing_runs r
             WHERE j.id = r.job_id AND j.status = 'todo' AND j.scheduled_at > now()
               AND r.status = 'queued' AND r.last_step = 'IndexText'
               AND CASE WHEN p_artifact_text_id IS NOT NULL THEN r.artifact_text_id = p_artifact_text_id
                        -- No other reason to wait lasts for so long.
                        ELSE j.scheduled_at > now() + interval '6 minutes'
                             AND NOT EXISTS (SELECT FROM artifact_indexes i
                                              WHERE i.artifact_text_id = r.artifact_text_id AND i.embedded_at IS NULL)
                        END
            RETURNING j.id, j.queue_name
        ), announced AS (
            SELECT pg_notify('procrastinate_queue_v1#' || queue_name,
                             json_build_object('type', 'job_inserted', 'job_id', id)::text) FROM resumed
        )
        SELECT count(*) FROM announced
        """,
        volatility="VOLATILE",
    )
    grant_execute("resume_waiting_runs(uuid)", "muniment_service")


def _replace_nearest_passages(body: str) -> None:
    op.execute("DROP FUNCTION nearest_passages")
    definer_function(
        "nearest_passages(p_kb_ids uuid[], p_fingerprint text, p_model text, p_dimensions integer, p_vector halfvec,"
        " p_limit bigint)",
        "TABLE (document_id uuid, chunk_index integer, distance double precision)",
        body,
        language="plpgsql",
    )
    grant_execute("nearest_passages", "muniment_app")


def _replace_count_passages(body: str) -> None:
    op.execute(f"""
        CREATE OR REPLACE FUNCTION count_passages(p_artifact_text_ids uuid[])
        RETURNS TABLE (artifact_text_id uuid, passages bigint) LANGUAGE sql STABLE AS $function$ {body} $function$
    """)


def _replace_claims(jobs: str) -> None:
    """Let the functions of migration 0035 claim these jobs. Each queue has jobs of one task only."""
    op.execute(f"""
        DROP INDEX ix_procrastinate_jobs_waiting_runs;
        CREATE INDEX ix_procrastinate_jobs_waiting_runs
            ON procrastinate_jobs (queue_name, (args->>'organization_id'), priority DESC, id)
         WHERE status = 'todo' AND {jobs};

        CREATE OR REPLACE FUNCTION list_claimable_jobs(p_queue text)
        RETURNS TABLE (organization_id uuid, job_id bigint, priority integer) LANGUAGE sql STABLE AS $function$
            WITH RECURSIVE waiting (organization) AS (
                (SELECT j.args->>'organization_id' FROM procrastinate_jobs j
                  WHERE j.status = 'todo' AND j.{jobs} AND j.queue_name = p_queue
                  ORDER BY 1 LIMIT 1)
                UNION ALL
                SELECT (SELECT j.args->>'organization_id' FROM procrastinate_jobs j
                         WHERE j.status = 'todo' AND j.{jobs} AND j.queue_name = p_queue
                           AND j.args->>'organization_id' > w.organization ORDER BY 1 LIMIT 1)
                  FROM waiting w WHERE w.organization IS NOT NULL
            )
            SELECT w.organization::uuid, next.id, next.priority
              FROM waiting w, LATERAL (
                  SELECT j.id, j.priority FROM procrastinate_jobs j
                   WHERE j.status = 'todo' AND j.{jobs} AND j.queue_name = p_queue
                     AND j.args->>'organization_id' = w.organization
                     AND (j.scheduled_at IS NULL OR j.scheduled_at <= now())
                     AND NOT EXISTS (SELECT FROM procrastinate_jobs o WHERE o.lock = j.lock AND o.status = 'doing')
                   ORDER BY j.priority DESC, j.id LIMIT 1) AS next
        $function$;

        CREATE OR REPLACE FUNCTION count_held_slots(p_queue text) RETURNS TABLE (organization_id uuid, slots bigint)
        LANGUAGE sql STABLE AS $function$
            SELECT (args->>'organization_id')::uuid, count(*) FROM procrastinate_jobs
             WHERE status = 'doing' AND worker_id IS NOT NULL AND queue_name = p_queue AND {jobs} GROUP BY 1
        $function$;

        CREATE OR REPLACE FUNCTION claim_run_job(p_queue text, p_worker_id bigint, p_is_guest boolean)
        RETURNS procrastinate_jobs LANGUAGE plpgsql VOLATILE AS $function$
        DECLARE
            v_organization uuid;
            v_candidate bigint;
            v_job procrastinate_jobs;
        BEGIN
            IF NOT EXISTS (SELECT FROM procrastinate_jobs
                            WHERE status = 'todo' AND {jobs} AND queue_name = p_queue) THEN
                RETURN NULL;
            END IF;
            -- One claim at a time. Two that look at the same time would both choose the same organization.
            PERFORM pg_advisory_xact_lock(hashtextextended('muniment claim ' || p_queue, 0));
            FOR v_organization, v_candidate IN
                WITH held AS (SELECT * FROM count_held_slots(p_queue))
                SELECT c.organization_id, c.job_id
                  FROM list_claimable_jobs(p_queue) c LEFT JOIN held USING (organization_id)
                 WHERE NOT p_is_guest OR (held.slots IS NULL AND EXISTS (SELECT FROM held))
                 ORDER BY coalesce(held.slots, 0), recent_slot_seconds(p_queue, c.organization_id),
                          c.priority DESC, c.job_id
            LOOP
                BEGIN
                    UPDATE procrastinate_jobs SET status = 'doing', worker_id = p_worker_id
                     WHERE id = (SELECT id FROM procrastinate_jobs WHERE id = v_candidate AND status = 'todo'
                                    FOR UPDATE SKIP LOCKED)
                    RETURNING * INTO v_job;
                EXCEPTION WHEN unique_violation THEN
                    -- Another worker has just claimed a job with the same lock.
                    CONTINUE;
                END;
                IF v_job.id IS NOT NULL THEN
                    PERFORM charge_slot(p_queue, v_organization, 0.1);
                    RETURN v_job;
                END IF;
            END LOOP;
            RETURN NULL;
        END
        $function$;
    """)


def downgrade() -> None:
    op.execute("DELETE FROM procrastinate_jobs WHERE task_name = 'index.embed'")
    _replace_claims(RUN_JOBS)
    _replace_nearest_passages(_NEAREST_BEFORE)
    _replace_count_passages("""
        SELECT c.artifact_text_id, count(*) FROM artifact_chunks c
         WHERE c.artifact_text_id = ANY (p_artifact_text_ids) GROUP BY c.artifact_text_id
    """)
    # The vectors go back into the chunks. An index without all of them goes: a reread makes it again.
    op.execute(f"""
        DROP FUNCTION resume_waiting_runs, list_overdue_embeddings, enqueue_embedding,
                      organizations_with_vectors_in_chunks, announce_artifact, count_embedding_backlog,
                      count_document_passages;
        DROP VIEW passage_vectors, passages;
        DROP VIEW indexed_documents;
        UPDATE artifact_chunks c SET embedding = v.embedding FROM artifact_vectors v
         WHERE c.embedding IS NULL AND v.artifact_text_id = c.artifact_text_id AND v.fingerprint = c.fingerprint
           AND v.chunk_index = c.chunk_index;
        DELETE FROM artifact_indexes i WHERE EXISTS (
            SELECT FROM artifact_chunks c WHERE c.artifact_text_id = i.artifact_text_id
                                            AND c.fingerprint = i.fingerprint AND c.embedding IS NULL);
        ALTER TABLE artifact_chunks ALTER COLUMN embedding SET NOT NULL;
        DROP TABLE artifact_vectors;
        DROP POLICY muniment_service_update ON artifact_indexes;
        REVOKE UPDATE (embedded_at, vectors_in_chunks, embedding_error) ON artifact_indexes FROM muniment_service;
        ALTER TABLE artifact_indexes
            DROP COLUMN embedded_at, DROP COLUMN vectors_in_chunks, DROP COLUMN embedding_error;
        CREATE VIEW indexed_documents WITH (security_barrier = true) AS
            SELECT d.id AS document_id, d.knowledge_base_id, i.fingerprint, i.language, i.total_chunks
              FROM documents d JOIN artifact_indexes i ON i.artifact_text_id = d.artifact_text_id
             WHERE {VISIBLE};
    """)
    op.execute(_PASSAGES.format(embedding="c.embedding", vectors="", visible=VISIBLE))
    op.execute("GRANT SELECT ON passages, indexed_documents TO muniment_app")
