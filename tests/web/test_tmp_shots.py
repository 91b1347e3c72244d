import pytest
from playwright.sync_api import expect
from tests.web.demo_content import create_demo_content
pytestmark = pytest.mark.slow
def test_shots(muniment, operator, windows):
    demo = create_demo_content(muniment, operator)
    for name in ("Rent reminders", "Deadlines 2026"):
        demo.owner.api.post("/api/v1/saved-searches", json={"name": name, "parameters": {"q": "rent due", "format": ["text"]}})
    sid = demo.owner.api.get("/api/v1/saved-searches").json()["items"][0]["id"]
    for theme in ("light", "dark"):
        w = windows.open(demo.owner, width=390, height=800, theme=theme, touch=True)
        p = w.page
        p.goto("/search?q=rent+due&format=text&from=2026-01-01")
        expect(p.locator("[data-hit]").first).to_be_visible()
        p.get_by_role("button", name="Filters (2)").tap()
        p.get_by_role("dialog").wait_for()
        w.shoot(f"tmp-sheet-{theme}")
        p.get_by_role("button", name="Added").first.tap()
        w.shoot(f"tmp-sheet-date-{theme}")
        p.get_by_role("button", name="Added").first.tap()
        p.get_by_role("button", name="Type Any").tap()
        p.get_by_role("menu").wait_for()
        w.shoot(f"tmp-sheet-menu-{theme}")
        p.get_by_role("menuitemcheckbox", name="Other").tap()
        w.shoot(f"tmp-sheet-menu2-{theme}")
        p.keyboard.press("Escape")
        expect(p.get_by_role("dialog")).to_be_visible()
        p.get_by_role("button", name="Show results").tap()
        w = windows.open(demo.owner, width=1280, theme=theme)
        p = w.page
        p.goto(f"/search?q=rent+due&format=text&saved={sid}&sort=date&mode=hybrid")
        expect(p.locator("[data-hit]").first).to_be_visible()
        p.get_by_role("button", name="Saved search").click()
        p.get_by_role("menu").wait_for()
        w.shoot(f"tmp-saved-{theme}")
        w = windows.open(demo.owner, width=1440, theme=theme)
        p = w.page
        p.goto(f"/search?q=rent+due&format=text&saved={sid}")
        expect(p.locator("[data-hit]").first).to_be_visible()
        w.shoot(f"tmp-1440-{theme}")
