"""Every page in every state worth a look. Whoever adds a page or a dialog adds a line here: it is then checked by axe,
for its width, and photographed."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from playwright.sync_api import Page

from tests.web.demo_content import KB, NAMES, Scene

Who = Literal["owner", "viewer", "boss", "newcomer"]


@dataclass(frozen=True)
class Shown:
    name: str
    path: Callable[[Scene], str] | str
    heading: str
    """Visible when the page has what it shows."""
    who: Who | None = "owner"
    act: Callable[[Page], object] | None = None
    """What a person does then: opens a menu, a dialog."""

    def path_in(self, scene: Scene) -> str:
        return self.path if isinstance(self.path, str) else self.path(scene)


def choose(button: str, item: str) -> Callable[[Page], None]:
    """From the menu behind a button."""

    def act(page: Page) -> None:
        page.get_by_role("button", name=button).click()
        page.get_by_role("menuitem", name=item).click()
        page.get_by_role("dialog").wait_for()

    return act


def press(button: str) -> Callable[[Page], None]:
    """A button that opens a dialog."""

    def act(page: Page) -> None:
        page.get_by_role("button", name=button).click()
        page.get_by_role("dialog").wait_for()

    return act


def keys(page: Page) -> None:
    page.keyboard.press("?")
    page.get_by_role("dialog").wait_for()


def document(scene: Scene) -> str:
    return f"/document?kb={scene.kb_id}&id={scene.document_ids[0]}"


EVERY_PAGE: list[Shown] = [
    Shown("sign-in", "/sign-in", "Sign in", who=None),
    Shown("not-found", "/no-such-page", "Page not found", who=None),
    Shown("welcome", "/", "Welcome to Muniment", who="newcomer"),
    Shown("knowledge-bases", "/", "Knowledge bases"),
    Shown("knowledge-bases-new", "/?new=1", "New knowledge base"),
    Shown("members", "/?all=1", "Knowledge bases", act=choose(f"Actions for {KB}", "Members…")),
    Shown("members-viewer", "/?all=1", "Knowledge bases", who="viewer", act=choose(f"Actions for {KB}", "Members")),
    Shown("settings", "/?all=1", "Knowledge bases", act=choose(f"Actions for {KB}", "Settings…")),
    Shown("remove", "/?all=1", "Knowledge bases", act=choose(f"Actions for {KB}", "Delete…")),
    Shown("account", "/account", "Account"),
    Shown("token", "/account", "Account", act=press("New token…")),
    Shown("keys", "/account", "Account", act=keys),
    Shown("documents", lambda scene: f"/kb?id={scene.kb_id}", KB),
    Shown("documents-viewer", lambda scene: f"/kb?id={scene.kb_id}", KB, who="viewer"),
    Shown("document", document, NAMES[0].split()[0]),
    Shown("document-find", lambda scene: f"{document(scene)}&find=rent", NAMES[0].split()[0]),
    Shown("document-notes", lambda scene: f"{document(scene)}&tab=notes", NAMES[0].split()[0]),
    Shown("search", "/search", "Search"),
    Shown("search-found", "/search?q=when+is+the+rent+due", "Search"),
    Shown("archive", "/archive", "Archive"),
    Shown("audit", "/audit", "Audit log"),
    Shown("people", "/people", "Users", who="boss"),
    Shown("operations", "/operations", "System", who="boss"),
    Shown("receipts", "/archive?receipts=1", "Receipts"),
    Shown("archive-no-match", "/archive?q=nothing+of+this+name", "Archive"),
    Shown("archive-purge", "/archive", "Archive", act=choose(f"Actions for {NAMES[-1]}", "Purge…")),
    Shown("organizations", "/people?tab=organizations", "Users", who="boss"),
    Shown("person-new", "/people", "Users", who="boss", act=press("Add user")),
]
