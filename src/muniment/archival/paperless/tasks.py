"""What became of an upload."""

import asyncio
from typing import Any

from muniment.archival.paperless.connected import Connected
from muniment.archival.paperless.errors import Unclear
from muniment.archival.paperless.task_results import Task
from muniment.archival.paperless.values import reading


class Tasks(Connected):
    reread_after_seconds: float = 1

    async def task(self, task_id: str) -> Task | None:
        """The task, or nothing if Paperless does not know it: never made, of another user, or its history dropped."""
        task = await self._task(task_id)
        if task is not None and task.is_half_written:
            await asyncio.sleep(self.reread_after_seconds)
            task = await self._task(task_id)
        return task

    async def tasks_of_file(self, name: str) -> list[Task]:
        """Every task for a file of exactly this name, the oldest first. Reads the whole history: be sparing."""
        return sorted((task for task in await self._tasks({}) if task.file_name == name), key=lambda task: task.id)

    async def _task(self, task_id: str) -> Task | None:
        if not task_id:
            raise ValueError("Without its id this would be every task")
        return next((task for task in await self._tasks({"task_id": task_id}) if task.task_id == task_id), None)

    async def _tasks(self, params: dict[str, str]) -> list[Task]:
        answer: Any = await self._connection.get("/api/tasks/", params)
        if not isinstance(answer, list):
            raise Unclear("Paperless answered in a shape that is not known")
        with reading():
            return [Task.read(row) for row in answer]
