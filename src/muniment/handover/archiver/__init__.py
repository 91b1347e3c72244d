"""The archiver moves jobs from the queue to Paperless (docs/contracts.md#archiver-pass). It has no database.

    archiver.py           one pass, and a pass every interval
    cleanup.py            incomplete jobs and abandoned uploads, at the end of a pass
    content_groups.py     jobs of the same content, one after the other
    job.py                process one job: load, find or upload, verify, complete
    dead_letters.py       decide whether a failure counts; move a job to the dead letters
    upload.py             upload, wait for the task, locate a lost upload
    existing_copies.py    find, adopt and de-duplicate copies in Paperless
    completion.py         verify the stored document, report it, delete the job
    retry_policy.py       retries of one job within a pass
    consumer_progress.py  whether Paperless's task worker is stalled or has skipped an upload
    pass_context.py       options, circuit breaker and report of one pass
    monitoring.py         metrics, job log entries, alerts
    latency_histogram.py  the end-to-end latency, continued by every process
    paperless_objects.py  names and ids of tags, types, fields and correspondents
    job_state.py          the sidecar with its version; the result of a job
    lease.py, clock.py    one archiver at a time; time as a port

Each module imports only modules below it. A job resumes from its sidecar: every step first checks what has already
been done.
"""
