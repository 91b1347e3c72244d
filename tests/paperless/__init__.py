"""A stand-in for Paperless-ngx 2.x and 3.x: a real HTTP server in a process of its own that answers as they do.

`stand_in.py` is the handle for tests; `faults.py` and `outcomes.py` say what can be made to go wrong.
"""
