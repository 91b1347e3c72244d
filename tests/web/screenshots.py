"""Take the README's screenshots of a real installation: `python -m tests.web.screenshots` writes them to
`docs/pictures`."""

import os
import shutil
from collections.abc import Sequence
from pathlib import Path

import httpx
from playwright.sync_api import Page, expect, sync_playwright

from tests.support.folders import shared_folder
from tests.support.running_server import EMAIL, PASSWORD, RunningServer
from tests.web.archived_documents import choose, move
from tests.web.conftest import CHROMIUM, HEADLESS_SHELL
from tests.web.demo_organization import SignedInPerson, new_client, new_kb, upload, wait_until_final
from tests.web.documents_page import BROKEN_PDF, drop, long_scan, open_kb, row
from tests.web.sample_pdfs import agreement_pdf, letter_pdf
from tests.web.windows import Theme, Windows

PICTURES = Path(__file__).parents[2] / "docs" / "pictures"
OTHERS = ("Board minutes", "Buildings and energy", "Care plans", "Quality handbook")
SUPPLY = "Supply agreement Helseglass.pdf"
LETTERS = {
    "Lease Havnegata 12.pdf": "The tenant pays the rent on the third working day of each month.",
    "Invoice 2026-1041.pdf": "Payable within thirty days without deduction. Late payment bears interest.",
    "Invoice 2026-1042.pdf": "Payable within fourteen days. Delivery of devices on loan, lifts included.",
    "Electricity contract 2027.pdf": "The price holds for twelve months. Notice is given to the end of a quarter.",
    "Cleaning, offer of spring.pdf": "Offices are cleaned on working days, windows once in a quarter.",
    "Insurance policy.pdf": "Damage is reported in writing within a week. The period of cover is one year.",
}
# Page images appear a moment later than the rest of the page.
DRAWN = """
    () => [...document.images].every((image) => {
        const { top, bottom } = image.getBoundingClientRect();
        return image.naturalWidth > 0 || bottom < 0 || top > innerHeight;
    }) && document.fonts.status === "loaded"
"""
OLD = ("Lease Storgata 3.pdf", "Invoice 2025-0871.pdf", "Maintenance of the lift.pdf")


def furnish(person: SignedInPerson) -> tuple[str, str]:
    """Return the knowledge base, and the document with many pages."""
    for name in OTHERS:
        new_kb(person, name)
    kb_id = new_kb(person)
    old = [bring(person, kb_id, name, letter_pdf(f"{name}: of former years.")) for name in OLD]
    new = [bring(person, kb_id, name, letter_pdf(text)) for name, text in LETTERS.items()]
    supply = bring(person, kb_id, SUPPLY, agreement_pdf())
    wait_until_final(
        person, kb_id, [*old, *new, supply, upload(person, kb_id, "Delivery note, scanned.pdf", BROKEN_PDF)]
    )
    for document_id in old:
        move(person, kb_id, document_id, "archive")
    return kb_id, supply


def bring(person: SignedInPerson, kb_id: str, name: str, content: bytes) -> str:
    """Upload with the media type of the file name."""
    told = {"Invoice": "invoice", "Lease": "contract", "Electricity": "contract", "Supply": "contract"}
    kind = told.get(name.split()[0], "other")
    answer = person.api.post(
        f"/api/v1/knowledge-bases/{kb_id}/documents", files={"file": (name, content)}, data={"document_type": kind}
    )
    assert answer.status_code == 201, answer.text
    return str(answer.json()["id"])


def shoot(page: Page, name: str) -> None:
    page.wait_for_function(DRAWN)
    page.screenshot(path=PICTURES / f"{name}.png")


def documents(page: Page, kb_id: str, folder: Path) -> None:
    file = folder / "Minutes of all years.txt"
    file.write_bytes(long_scan())
    open_kb(page, kb_id)
    drop(page, file)
    expect(page.get_by_role("region", name="Uploads")).to_contain_text("Minutes of all years")
    expect(row(page, file.name)).to_be_visible()
    shoot(page, "documents")


def duplicate(page: Page, kb_id: str, folder: Path) -> None:
    file = folder / "Lease Havnegata 12.pdf"
    file.write_bytes(letter_pdf(*["The tenant pays the rent on the first working day of each month."] * 40))
    open_kb(page, kb_id)
    drop(page, file)
    expect(page.get_by_role("dialog")).to_be_visible()
    shoot(page, "duplicate")


def search(page: Page) -> None:
    page.goto("/search?q=how+long+is+the+notice+period")
    expect(page.get_by_role("complementary", name="Preview").locator("img").first).to_be_visible()
    shoot(page, "search")


def document(page: Page, kb_id: str, document_id: str, name: str) -> None:
    page.goto(f"/document?kb={kb_id}&id={document_id}&find=notice+period&page=2")
    expect(page.locator("[data-page='2'] .on-paper[data-kind=mark]").first).to_be_visible()
    shoot(page, name)


def purge(page: Page) -> None:
    page.goto("/archive")
    choose(page, OLD[0], "Purge…")
    page.get_by_role("button", name="Continue").click()
    page.get_by_label("Type DELETE to confirm").fill("DELETE")
    shoot(page, "purge")


def operations(page: Page) -> None:
    page.goto("/operations")
    expect(page.get_by_text("The queue is empty")).to_be_visible()
    expect(page.get_by_text("PostgreSQL 1")).to_be_visible()
    expect(page.get_by_text("its results are reused")).to_be_visible()
    shoot(page, "system")


def person_of(client: httpx.Client) -> SignedInPerson:
    return SignedInPerson(client.get("/api/v1/auth/me").json()["id"], EMAIL, PASSWORD, client)


def photograph(muniment: RunningServer, folder: Path, arguments: Sequence[str]) -> None:
    person = person_of(new_client(muniment))
    kb_id, supply = furnish(person)
    program = next(filter(None, map(shutil.which, (HEADLESS_SHELL, *CHROMIUM))))
    with (
        sync_playwright() as playwright,
        playwright.chromium.launch(executable_path=program, args=[*arguments]) as browser,
    ):
        windows = Windows(browser, muniment.url)

        def new_page(width: int = 1280, height: int = 800, theme: Theme = "light") -> Page:
            return windows.open(person, width=width, height=height, theme=theme).page

        duplicate(new_page(), kb_id, folder)
        search(new_page())
        document(new_page(theme="dark"), kb_id, supply, "document")
        document(new_page(width=360, height=740), kb_id, supply, "document-narrow")
        purge(new_page())
        operations(new_page())
        documents(new_page(), kb_id, folder)  # last, because it keeps the machine busy
        windows.close()


if __name__ == "__main__":
    PICTURES.mkdir(parents=True, exist_ok=True)
    with shared_folder() as place, RunningServer(place) as installation:
        photograph(installation.start(), place, ["--no-sandbox"] if os.geteuid() == 0 else [])
