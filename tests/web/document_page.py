"""Actions on the document page."""

import re
from urllib.parse import urlencode

from playwright.sync_api import Locator, Page, expect

from tests.web.demo_organization import SignedInPerson, upload, wait_until_final

PATIENCE_MS = 30_000


def read(person: SignedInPerson, kb_id: str, name: str, content: bytes) -> str:
    """Upload a document and wait until it can be viewed."""
    document_id = upload(person, kb_id, name, content)
    (document,) = wait_until_final(person, kb_id, [document_id])
    assert document["status"] == "completed", document["last_error"]
    return document_id


def address(kb_id: str, document_id: str, /, **query: str | int) -> str:
    return f"/document?{urlencode({'kb': kb_id, 'id': document_id, **query})}"


def open_document(page: Page, kb_id: str, document_id: str, /, **query: str | int) -> None:
    page.goto(address(kb_id, document_id, **query))
    expect(page.get_by_role("heading", level=1)).to_be_visible(timeout=PATIENCE_MS)


def text(page: Page) -> Locator:
    return page.get_by_role("region", name="Text", exact=True)


def pages(page: Page) -> Locator:
    return page.get_by_role("region", name="Pages", exact=True)


def find_field(page: Page) -> Locator:
    return page.get_by_role("searchbox", name="Find in this document")


def page_field(page: Page) -> Locator:
    return page.get_by_role("textbox", name=re.compile("^Page of "))


def expect_page(page: Page, number: int) -> None:
    expect(page_field(page)).to_have_value(str(number))
    expect(page.get_by_role("heading", name=f"Text of page {number}", exact=True)).to_be_visible()


def is_in_view(inner: Locator, outer: Locator) -> bool:
    """Return whether the element is completely visible in the pane."""
    one, other = inner.bounding_box(), outer.bounding_box()
    assert one
    assert other
    return other["y"] <= one["y"] and one["y"] + one["height"] <= other["y"] + other["height"]
