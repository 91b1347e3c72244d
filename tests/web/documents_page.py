"""The documents page as a person handles it, for the journeys: rows, menus, drops out of the file manager."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Browser, Locator, Page, expect

from tests.support.running_server import wait_until
from tests.web.demo_organization import SignedInPerson, upload
from tests.web.windows import Windows

PATIENCE_MS = 60_000
"""For what is being read in the background, on a machine that does other things besides."""

BROKEN_PDF = b"%PDF-1.7\nthis is no page tree"
LONG = "".join(f"Paragraph {n}: tenant {n * 7919 % 10007} pays {n} kroner.\n\n" for n in range(3000)).encode()
"""Enough to be read for longer than a test takes."""


def open_kb(page: Page, kb_id: str, query: str = "") -> None:
    page.goto(f"/kb?id={kb_id}{query}")
    expect(page.get_by_role("heading", level=1)).to_be_visible()


def row(page: Page, name: str) -> Locator:
    """By the whole name, which a narrow column cuts in the middle."""
    return page.locator("tbody tr").filter(has=page.locator(f'bdi[title="{name}"]'))


def names(page: Page) -> list[str]:
    return [str(bdi.get_attribute("title")) for bdi in page.locator("tbody tr [data-cell=name] bdi").all()]


def open_menu(page: Page, name: str) -> Locator:
    page.get_by_role("button", name=f"Actions for {name}", exact=True).click()
    menu = page.get_by_role("menu")
    expect(menu).to_be_visible()
    return menu


def choose(page: Page, name: str, item: str) -> None:
    open_menu(page, name).get_by_role("menuitem", name=item).click()


def tray(page: Page) -> Locator:
    return page.get_by_role("region", name="Uploads")


def line(page: Page, name: str) -> Locator:
    """Of the tray."""
    return tray(page).locator("li").filter(has=page.locator(f'bdi[title="{name}"]'))


def pick_files(page: Page, files: Sequence[Path], *, kind: str = "files") -> None:
    """As with the system's own window; `kind` is `files`, `folder` or `replacement`."""
    page.locator(f"input[data-upload={kind}]").set_input_files([str(file) for file in files])


def drop(page: Page, *paths: Path, release: bool = True) -> None:
    """From the file manager: real files and folders, through the browser's own drag and drop."""
    session = page.context.new_cdp_session(page)
    size = page.viewport_size
    assert size is not None
    middle = {"x": size["width"] / 2, "y": size["height"] / 2}
    data = {"items": [], "files": [str(path) for path in paths], "dragOperationsMask": 1}
    for kind in ("dragEnter", "dragOver", *(["drop"] if release else [])):
        session.send("Input.dispatchDragEvent", {"type": kind, **middle, "data": data})


@contextmanager
def being_read(person: SignedInPerson, kb_id: str, name: str) -> Iterator[str]:
    """A document that is in the middle of its reading for as long as the block lasts."""
    document_id = upload(person, kb_id, name, LONG)
    url = f"/api/v1/knowledge-bases/{kb_id}/documents/{document_id}"
    wait_until(lambda: person.api.get(url).json()["status"] == "processing")
    yield document_id
    person.api.post(f"{url}/cancel")


@contextmanager
def windows_at(browser: Browser, url: str) -> Iterator[Windows]:
    """Of another server than that of the fixtures."""
    windows = Windows(browser, url)
    yield windows
    assert windows.close() == []
