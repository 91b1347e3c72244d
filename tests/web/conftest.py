"""Fixtures for browser tests: one real server with database and worker, Chromium, and an organization for each test."""

import asyncio
import os
import shutil
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest
from playwright.sync_api import Browser, expect, sync_playwright

from tests.support.run_folder import RunFolder
from tests.support.running_server import RunningServer, start_shared_server
from tests.web.demo_organization import DemoOrganization, create_demo_organization, new_client
from tests.web.windows import Windows

# Long enough for a busy machine; no test measures time.
PATIENCE_MS = 60_000
expect.set_options(timeout=PATIENCE_MS)

# The headless shell is the same browser without features that no test uses.
HEADLESS_SHELL = "chromium-headless-shell"
CHROMIUM = ("chromium", "chromium-browser", "google-chrome")
# MUNIMENT_TEST_HEADED=1 shows the browser and slows it down, so that you can follow the test.
IS_HEADED = os.environ.get("MUNIMENT_TEST_HEADED", "") not in ("", "0")
HEADED_STEP_MS = 300


@pytest.fixture(scope="session")
def muniment(run_folder: RunFolder, prepared_data_dir: Path) -> RunningServer:
    """One server for the whole run. Each test has its own organization in it."""
    shared = run_folder.make_once("serve", lambda folder: start_shared_server(folder, prepared_data_dir))
    return RunningServer(Path(shared["folder"]), MUNIMENT_PORT=shared["port"])


@pytest.fixture(scope="session")
def operator(muniment: RunningServer) -> Iterator[httpx.Client]:
    """Client of the first account, which creates organizations."""
    client = new_client(muniment)
    yield client
    client.close()


@pytest.fixture(scope="session")
def shared_browser() -> Iterator[tuple[Browser, asyncio.AbstractEventLoop]]:
    """One browser for all modules, and the event loop that Playwright leaves running in this thread."""
    programs = CHROMIUM if IS_HEADED else (HEADLESS_SHELL, *CHROMIUM)
    program = next(filter(None, map(shutil.which, programs)), None)
    assert program, f"The browser tests need one of {', '.join(programs)}. Install it: `sudo apt-get install chromium`"
    # Chromium's sandbox requires a user who is not root.
    arguments = ["--no-sandbox"] if os.geteuid() == 0 else []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=program, args=arguments, headless=not IS_HEADED, slow_mo=HEADED_STEP_MS if IS_HEADED else 0
        )
        with _put_aside(asyncio.get_running_loop()) as loop:
            yield browser, loop
        browser.close()


@pytest.fixture(scope="module")
def browser(shared_browser: tuple[Browser, asyncio.AbstractEventLoop]) -> Iterator[Browser]:
    """The browser, for one module at a time: while its event loop is set in this thread, no async test can run."""
    browser, loop = shared_browser
    asyncio._set_running_loop(loop)
    yield browser
    asyncio._set_running_loop(None)


@contextmanager
def _put_aside(loop: asyncio.AbstractEventLoop) -> Iterator[asyncio.AbstractEventLoop]:
    """Let other event loops run in this thread. The browser's loop runs only during calls of its API."""
    asyncio._set_running_loop(None)
    yield loop
    asyncio._set_running_loop(loop)


@pytest.fixture
def office(muniment: RunningServer, operator: httpx.Client) -> Iterator[DemoOrganization]:
    office = create_demo_organization(muniment, operator)
    yield office
    office.close()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Extend the time limit: a browser test has many steps, each with its own timeout."""
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.timeout(600))


HAS_FAILED = pytest.StashKey[bool]()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    item.stash[HAS_FAILED] = item.stash.get(HAS_FAILED, False) or report.failed
    return report


@pytest.fixture
def windows(request: pytest.FixtureRequest, browser: Browser, muniment: RunningServer) -> Iterator[Windows]:
    """Open browser windows. Fails if a page wrote an error to its console."""
    windows = Windows(browser, muniment.url)
    yield windows
    has_failed = request.node.stash.get(HAS_FAILED, False)
    if has_failed:
        windows.shoot(f"failed-{request.node.name}")
    complaints = windows.close()
    assert has_failed or complaints == []
