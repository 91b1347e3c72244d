"""Thin client of Paperless-ngx, used only by the archiver.

    client.py      `PaperlessClient`: every call
    transport.py   one HTTP call: headers, timeouts, paging, version
    responses.py   status codes to errors
    models.py      typed values read from responses
    errors.py      the error tree

No call is retried here: after an unknown outcome the caller checks what happened before it tries again.
"""
