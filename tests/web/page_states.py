"""Every page in every state worth checking.

Add a line for each new page or dialog: it is then checked by axe and for its width, and photographed.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from playwright.sync_api import Page

from tests.web.demo_content import KB, NAMES, SHARED_EMAIL, SHARED_PASSWORD, DemoContent

Who = Literal["owner", "viewer", "admin", "newcomer"]


@dataclass(frozen=True)
class PageState:
    name: str
    path: Callable[[DemoContent], str] | str
    heading: str
    """Visible when the page has loaded its content."""
    who: Who | None = "owner"
    act: Callable[[Page], object] | None = None
    """What the user does then, such as opening a menu or dialog."""

    def path_in(self, demo: DemoContent) -> str:
        return self.path if isinstance(self.path, str) else self.path(demo)


def choose(button: str, item: str) -> Callable[[Page], None]:
    """Choose an item of the menu behind a button."""

    def act(page: Page) -> None:
        page.get_by_role("button", name=button).click()
        page.get_by_role("menuitem", name=item).click()
        page.get_by_role("dialog").wait_for()

    return act


def press(button: str) -> Callable[[Page], None]:
    """Press a button that opens a dialog."""

    def act(page: Page) -> None:
        page.get_by_role("button", name=button).click()
        page.get_by_role("dialog").wait_for()

    return act


def keys(page: Page) -> None:
    page.keyboard.press("?")
    page.get_by_role("dialog").wait_for()


def sign_in_to_several(page: Page) -> None:
    page.get_by_label("Email").fill(SHARED_EMAIL)
    page.get_by_label("Password", exact=True).fill(SHARED_PASSWORD)
    page.get_by_role("button", name="Sign in").click()
    page.get_by_label("Organization").wait_for()


def document(demo: DemoContent) -> str:
    return f"/document?kb={demo.kb_id}&id={demo.document_ids[0]}"


EVERY_PAGE: list[PageState] = [
    PageState("sign-in", "/sign-in", "Sign in", who=None),
    PageState("sign-in-organizations", "/sign-in", "Sign in", who=None, act=sign_in_to_several),
    PageState("not-found", "/no-such-page", "Page not found", who=None),
    PageState("welcome", "/", "Welcome to Muniment", who="newcomer"),
    PageState("knowledge-bases", "/", "Knowledge bases"),
    PageState("knowledge-bases-new", "/?new=1", "New knowledge base"),
    PageState("members", "/?all=1", "Knowledge bases", act=choose(f"Actions for {KB}", "Members…")),
    PageState("members-viewer", "/?all=1", "Knowledge bases", who="viewer", act=choose(f"Actions for {KB}", "Members")),
    PageState("settings", "/?all=1", "Knowledge bases", act=choose(f"Actions for {KB}", "Settings…")),
    PageState("remove", "/?all=1", "Knowledge bases", act=choose(f"Actions for {KB}", "Delete…")),
    PageState("account", "/account", "Account"),
    PageState("token", "/account", "Account", act=press("New token…")),
    PageState("keys", "/account", "Account", act=keys),
    PageState("documents", lambda demo: f"/kb?id={demo.kb_id}", KB),
    PageState("documents-viewer", lambda demo: f"/kb?id={demo.kb_id}", KB, who="viewer"),
    PageState("document", document, NAMES[0].split()[0]),
    PageState("document-find", lambda demo: f"{document(demo)}&find=rent", NAMES[0].split()[0]),
    PageState("document-notes", lambda demo: f"{document(demo)}&tab=notes", NAMES[0].split()[0]),
    PageState("search", "/search", "Search"),
    PageState("search-found", "/search?q=when+is+the+rent+due", "Search"),
    PageState("search-filtered", "/search?q=rent+due&type=other&format=text&from=2026-01-01&sort=date", "Search"),
    PageState("search-no-match", "/search?q=rent+due&type=invoice&format=mail", "Search"),
    PageState("search-save", "/search?q=rent+due", "Search", act=choose("Saved searches", "Save this search…")),
    PageState("archive", "/archive", "Archive"),
    PageState("audit", "/audit", "Audit log"),
    PageState("people", "/people", "Users", who="admin"),
    PageState("operations", "/operations", "System", who="admin"),
    PageState("receipts", "/archive?receipts=1", "Receipts"),
    PageState("archive-no-match", "/archive?q=nothing+of+this+name", "Archive"),
    PageState("archive-purge", "/archive", "Archive", act=choose(f"Actions for {NAMES[-1]}", "Purge…")),
    PageState("organizations", "/people?tab=organizations", "Users", who="admin"),
    PageState("person-new", "/people", "Users", who="admin", act=press("Add user")),
]
