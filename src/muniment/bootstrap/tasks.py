"""Choose the engine of background tasks. Imports little, because the supervisor loads it."""

from typing import TYPE_CHECKING

from muniment.storage.tasks.procrastinate.engine import ProcrastinateEngine

if TYPE_CHECKING:
    from muniment.storage.tasks.port import TaskEngine, TaskQueue


def build_task_engine() -> "TaskEngine":
    """Return the engine that installs the queue and runs workers."""
    return ProcrastinateEngine()


def build_task_queue() -> "TaskQueue":
    """Return the queue of the same engine."""
    from muniment.storage.tasks.procrastinate.queue import ProcrastinateQueue  # loads SQLAlchemy

    return ProcrastinateQueue()
