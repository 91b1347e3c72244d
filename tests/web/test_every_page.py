"""Every page is accessible: axe finds nothing serious, and nothing is wider than the screen. Each is photographed."""

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import httpx
import pytest
from playwright.sync_api import Page, expect
from playwright.sync_api import TimeoutError as PlaywrightTimeout

from tests.support.running_server import RunningServer
from tests.web.demo_content import DemoContent, create_demo_content
from tests.web.page_states import EVERY_PAGE, PageState
from tests.web.windows import Theme, Window, Windows

pytestmark = pytest.mark.slow

WIDE, NARROW = 1280, 390
WIDTHS = (1280, 1024, 768, 390, 360)
THEMES: tuple[Theme, ...] = ("light", "dark")
ALSO_BY_THUMB = ("documents", "document", "search-found", "members", "archive")
"""Pages checked by axe on a phone, too: together they have all elements of narrow screens."""
AXE = Path(__file__).parents[2] / "web/node_modules/axe-core/axe.min.js"
SERIOUS = ("serious", "critical")


@pytest.fixture(scope="module")
def demo(muniment: RunningServer, operator: httpx.Client) -> Iterator[DemoContent]:
    demo = create_demo_content(muniment, operator)
    yield demo
    demo.office.close()


FITS = "() => [...document.querySelectorAll('html, main')].every((each) => each.scrollWidth <= each.clientWidth)"


@pytest.mark.parametrize("shown", EVERY_PAGE, ids=lambda shown: shown.name)
def test_every_page_is_accessible_and_fits(shown: PageState, demo: DemoContent, windows: Windows) -> None:
    window = opened(shown, demo, windows, width=WIDE)
    for theme in THEMES:
        window.page.emulate_media(color_scheme=theme)
        expect(window.page.locator("html")).to_have_attribute("data-theme", theme)
        window.shoot(f"{shown.name}-wide-{theme}")
        assert violations(window.page) == [], theme
    for width in WIDTHS:
        window.page.set_viewport_size({"width": width, "height": 800})
        with suppress(PlaywrightTimeout):  # charts adapt a moment later; elements that stay too wide are reported below
            window.page.wait_for_function(FITS, timeout=5000)
        assert too_wide(window.page) == [], f"at {width}"


@pytest.mark.parametrize(
    "shown", [shown for shown in EVERY_PAGE if shown.name in ALSO_BY_THUMB], ids=lambda shown: shown.name
)
def test_a_page_on_a_phone_is_accessible_and_fits(shown: PageState, demo: DemoContent, windows: Windows) -> None:
    window = opened(shown, demo, windows, width=NARROW)
    window.shoot(f"{shown.name}-narrow-light")
    assert violations(window.page) == []
    assert too_wide(window.page) == []


def opened(shown: PageState, demo: DemoContent, windows: Windows, *, width: int) -> Window:
    person = getattr(demo, shown.who) if shown.who else None
    window = windows.open(person, width=width, touch=width < 768)
    page = window.page
    page.goto(shown.path_in(demo))
    expect(page.get_by_role("heading", name=shown.heading).first).to_be_attached()
    expect(page.locator("[aria-busy=true]")).to_have_count(0)
    if shown.act:
        shown.act(page)
    return window


def violations(page: Page) -> list[str]:
    """Return the serious violations that axe finds: rule, description and element."""
    if not page.evaluate("'axe' in window"):
        page.evaluate(AXE.read_text(encoding="utf-8"))
    result: dict[str, Any] = page.evaluate("axe.run(document, {resultTypes: ['violations']})")
    return [
        f"{found['id']}: {node['html'][:160]} {node['failureSummary']}"
        for found in result["violations"]
        if found["impact"] in SERIOUS
        for node in found["nodes"]
    ]


def too_wide(page: Page) -> list[str]:
    """Return the elements that make the page or its sheet scroll horizontally."""
    found: list[str] = page.evaluate(
        """() => {
            const frames = [document.documentElement, ...document.querySelectorAll("main")];
            const wide = frames.filter((frame) => frame.scrollWidth > frame.clientWidth + 1);
            return wide.flatMap((frame) => [
                `${frame.tagName} scrolls to ${frame.scrollWidth} of ${frame.clientWidth}`,
                ...[...frame.querySelectorAll("*")]
                    .filter((inside) => inside.getBoundingClientRect().right > frame.getBoundingClientRect().right + 1)
                    .map((inside) => inside.outerHTML.slice(0, 160)),
            ]);
        }"""
    )
    return found
