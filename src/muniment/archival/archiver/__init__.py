"""The archiver: it empties the queue into Paperless (specs/archive-queue.md §3.3, §5, §7, §8). It has no database.

    run.py       one pass            watch.py         a pass every five minutes       round.py     its jobs
    lease.py     one at a time       listing.py       the oldest first                pace.py      when to end early
    job.py       one job             attempt.py       upload and what became of it    reconciliation.py  where it went
    copies.py    who has it already  proof.py         is it there, whole and ours     closing.py   then it leaves
    tries.py     how often           failures.py      what counts                     dead_letters.py  what cannot be
    objects.py   ids in Paperless    names.py         names in Paperless              notes.py     what a sidecar keeps
    alerts.py    who is told         metrics.py       what is counted                 lines.py     what is logged

A job can be taken up from its sidecar at any moment: whoever dies, and whoever tries again, begins with a look.
"""
