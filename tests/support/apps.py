"""The application that a test serves: its routes outlive the test, its parts do not."""

from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager

from fastapi import FastAPI

from muniment.api import create_app
from muniment.http.services import Services

_idle: dict[bool, list[FastAPI]] = defaultdict(list)


@contextmanager
def borrow_app(services: Services) -> Iterator[FastAPI]:
    """Building a hundred routes takes longer than most tests; what an application knows and holds are its parts."""
    idle = _idle[bool(services.handover.internal_keys)]
    app = idle.pop() if idle else create_app(services)
    app.state.services = services
    try:
        yield app
    finally:
        del app.state.services
        idle.append(app)
