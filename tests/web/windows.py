"""Browser windows of users, which record errors and policy violations of the pages."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page

from tests.web.demo_organization import SignedInPerson

SCREENSHOTS = Path(__file__).parents[2] / ".screenshots"
Theme = Literal["light", "dark"]

# The browser logs every unsuccessful response. Tests check those by what the page shows.
EXPECTED = ("Failed to load resource",)


@dataclass
class Window:
    """One user's browser with its own cookies, storage and size."""

    context: BrowserContext
    page: Page
    complaints: list[str] = field(default_factory=list)

    def shoot(self, name: str) -> None:
        SCREENSHOTS.mkdir(exist_ok=True)
        self.page.screenshot(path=SCREENSHOTS / f"{name}.png")

    def _note(self, message: ConsoleMessage) -> None:
        if message.type == "error" and not message.text.startswith(EXPECTED):
            self.complaints.append(message.text)


class Windows:
    """Opens windows and closes all of them at the end."""

    def __init__(self, browser: Browser, base_url: str) -> None:
        self._browser = browser
        self._base_url = base_url
        self._open: list[Window] = []

    def open(
        self,
        person: SignedInPerson | None = None,
        *,
        width: int = 1280,
        height: int = 900,
        theme: Theme = "light",
        touch: bool = False,
    ) -> Window:
        """Open a window, signed in if a user is given. The time zone is always Oslo."""
        context = self._browser.new_context(
            base_url=self._base_url,
            viewport={"width": width, "height": height},
            color_scheme=theme,
            has_touch=touch,
            locale="en-GB",
            timezone_id="Europe/Oslo",
            reduced_motion="reduce",
        )
        context.set_default_timeout(60_000)
        if person:  # with their existing session: a password check takes a tenth of a second
            name, secret = person.session
            context.add_cookies([{"name": name, "value": secret, "url": self._base_url}])
        window = Window(context, context.new_page())
        window.page.on("console", window._note)
        window.page.on("pageerror", lambda error: window.complaints.append(str(error)))
        self._open.append(window)
        return window

    def shoot(self, name: str) -> None:
        """Take a screenshot of every open window of a failed test."""
        for number, window in enumerate(self._open, start=1):
            window.shoot(f"{name}-{number}")

    def close(self) -> list[str]:
        """Close all windows. Return the errors of their pages."""
        for window in self._open:
            window.context.close()
        return [complaint for window in self._open for complaint in window.complaints]
