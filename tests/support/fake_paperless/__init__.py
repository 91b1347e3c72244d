"""A fake Paperless-ngx 2.x and 3.x: an HTTP server in its own process that responds as they do.

`fake.py` is the handle for tests; `faults.py` and `outcomes.py` list what can be made to fail.
"""
