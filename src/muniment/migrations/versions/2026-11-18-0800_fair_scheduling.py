"""Let workers choose between organizations when they claim the job of a run.

Within an organization, jobs have a deadline: the time of the upload and an allowance for the size of the file. Between
organizations, the one with the fewest slots goes first, then the one that has used the least time recently. Runs of new
content enter the reading queue at once. A worker of the previous version claims jobs in the order of their deadlines,
and handles those of either queue in the same way.
"""

from alembic import op

from muniment.migrations.policies import allow, definer_function, grant_execute, protect

revision = "0035"
down_revision = "0034"

# The login decides, as in migration 0004.
_MAY_TOUCH = """
    CASE session_user
        WHEN 'muniment_app' THEN d.knowledge_base_id IN (SELECT app_writable_kb_ids())
        WHEN 'muniment_service' THEN d.organization_id = app_service_organization_id()
        ELSE false END
"""

# Only a guess: a run in the fast queue whose artifact is missing is moved, and one in the reading queue reuses an
# artifact that has been added meanwhile. The lock lets only one job of a content read it at a time.
_QUEUE_BY_CONTENT = """
        IF EXISTS (SELECT FROM artifacts_full_text a WHERE a.content_hmac = v_document.content_hmac) THEN
            v_queue := 'fast';
        ELSE
            v_queue := 'reading';
            v_lock := encode(sha256(convert_to(v_document.content_hmac, 'UTF8')), 'hex');
        END IF;
        v_priority := run_priority(now(), v_document.file_size, p_purpose);
"""
_ENQUEUE = f"""
    DECLARE
        v_document documents;
        v_run uuid;
        v_job bigint;
        v_queue text := 'fast';
        v_lock text;
        v_priority integer := 0;
    BEGIN
        SELECT * INTO v_document FROM documents d
         WHERE d.id = p_document_id AND d.epoch = p_epoch AND {_MAY_TOUCH} FOR NO KEY UPDATE;
        IF NOT FOUND THEN
            RAISE 'no document % at epoch % that you may have processed', p_document_id, p_epoch
                USING ERRCODE = 'insufficient_privilege';
        END IF;
        INSERT INTO document_processing_runs
            (document_id, organization_id, user_id, epoch, revision, purpose, force, algorithm_version)
        VALUES (v_document.id, v_document.organization_id, coalesce(app_user_id(), v_document.uploaded_by),
                p_epoch, v_document.revision, p_purpose, p_force, p_algorithm_version)
        RETURNING run_id INTO v_run;
        {{choose_queue}}
        v_job := (procrastinate_defer_jobs_v1(ARRAY[ROW(
            v_queue, 'processing.run', v_priority, v_lock, v_run::text,
            jsonb_build_object('run_id', v_run, 'organization_id', v_document.organization_id), NULL
        )]::procrastinate_job_to_defer_v1[]))[1];
        UPDATE document_processing_runs SET job_id = v_job WHERE run_id = v_run;
        RETURN v_run;
    END
"""
_ENQUEUE_ARGUMENTS = (
    "p_document_id uuid, p_epoch integer, p_purpose text DEFAULT 'first',"
    " p_force boolean DEFAULT false, p_algorithm_version integer DEFAULT NULL"
)
_ENQUEUE_TYPES = "uuid, integer, text, boolean, integer"


def upgrade() -> None:
    op.execute("""
        ALTER TABLE document_processing_runs ADD COLUMN yields integer NOT NULL DEFAULT 0;
        CREATE TABLE queue_usage (
            queue text NOT NULL,
            organization_id uuid NOT NULL,
            recent_seconds double precision NOT NULL,
            charged_at timestamptz NOT NULL,
            CONSTRAINT pk_queue_usage PRIMARY KEY (queue, organization_id)
        );
        -- In the order of a claim: by organization, then by deadline.
        CREATE INDEX ix_procrastinate_jobs_waiting_runs
            ON procrastinate_jobs (queue_name, (args->>'organization_id'), priority DESC, id)
         WHERE status = 'todo' AND task_name = 'processing.run';
    """)
    protect("queue_usage")
    # Workers choose between all organizations.
    for command in ("SELECT", "INSERT", "UPDATE", "DELETE"):
        using = None if command == "INSERT" else "true"
        check = "true" if command in ("INSERT", "UPDATE") else None
        allow("muniment_service", "queue_usage", command, using=using, check=check)
    _create_priorities()
    _create_claims()
    _replace_enqueue(_QUEUE_BY_CONTENT)


def _create_priorities() -> None:
    # A priority is a deadline, in seconds since 2026, with the earliest first. The allowance lets small files pass a
    # large one for half an hour at most, so that it is not starved. A reread can wait for a day: the document has
    # its results, and thousands of them are queued at once.
    op.execute("""
        CREATE FUNCTION run_priority(p_since timestamptz, p_size bigint, p_purpose text) RETURNS integer
        LANGUAGE sql STABLE AS $function$
            SELECT -CAST(extract(epoch FROM p_since) - 1767225600 + least(1800, p_size / 5000.0)
                         + CASE p_purpose WHEN 'reread' THEN 86400 ELSE 0 END AS integer)
        $function$;
        CREATE FUNCTION run_job_priority(p_run_id uuid) RETURNS integer LANGUAGE sql STABLE AS $function$
            SELECT run_priority(r.created_at, d.file_size, r.purpose)
              FROM document_processing_runs r JOIN documents d ON d.id = r.document_id WHERE r.run_id = p_run_id
        $function$;
    """)
    grant_execute("run_priority(timestamptz, bigint, text)", "muniment_service")
    grant_execute("run_job_priority(uuid)", "muniment_service")


def _create_claims() -> None:
    op.execute("""
        -- The next job of each organization. A job whose computation another job is carrying out has to wait for it.
        CREATE FUNCTION list_claimable_jobs(p_queue text)
        RETURNS TABLE (organization_id uuid, job_id bigint, priority integer) LANGUAGE sql STABLE AS $function$
            WITH RECURSIVE waiting (organization) AS (
                (SELECT j.args->>'organization_id' FROM procrastinate_jobs j
                  WHERE j.status = 'todo' AND j.task_name = 'processing.run' AND j.queue_name = p_queue
                  ORDER BY 1 LIMIT 1)
                UNION ALL
                SELECT (SELECT j.args->>'organization_id' FROM procrastinate_jobs j
                         WHERE j.status = 'todo' AND j.task_name = 'processing.run' AND j.queue_name = p_queue
                           AND j.args->>'organization_id' > w.organization ORDER BY 1 LIMIT 1)
                  FROM waiting w WHERE w.organization IS NOT NULL
            )
            SELECT w.organization::uuid, next.id, next.priority
              FROM waiting w, LATERAL (
                  SELECT j.id, j.priority FROM procrastinate_jobs j
                   WHERE j.status = 'todo' AND j.task_name = 'processing.run' AND j.queue_name = p_queue
                     AND j.args->>'organization_id' = w.organization
                     AND (j.scheduled_at IS NULL OR j.scheduled_at <= now())
                     AND NOT EXISTS (SELECT FROM procrastinate_jobs o WHERE o.lock = j.lock AND o.status = 'doing')
                   ORDER BY j.priority DESC, j.id LIMIT 1) AS next
        $function$;

        CREATE FUNCTION count_held_slots(p_queue text) RETURNS TABLE (organization_id uuid, slots bigint)
        LANGUAGE sql STABLE AS $function$
            SELECT (args->>'organization_id')::uuid, count(*) FROM procrastinate_jobs
             WHERE status = 'doing' AND worker_id IS NOT NULL AND queue_name = p_queue
               AND task_name = 'processing.run' GROUP BY 1
        $function$;

        -- Usage fades within minutes: what an organization used an hour ago does not make it wait now. The age is
        -- limited because `exp` raises an error where its result is too small (after twelve hours) or too large.
        CREATE FUNCTION fade_usage(p_seconds double precision, p_charged_at timestamptz) RETURNS double precision
        LANGUAGE sql STABLE AS $function$
            SELECT p_seconds * exp(-greatest(0, least(100, extract(epoch FROM now() - p_charged_at)::float8 / 60)))
        $function$;

        CREATE FUNCTION recent_slot_seconds(p_queue text, p_organization_id uuid) RETURNS double precision
        LANGUAGE sql STABLE AS $function$
            SELECT coalesce((SELECT fade_usage(recent_seconds, charged_at)
                               FROM queue_usage WHERE queue = p_queue AND organization_id = p_organization_id), 0)
        $function$;

        CREATE FUNCTION charge_slot(p_queue text, p_organization_id uuid, p_seconds double precision) RETURNS void
        LANGUAGE sql VOLATILE AS $function$
            INSERT INTO queue_usage AS q (queue, organization_id, recent_seconds, charged_at)
            VALUES (p_queue, p_organization_id, p_seconds, now())
            ON CONFLICT (queue, organization_id) DO UPDATE
               SET recent_seconds = EXCLUDED.recent_seconds + fade_usage(q.recent_seconds, q.charged_at),
                   charged_at = now()
        $function$;

        CREATE FUNCTION claim_run_job(p_queue text, p_worker_id bigint, p_is_guest boolean)
        RETURNS procrastinate_jobs LANGUAGE plpgsql VOLATILE AS $function$
        DECLARE
            v_organization uuid;
            v_candidate bigint;
            v_job procrastinate_jobs;
        BEGIN
            IF NOT EXISTS (SELECT FROM procrastinate_jobs
                            WHERE status = 'todo' AND task_name = 'processing.run' AND queue_name = p_queue) THEN
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
                    -- A worker of the previous version, which takes no lock here, has just claimed the same content.
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

        -- A tenth and half a second ahead: two long documents of two organizations alternate every few seconds, and a
        -- document of an organization that has used nothing waits half a second.
        -- Within an organization, a job with an earlier deadline goes first: a note does not wait until a book is read.
        CREATE FUNCTION is_turn_over(
            p_queue text, p_organization_id uuid, p_seconds double precision, p_priority integer) RETURNS boolean
        LANGUAGE plpgsql VOLATILE AS $function$
        BEGIN
            PERFORM charge_slot(p_queue, p_organization_id, p_seconds);
            RETURN EXISTS (
                WITH held AS (SELECT * FROM count_held_slots(p_queue))
                SELECT FROM list_claimable_jobs(p_queue) c LEFT JOIN held USING (organization_id)
                 WHERE CASE WHEN c.organization_id = p_organization_id THEN c.priority > p_priority ELSE
                       coalesce(held.slots, 0) < (SELECT slots FROM held WHERE organization_id = p_organization_id)
                       AND recent_slot_seconds(p_queue, c.organization_id) * 1.1 + 0.5
                           <= recent_slot_seconds(p_queue, p_organization_id) END);
        END
        $function$;
    """)
    for function in (
        "list_claimable_jobs(text)",
        "count_held_slots(text)",
        "fade_usage(double precision, timestamptz)",
        "recent_slot_seconds(text, uuid)",
        "charge_slot(text, uuid, double precision)",
        "claim_run_job(text, bigint, boolean)",
        "is_turn_over(text, uuid, double precision, integer)",
    ):
        grant_execute(function, "muniment_service")


def _replace_enqueue(choose_queue: str) -> None:
    op.execute(f"DROP FUNCTION enqueue_run({_ENQUEUE_TYPES})")
    statements = _ENQUEUE.format(choose_queue=choose_queue)
    definer_function(
        f"enqueue_run({_ENQUEUE_ARGUMENTS})", "uuid", statements, language="plpgsql", volatility="VOLATILE"
    )
    grant_execute(f"enqueue_run({_ENQUEUE_TYPES})", "muniment_app", "muniment_service")


def downgrade() -> None:
    _replace_enqueue(
        "-- Every run enters the fast queue; its slot finishes known content and moves unknown content on."
    )
    op.execute("""
        DROP FUNCTION is_turn_over, claim_run_job, charge_slot, recent_slot_seconds, fade_usage, count_held_slots,
                      list_claimable_jobs, run_job_priority, run_priority;
        DROP INDEX ix_procrastinate_jobs_waiting_runs;
        DROP TABLE queue_usage;
        ALTER TABLE document_processing_runs DROP COLUMN yields;
    """)
