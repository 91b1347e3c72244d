"""What the archiver knows of Paperless-ngx: a thin client in the words of the domain.

    client.py       `Paperless`, all of it in one
    connection.py   one call: headers, limits of time, versions     answers.py   which answer is which error
    objects.py      tags, correspondents, types, custom fields       values.py    what is read, typed
    documents.py    finding, reading, tagging                        trash.py     in and out of it
    uploads.py      one PDF with what is said about it               tasks.py     what became of it

No call repeats itself: after an unclear outcome the caller looks before it tries again.
"""
