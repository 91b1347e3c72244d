"""Applications served by tests. Routes are shared between tests, services are not."""

from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager

from fastapi import FastAPI

from muniment.api import create_app
from muniment.http.services import Services

_idle: dict[bool, list[FastAPI]] = defaultdict(list)


@contextmanager
def borrow_app(services: Services) -> Iterator[FastAPI]:
    """Yield an application with these services. Its routes are reused: building them takes longer than most tests."""
    idle = _idle[bool(services.handover.internal_keys)]
    app = idle.pop() if idle else create_app(services)
    app.state.services = services
    try:
        yield app
    finally:
        del app.state.services
        idle.append(app)
