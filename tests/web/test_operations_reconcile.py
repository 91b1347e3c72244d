"""The report of the last reconciliation, and the command to run before there is one."""

import re
from contextlib import closing
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from tests.support.folders import shared_folder
from tests.support.running_server import RunningServer
from tests.web.archived_documents import run_sql
from tests.web.demo_organization import create_demo_organization, new_client, new_kb, upload, wait_until_final
from tests.web.windows import Windows

pytestmark = pytest.mark.slow


def test_a_comparison_is_shown_with_what_it_found_in_which_store(browser: Browser, prepared_data_dir: Path) -> None:
    with (
        shared_folder() as folder,
        RunningServer(folder, prepared_data_dir) as muniment,
        closing(new_client(muniment.start())) as first,
    ):
        office = create_demo_organization(muniment, first)
        operator = office.add_person("operator", is_operator=True)
        kb_id = new_kb(operator)
        document_id = upload(operator, kb_id, "Lease.txt")
        wait_until_final(operator, kb_id, [document_id])
        windows = Windows(browser, muniment.url)
        page = windows.open(operator, height=1200).page
        page.goto("/operations")
        region = page.get_by_role("region", name="Reconciliation")
        expect(region).to_contain_text("The stores have not been compared yet.")
        expect(region.get_by_text("muniment reconcile", exact=True)).to_be_visible()

        assert muniment.run("reconcile").returncode == 0
        page.get_by_role("button", name="Check now").click()
        expect(region.get_by_text("No drift")).to_be_visible()
        expect(region).to_contain_text("All stores are consistent.")
        expect(region).to_contain_text("check only")

        [original] = (path for path in muniment.data_dir.rglob(f"{document_id}/1/*") if path.is_file())
        original.unlink()
        age(muniment, document_id)
        assert muniment.run("reconcile").returncode != 0
        page.get_by_role("button", name="Check now").click()
        expect(region.get_by_text("Data missing")).to_be_visible()
        expect(region.get_by_role("row", name=re.compile(r"Original files missing 1 0 1"))).to_be_visible()
        expect(region).to_contain_text("Restore the missing or damaged objects from a backup.")
        expect(region.get_by_text("muniment reconcile --read-data-subset 100%", exact=True)).to_be_visible()
        assert "Lease" not in page.content()
        office.close()
        windows.close()


def age(muniment: RunningServer, document_id: str) -> None:
    """Make the document older: recent changes may still be in progress and are ignored."""
    run_sql(muniment, "UPDATE documents SET updated_at = now() - interval '1 day' WHERE id = %s", document_id)
