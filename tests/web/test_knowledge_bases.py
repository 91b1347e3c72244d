import re

import pytest
from playwright.sync_api import Page, expect

from tests.web.demo_organization import DemoOrganization, add_member, new_kb, upload, wait_until_final
from tests.web.windows import Windows

pytestmark = pytest.mark.slow


def menu(page: Page, kb: str, item: str) -> None:
    page.get_by_role("button", name=f"Actions for {kb}").click()
    page.get_by_role("menuitem", name=item).click()


def row(page: Page, kb: str) -> str:
    return page.get_by_role("row").filter(has_text=kb).inner_text()


def test_a_newcomer_is_led_to_their_first_knowledge_base(office: DemoOrganization, windows: Windows) -> None:
    page = windows.open(office.add_person()).page
    page.goto("/")
    expect(page.get_by_role("heading", name="Welcome to Muniment")).to_be_visible()
    expect(page.get_by_role("listitem").filter(has_text="Create a knowledge base")).to_have_attribute(
        "aria-current", "step"
    )
    page.get_by_role("button", name="Create knowledge base").click()
    expect(page.get_by_text("Enter a name.")).to_be_visible()
    page.get_by_label("Name").fill("Contracts")
    page.get_by_role("button", name="Create knowledge base").click()
    expect(page).to_have_url(re.compile(r"/kb\?id="))
    expect(page.get_by_role("navigation", name="Knowledge bases").get_by_text("Contracts")).to_be_visible()
    second = page.get_by_role("listitem").filter(has_text="Upload your first documents")
    expect(second).to_have_attribute("aria-current", "step")
    expect(second.get_by_role("button", name="Choose files")).to_be_visible()


def test_an_owner_manages_a_knowledge_base_from_its_own_page(office: DemoOrganization, windows: Windows) -> None:
    owner, colleague = office.add_person("owner"), office.add_person("colleague")
    kb_id, _ = new_kb(owner, "Contracts"), new_kb(owner, "Minutes")
    page = windows.open(owner).page
    page.goto(f"/kb?id={kb_id}")
    page.get_by_role("button", name="Members").click()
    page.get_by_label("Email address").fill(colleague.email)
    page.get_by_role("button", name="Add").click()
    expect(page.get_by_role("list", name="Members").get_by_text(colleague.email)).to_be_visible()
    page.get_by_role("button", name="Close").click()
    menu(page, "Contracts", "Settings…")
    page.get_by_label("Name").fill("Leases")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("heading", name="Leases")).to_be_visible()
    menu(page, "Leases", "Delete…")
    page.get_by_role("button", name="Delete").click()
    expect(page.get_by_text("Deleted 'Leases'")).to_be_visible()
    expect(page.get_by_role("navigation", name="Knowledge bases").get_by_text("Leases")).to_have_count(0)
    expect(page.get_by_role("navigation", name="Knowledge bases").get_by_text("Minutes")).to_be_visible()


def test_whoever_has_one_goes_straight_to_it_and_can_still_see_the_list(
    office: DemoOrganization, windows: Windows
) -> None:
    owner = office.add_person()
    kb_id = new_kb(owner, "Contracts")
    page = windows.open(owner).page
    page.goto("/")
    expect(page).to_have_url(re.compile(rf"/kb\?id={kb_id}$"))
    page.get_by_role("navigation", name="Knowledge bases").get_by_role("link", name="Knowledge bases").click()
    expect(page.get_by_role("heading", name="Knowledge bases")).to_be_visible()
    page.go_back()
    expect(page).to_have_url(re.compile(rf"/kb\?id={kb_id}$"))


def test_the_list_counts_by_status(office: DemoOrganization, windows: Windows) -> None:
    owner = office.add_person()
    kb_id, _ = new_kb(owner, "Contracts"), new_kb(owner, "Minutes")
    ids = [upload(owner, kb_id, f"{number}.txt", f"Number {number}".encode()) for number in range(3)]
    broken = upload(owner, kb_id, "broken.pdf", b"%PDF-1.7 and nothing behind it")
    wait_until_final(owner, kb_id, [*ids, broken])
    owner.api.post(f"/api/v1/knowledge-bases/{kb_id}/documents/{ids[0]}/archive")
    page = windows.open(owner).page
    page.goto("/")
    expect(page.get_by_role("row").filter(has_text="Contracts")).to_be_visible()
    assert re.split(r"\s+", row(page, "Contracts"))[:6] == ["Contracts", "2", "–", "1", "1", "You"]
    assert re.split(r"\s+", row(page, "Minutes"))[:5] == ["Minutes", "–", "–", "–", "–"]


def test_make_rename_describe_and_choose_the_hand_over(office: DemoOrganization, windows: Windows) -> None:
    owner = office.add_person()
    new_kb(owner, "Minutes")
    page = windows.open(owner).page
    page.goto("/?all=1")
    page.get_by_role("button", name="New knowledge base").click()
    page.get_by_role("dialog").get_by_label("Name").fill("<b>Contracts</b>")
    page.get_by_role("button", name="Create knowledge base").click()
    expect(page).to_have_url(re.compile(r"/kb\?id="))
    expect(page.get_by_text("Created '<b>Contracts</b>'")).to_be_visible()
    page.goto("/?all=1")
    menu(page, "<b>Contracts</b>", "Settings…")
    page.get_by_label("Name").fill("Contracts")
    page.get_by_label("Description").fill("Everything that binds us")
    page.get_by_label("Send to Paperless").select_option("When a PDF is archived")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("dialog")).to_have_count(0)
    expect(page.get_by_role("row").filter(has_text="Everything that binds us")).to_be_visible()
    [kb] = [item for item in owner.api.get("/api/v1/knowledge-bases").json()["items"] if item["name"] == "Contracts"]
    assert (kb["description"], kb["hand_over_policy"]) == ("Everything that binds us", "on_archived")


def test_members_are_added_by_address_changed_removed_and_made_owner(
    office: DemoOrganization, windows: Windows
) -> None:
    owner, colleague, stranger = (
        office.add_person("owner"),
        office.add_person("colleague"),
        office.add_person("another"),
    )
    kb_id = new_kb(owner, "Contracts")
    path = f"/api/v1/knowledge-bases/{kb_id}/members"
    page = windows.open(owner).page
    page.goto("/?all=1")
    menu(page, "Contracts", "Members…")
    expect(page.get_by_text("Only the owner and the admins of your organization have access.")).to_be_visible()
    for address, said in ((f"x{colleague.email}", "No user in your organization"), (owner.email, "is the owner")):
        page.get_by_label("Email address").fill(address)
        page.get_by_role("button", name="Add").click()
        expect(page.get_by_text(said)).to_be_visible()
    page.get_by_label("Email address").fill(colleague.email.upper())
    page.get_by_label("Role", exact=True).select_option("Editor")
    page.get_by_role("button", name="Add").click()
    members = page.get_by_role("list", name="Members")
    expect(members.get_by_text(colleague.email)).to_be_visible()
    assert [(item["email"], item["role"]) for item in owner.api.get(path).json()["items"]] == [
        (colleague.email, "editor")
    ]
    page.get_by_label(f"Role of {colleague.email}").select_option("Viewer")
    expect(page.get_by_text(f"Changed {colleague.email} to viewer")).to_be_visible()
    add_member(owner, kb_id, stranger, "viewer")
    page.get_by_role("button", name=f"Actions for {colleague.email}").click()
    page.get_by_role("menuitem", name="Remove").click()
    expect(members.get_by_text(colleague.email)).to_have_count(0)
    expect(members.get_by_text(stranger.email)).to_be_visible()
    page.get_by_role("button", name=f"Actions for {stranger.email}").click()
    page.get_by_role("menuitem", name="Transfer ownership…").click()
    page.get_by_role("button", name="Transfer ownership").click()
    expect(page.get_by_text(f"{stranger.email} is now the owner")).to_be_visible()
    expect(members.get_by_role("listitem")).to_contain_text([stranger.email, owner.email])
    page.get_by_role("button", name="Close").click()
    expect(page.get_by_role("row").filter(has_text="Editor")).to_be_visible()
    assert owner.api.get(f"/api/v1/knowledge-bases/{kb_id}").json()["owner_email"] == stranger.email


def test_a_viewer_reads_the_members_and_is_shown_no_changes(office: DemoOrganization, windows: Windows) -> None:
    owner, viewer = office.add_person("owner"), office.add_person("viewer")
    kb_id = new_kb(owner, "Contracts")
    add_member(owner, kb_id, viewer, "viewer")
    page = windows.open(viewer).page
    page.goto("/?all=1")
    page.get_by_role("button", name="Actions for Contracts").click()
    expect(page.get_by_role("menuitem")).to_have_text(["Open", "Members"])
    page.get_by_role("menuitem", name="Members").click()
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_role("listitem")).to_have_count(2)
    expect(dialog.get_by_role("button")).to_have_text(["Close"])
    expect(dialog.get_by_role("textbox")).to_have_count(0)
    expect(page.get_by_role("link", name="Archive")).to_have_count(0)
    expect(page.get_by_role("navigation", name="Administration")).to_have_count(0)


def test_removing_one_with_documents_takes_the_typed_word(office: DemoOrganization, windows: Windows) -> None:
    owner = office.add_person()
    kb_id, _ = new_kb(owner, "Contracts"), new_kb(owner, "Minutes")
    ids = [upload(owner, kb_id, f"{number}.txt", f"Number {number}".encode()) for number in range(3)]
    wait_until_final(owner, kb_id, ids)
    page = windows.open(owner).page
    page.goto("/")
    menu(page, "Contracts", "Delete…")
    question = "Permanently delete 'Contracts' with its 3 documents? This cannot be undone."
    expect(page.get_by_role("dialog", name=question)).to_be_visible()
    act = page.get_by_role("button", name="Delete permanently")
    for typed in ("delete", "DELETE ", "DELET"):
        page.get_by_role("textbox").fill(typed)
        expect(act).to_be_disabled()
    page.keyboard.press("Escape")
    assert owner.api.get(f"/api/v1/knowledge-bases/{kb_id}").status_code == 200
    menu(page, "Contracts", "Delete…")
    page.get_by_role("textbox").fill("DELETE")
    act.click()
    expect(page.get_by_text("Deleted 'Contracts'")).to_be_visible()
    assert owner.api.get(f"/api/v1/knowledge-bases/{kb_id}").status_code == 404
    assert owner.api.get("/api/v1/receipts", params={"kb_id": kb_id}).json()["total"] == 3


def test_removing_an_empty_one_asks_once(office: DemoOrganization, windows: Windows) -> None:
    owner = office.add_person()
    new_kb(owner, "Contracts"), new_kb(owner, "Minutes")
    page = windows.open(owner).page
    page.goto("/")
    menu(page, "Minutes", "Delete…")
    dialog = page.get_by_role("dialog", name="Delete 'Minutes'?")
    expect(dialog.get_by_role("button", name="Cancel")).to_be_focused()
    dialog.get_by_role("button", name="Delete").click()
    expect(page.get_by_text("Deleted 'Minutes'")).to_be_visible()
    expect(page).to_have_url(re.compile(r"/kb\?id="))  # the only remaining one opens
