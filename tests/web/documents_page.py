"""Actions on the documents page: rows, menus, drag and drop."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path

from playwright.sync_api import Browser, Locator, Page, expect
from playwright.sync_api import TimeoutError as PageTimeout

from tests.processing.readers.pdf_files import pdf, picture
from tests.support.running_server import wait_until
from tests.web.demo_organization import SignedInPerson, upload
from tests.web.windows import Windows

PATIENCE_MS = 60_000
"""Timeout for processing in the background on a busy machine."""

DROP_ATTEMPTS = 3

BROKEN_PDF = b"%PDF-1.7\nthis is no page tree"


@cache
def long_scan() -> bytes:
    """Return a file that takes longer to process than a test: each page needs OCR."""
    return pdf(*(picture(f"Page {number} of a long agreement") for number in range(1, 61)))


def open_kb(page: Page, kb_id: str, query: str = "") -> None:
    page.goto(f"/kb?id={kb_id}{query}")
    expect(page.get_by_role("heading", level=1)).to_be_visible()


def row(page: Page, name: str) -> Locator:
    """Return the row with the full name, which a narrow column truncates."""
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
    """Return the line of the upload tray."""
    return tray(page).locator("li").filter(has=page.locator(f'bdi[title="{name}"]'))


def pick_files(page: Page, files: Sequence[Path], *, kind: str = "files") -> None:
    """Pick files in the file dialog; `kind` is `files`, `folder` or `replacement`."""
    page.locator(f"input[data-upload={kind}]").set_input_files([str(file) for file in files])


def drop(page: Page, *paths: Path, release: bool = True) -> None:
    """Drop real files and folders with the browser's own drag and drop.

    A busy browser may release the files before the page has said that it takes them, and then tells the page nothing.
    They are dropped again then, as a person would. A page that refuses them never hears of a drop.
    """
    session = page.context.new_cdp_session(page)
    size = page.viewport_size
    assert size is not None
    middle = {"x": size["width"] / 2, "y": size["height"] / 2}
    data = {"items": [], "files": [str(path) for path in paths], "dragOperationsMask": 1}

    def move(*kinds: str) -> None:
        for kind in kinds:
            session.send("Input.dispatchDragEvent", {"type": kind, **middle, "data": data})
            page.evaluate("() => new Promise(requestAnimationFrame)")

    page.evaluate("""() => {
        window.dropsSeen = 0;
        window.addEventListener("drop", () => { window.dropsSeen += 1 }, { capture: true, once: true });
    }""")
    move("dragEnter", "dragOver", "dragOver")
    for _ in range(DROP_ATTEMPTS if release else 0):
        move("drop")
        with suppress(PageTimeout):
            page.wait_for_function("() => window.dropsSeen > 0", timeout=2_000)
            return
        move("dragEnter", "dragOver", "dragOver")
    if release:
        move("dragCancel")


@contextmanager
def being_read(person: SignedInPerson, kb_id: str, name: str) -> Iterator[str]:
    """Yield a document that is being processed for the duration of the block."""
    document_id = upload(person, kb_id, name, long_scan())
    url = f"/api/v1/knowledge-bases/{kb_id}/documents/{document_id}"
    wait_until(lambda: person.api.get(url).json()["status"] == "processing")
    yield document_id
    person.api.post(f"{url}/cancel")


@contextmanager
def windows_at(browser: Browser, url: str) -> Iterator[Windows]:
    """Open windows of a server other than the shared one."""
    windows = Windows(browser, url)
    yield windows
    assert windows.close() == []
