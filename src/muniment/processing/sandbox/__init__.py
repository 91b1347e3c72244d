"""The reader sandbox: documents are opened only in processes that can harm nobody (DESIGN §8).

client.py      what the worker and the API call: read a file, get a picture
link.py        our end of one running server; running_job.py our end of one of its children
server.py      the fork server: imports everything once, then forks one child a job; brood.py its children
    control.py     what client and server tell each other
child.py       what a child does between its fork and its end; jobs.py the jobs it knows
confinement.py everything a child gives up first, with landlock.py, seccomp.py, kernel.py, user_ids.py
wire.py        what a child writes; untrusted.py, pages_received.py how we read it, as if it were an attacker's
verdicts.py    what a child's end means, in sentences for people
tools.py       programs that children execute, brought within their reach
"""
