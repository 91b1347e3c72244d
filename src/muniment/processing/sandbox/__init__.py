"""The reader sandbox: documents are opened only in confined child processes (docs/design.md#processing).

client.py   what the worker and the API call: read a file, render an image
parent/     runs in the worker and the API: the fork server's process, job handles, external programs
server/     the fork server: imports everything once, then forks one child per job
child/      runs in a child: main function, jobs, and everything it gives up first
protocol/   control messages between parent and server; frames from a child, and their decoding as hostile input
"""
