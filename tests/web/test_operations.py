"""Operator pages: health, the last day of the queue, dead letters."""

import re

import pytest
from playwright.sync_api import expect

from tests.web.archived_documents import add_dead_letter
from tests.web.demo_organization import DemoOrganization, new_kb, upload, wait_until_final
from tests.web.windows import Windows

pytestmark = pytest.mark.slow

PARTS = ("Database", "File storage", "Search index", "Paperless queue", "Workers", "Disk space")


def test_every_part_tells_how_it_is_and_the_chart_can_be_read_as_a_table(
    office: DemoOrganization, windows: Windows
) -> None:
    operator = office.add_person("operator", is_operator=True, is_admin=True)
    kb_id = new_kb(operator)
    same = b"The same contents twice are read once."
    wait_until_final(operator, kb_id, [upload(operator, kb_id, "One.txt", same)])
    wait_until_final(operator, kb_id, [upload(operator, kb_id, "Two.txt", same)])
    window = windows.open(operator)
    page = window.page
    page.goto("/operations")
    health = page.get_by_role("list", name="System health")
    for part in PARTS:
        expect(health.get_by_role("listitem").filter(has_text=part)).to_contain_text("Healthy")
    expect(health.get_by_text(re.compile(r"PostgreSQL \d+"))).to_be_visible()
    expect(page.get_by_text(re.compile(r"Checked at \d\d:\d\d:\d\d"))).to_be_visible()

    chart = page.get_by_role("region", name="Documents per hour", exact=True).first
    finding = chart.get_by_role("img").locator("title").text_content() or ""
    assert re.match(r"\d+\sdocuments processed and \d+ failed in the last 24 hours\. Peak: ", finding), finding
    window.shoot("operations-chart")
    chart.get_by_role("button", name="As table").click()
    hours = chart.locator("tbody tr")
    expect(hours).to_have_count(24)
    read = sum(int(cell) for cell in hours.locator("td:nth-child(2)").all_inner_texts())
    assert f"{read}\u00a0documents processed" in finding

    expect(page.get_by_role("region", name="Saved by reuse").get_by_text("Documents")).to_be_visible()
    usage = page.get_by_role("region", name="Usage").locator("dd")
    expect(usage).to_have_text(["76\u00a0B", "2", "0"])
    usage.first.scroll_into_view_if_needed()
    window.shoot("operations-usage")


def test_dead_letters_go_back_into_the_queue_or_away(office: DemoOrganization, windows: Windows) -> None:
    operator = office.add_person("operator", is_operator=True)
    letters = [
        add_dead_letter(office.muniment, operator, office.organization_id, error)
        for error in ("Paperless answered 413: file too large", "Read-back differs from the original")
    ]
    window = windows.open(operator, height=1200)
    page = window.page
    page.goto("/operations")
    region = page.get_by_role("region", name="Dead-letter queue")
    large, differs = (region.get_by_role("row").filter(has=page.get_by_title(one)) for one in letters)
    expect(large).to_contain_text("Paperless answered 413: file too large")
    expect(large.get_by_role("cell").nth(3)).to_have_text("5")  # attempts
    window.shoot("operations")

    large.get_by_role("button", name=re.compile("^Requeue")).click()
    expect(large).to_have_count(0)
    waiting = (
        page.get_by_role("region", name="Paperless queue").get_by_role("row").filter(has=page.get_by_title(letters[0]))
    )
    expect(waiting.get_by_role("cell").nth(3)).to_have_text("0")  # attempts

    differs.get_by_role("button", name=re.compile("^Discard")).click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("This cannot be undone.")
    expect(dialog.get_by_role("button", name="Cancel")).to_be_focused()
    window.shoot("operations-discard")
    dialog.get_by_role("button", name="Cancel").click()
    expect(differs).to_be_visible()
    differs.get_by_role("button", name=re.compile("^Discard")).click()
    dialog.get_by_role("button", name="Discard").click()
    expect(dialog).to_have_count(0)
    expect(differs).to_have_count(0)
    keys = [one["document_id"] for one in operator.api.get("/api/v1/archive/dead-letters").json()["items"]]
    assert not set(letters) & set(keys)


def test_a_dead_letter_handled_by_another_operator_says_so(office: DemoOrganization, windows: Windows) -> None:
    operator = office.add_person("operator", is_operator=True)
    letter = add_dead_letter(office.muniment, operator, office.organization_id, "Paperless is away")
    page = windows.open(operator).page
    page.goto("/operations")
    region = page.get_by_role("region", name="Dead-letter queue")
    line = region.get_by_role("row").filter(has=page.get_by_title(letter))
    expect(line).to_be_visible()
    listed = operator.api.get("/api/v1/archive/dead-letters", params={"limit": 100}).json()["items"]
    [key] = [one["key"] for one in listed if one["document_id"] == letter]
    assert operator.api.delete(f"/api/v1/archive/dead-letters/{key}").status_code == 204
    line.get_by_role("button", name=re.compile("^Requeue")).click()
    expect(region.get_by_role("alert")).to_contain_text("Dead letter not found")
    expect(line).to_have_count(0)
