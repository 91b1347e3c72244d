"""Health checks run side by side, and a component that hangs delays nothing."""

import asyncio
from pathlib import Path

from muniment.errors import Unavailable
from muniment.http.health_checks import HealthCheck, HealthChecks
from tests.support.live_api import RunningApi


class HangingComponent:
    """A component whose check cannot be cancelled until it is released, like a query that PostgreSQL does not end."""

    def __init__(self) -> None:
        self.calls = 0
        self.released = asyncio.Event()

    async def check(self) -> str:
        self.calls += 1
        while not self.released.is_set():
            try:
                await self.released.wait()
            except asyncio.CancelledError:
                continue
        return "released"


async def healthy() -> str:
    return "healthy"


async def broken() -> str:
    raise Unavailable("broken. Repair it")


async def unexpected() -> str:
    raise OSError(30, "Read-only file system")


async def test_a_check_that_hangs_is_neither_waited_for_nor_started_again() -> None:
    hanging = HangingComponent()
    checks = HealthChecks(
        {"slow": HealthCheck(hanging.check, is_critical=True), "fast": HealthCheck(healthy, is_critical=True)}
    )

    for _ in range(2):
        results = await checks.run(timeout_seconds=0.05)
        assert (results["slow"].status, results["fast"].status) == ("failed", "ok")
    assert results["slow"].detail == "no response within 0.05 seconds"
    assert hanging.calls == 1
    assert checks.are_hanging

    hanging.released.set()
    assert (await checks.run())["slow"].status == "ok"
    assert not checks.are_hanging


async def test_all_checks_are_started_before_the_first_one_ends() -> None:
    started, both = 0, asyncio.Event()

    async def meet() -> str:
        nonlocal started
        started += 1
        if started == 2:
            both.set()
        await both.wait()
        return "met"

    results = await HealthChecks({name: HealthCheck(meet, is_critical=False) for name in "ab"}).run()
    assert {result.detail for result in results.values()} == {"met"}


async def test_what_a_check_did_not_expect_is_a_failed_check() -> None:
    checks = HealthChecks(
        {"disk": HealthCheck(unexpected, is_critical=True), "x": HealthCheck(broken, is_critical=True)}
    )
    results = await checks.run()
    assert (results["disk"].status, results["disk"].detail) == ("failed", "[Errno 30] Read-only file system")
    assert results["x"].detail == "broken. Repair it"


async def test_ready_reports_a_store_that_cannot_be_written(api: RunningApi) -> None:
    Path(api.settings.server.data_dir, "blobs", ".incoming").rmdir()
    answer = await api.anonymous.get("/health/ready")
    assert (answer.status_code, answer.json()["checks"]["blobs"]["status"]) == (503, "failed")


async def test_ready_reports_a_data_directory_that_is_gone(api: RunningApi) -> None:
    api.settings.server.data_dir.rename(api.settings.server.data_dir.with_name("elsewhere"))
    answer = await api.anonymous.get("/health/ready")
    assert (answer.status_code, answer.json()["checks"]["disk"]["status"]) == (503, "failed")


async def test_ready_writes_nothing(api: RunningApi) -> None:
    def written() -> dict[Path, int]:
        return {path: path.stat().st_mtime_ns for path in api.settings.server.data_dir.rglob("*")}

    before = written()
    assert (await api.anonymous.get("/health/ready")).json()["checks"]["blobs"]["status"] == "ok"
    assert written() == before
    assert before
