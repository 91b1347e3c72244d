"""`muniment doctor` checks every component, writes nothing, and has a command for each problem."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from muniment.audit.heads import HeadSigner
from muniment.audit.keys import rotate_key
from muniment.audit.sealing import Sealer
from muniment.audit.signing import Signer
from muniment.audit.verification import Verification
from muniment.bootstrap.services import build_services
from muniment.bootstrap.stores import Stores
from muniment.cli import diagnostics
from muniment.cli.diagnostics import Diagnosis
from muniment.http.services import Services
from muniment.settings import Settings
from muniment.settings.sources import read_or_generate_secret
from muniment.storage.db.address import DatabaseAddress
from muniment.storage.db.work import Database
from muniment.storage.objects.folder.store import FolderObjectStore
from tests.audit.trail import Trail
from tests.cli.test_commands import outside
from tests.support.commands import run_command as run
from tests.support.fake_paperless.fake import FakePaperlessServers
from tests.support.fake_paperless.users import ARCHIVER, WITHOUT_TASKS
from tests.support.seed import SIGNING_KEY, Seed

PATIENT = ("doctor", "--timeout", "60")
"""The limit of two seconds is not what these tests are about."""
READ_ONLY = 'mount --bind "$0" "$0" && mount -o remount,bind,ro "$0" && exec "$@"'


def create_folders(tmp_path: Path, environment: dict[str, str]) -> None:
    """Create the folders of a new installation, as the first start does."""
    assert run(tmp_path, "artifacts", "gc", **environment).returncode == 0


def problems(tmp_path: Path, environment: dict[str, str]) -> dict[str, Any]:
    """Return the findings that are no "ok"; the worker, which is not running, is left out."""
    told = run(tmp_path, *PATIENT, "--json", **environment)
    assert "Traceback" not in told.stderr
    failed = {finding["part"]: finding for finding in json.loads(told.stdout) if not finding["is_ok"]}
    assert told.returncode == (1 if failed else 0)
    assert all(finding["command"] and ". " not in finding["detail"] for finding in failed.values())
    failed.pop("tasks", None)
    return failed


def contents(folder: Path) -> dict[Path, int]:
    return {path: path.stat().st_mtime_ns for path in folder.rglob("*")}


def test_every_component_of_an_outside_installation_is_checked(tmp_path: Path, address: DatabaseAddress) -> None:
    environment = outside(address, tmp_path)
    create_folders(tmp_path, environment)
    before = contents(tmp_path)
    findings = json.loads(run(tmp_path, *PATIENT, "--json", **environment).stdout)
    found = {finding["part"]: finding for finding in findings}
    assert set(found) == {
        "settings", "database", "tables", "secret", "pooling", "tasks", "blobs", "queue", "originals", "audit",
        "reader", "index", "disk",
    }  # fmt: skip
    assert {part for part, finding in found.items() if not finding["is_ok"]} == {"tasks"}
    assert found["tasks"]["command"] == "muniment worker"
    assert found["index"]["detail"].startswith("pgvector 0.")
    assert contents(tmp_path) == before


def test_database_that_is_unavailable_is_named(tmp_path: Path, address: DatabaseAddress) -> None:
    environment = {**outside(address, tmp_path), "DATABASE_URL": "postgresql://postgres@127.0.0.1:1/muniment"}
    assert "DATABASE_URL" in problems(tmp_path, environment)["database"]["detail"]


def test_data_directory_that_does_not_exist_is_a_finding_and_is_not_created(
    tmp_path: Path, address: DatabaseAddress
) -> None:
    absent = tmp_path / "absent"
    found = problems(tmp_path, outside(address, absent))
    assert {"blobs", "queue", "disk"} <= set(found)
    assert str(absent) in found["disk"]["detail"]
    assert {found[part]["command"] for part in ("blobs", "queue", "disk")} == {"muniment api"}
    assert not absent.exists()


@pytest.mark.slow
def test_read_only_disk_is_a_finding(tmp_path: Path, address: DatabaseAddress) -> None:
    program = shutil.which("unshare")
    isolated = [program or "", "--map-root-user", "--mount"]
    if program is None or subprocess.run([*isolated, "true"], check=False, capture_output=True).returncode:
        pytest.skip("this machine cannot mount a folder read-only for one process")
    folder = tmp_path / "data"
    environment = outside(address, folder)
    create_folders(tmp_path, environment)
    told = subprocess.run(
        [*isolated, "sh", "-c", READ_ONLY, str(folder), sys.executable, "-m", "muniment", *PATIENT, "--json"],
        cwd=tmp_path,
        env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", **environment},
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    assert "Traceback" not in told.stderr
    found = {finding["part"]: finding for finding in json.loads(told.stdout)}
    assert not found["blobs"]["is_ok"]
    assert not found["queue"]["is_ok"]
    assert "Read-only file system" in found["blobs"]["detail"]


@pytest.mark.parametrize("unreadable", ["data", "data/secrets"])
def test_data_directory_of_another_user_is_a_finding(tmp_path: Path, unreadable: str) -> None:
    folder = tmp_path / "data"
    (folder / "secrets").mkdir(parents=True)
    (tmp_path / unreadable).chmod(0)
    as_other_user = ["setpriv", "--bounding-set", "-dac_override,-dac_read_search"] if os.geteuid() == 0 else []
    if as_other_user and shutil.which("setpriv") is None:
        pytest.skip("root can read everything")
    told = subprocess.run(
        [*as_other_user, sys.executable, "-m", "muniment", "doctor", "--json"],
        cwd=tmp_path,
        env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "MUNIMENT_DATA_DIR": str(folder)},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    (tmp_path / unreadable).chmod(0o700)
    assert "Traceback" not in told.stderr
    [found] = json.loads(told.stdout)
    assert (told.returncode, found["command"]) == (1, f"ls -ld {folder}")
    assert "Permission denied" in found["detail"]


def test_store_that_is_missing_is_neither_created_nor_called_healthy(tmp_path: Path, address: DatabaseAddress) -> None:
    environment = outside(address, tmp_path)
    create_folders(tmp_path, environment)
    (tmp_path / "blobs").rename(tmp_path / "elsewhere")
    assert "is missing" in problems(tmp_path, environment)["blobs"]["detail"]
    (tmp_path / "blobs").mkdir()  # as if a disk were not mounted
    assert "is missing" in problems(tmp_path, environment)["blobs"]["detail"]


async def test_time_for_building_the_checks_is_not_taken_from_them(
    tmp_path: Path, address: DatabaseAddress, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Clock:
        seconds = 0.0

        def monotonic(self) -> float:
            return self.seconds

    def build_slowly(settings: Settings, stores: Stores) -> Services:
        clock.seconds += 1000
        return build_services(settings, stores)

    clock, environment = Clock(), outside(address, tmp_path)
    create_folders(tmp_path, environment)
    monkeypatch.setattr(diagnostics, "time", clock)
    monkeypatch.setattr(diagnostics, "build_services", build_slowly)
    monkeypatch.chdir(tmp_path)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    findings = await Diagnosis(Settings.load, timeout_seconds=60).run()
    details = {finding.part: finding.detail for finding in findings}
    assert (details["audit"], details["originals"]) == ("all chains are intact", "all originals are intact")


async def test_changed_audit_log_is_a_problem(
    tmp_path: Path, address: DatabaseAddress, database: Database, seed: Seed
) -> None:
    environment, signer = outside(address, tmp_path), Signer.from_text(SIGNING_KEY)
    create_folders(tmp_path, environment)
    objects = FolderObjectStore(tmp_path / "blobs")
    heads, verification = HeadSigner(database, objects, signer), Verification(database, objects, signer)
    trail = Trail(seed, Sealer(database, signer), heads, verification, seed.organization())
    [event_id, _] = await trail.write_sealed(2)
    assert problems(tmp_path, environment) == {}
    trail.tamper("UPDATE audit_events SET payload = '{}' WHERE id = %s", event_id)
    assert problems(tmp_path, environment)["audit"]["command"] == "muniment audit verify"
    for table in ("audit_events", "audit_seals", "audit_heads", "organizations"):
        trail.tamper(f"DELETE FROM {table}")
    assert "its end was removed" in problems(tmp_path, environment)["audit"]["detail"]


async def test_interrupted_rotation_of_the_signing_key_is_a_finding_and_is_not_completed(
    tmp_path: Path, address: DatabaseAddress, database: Database
) -> None:
    environment = outside(address, tmp_path)
    create_folders(tmp_path, environment)
    new_key = tmp_path / "secrets" / "audit_signing_key.new"
    await rotate_key(database, Signer.from_text(read_or_generate_secret(new_key)))
    found = problems(tmp_path, environment)["secret"]
    assert (found["detail"], found["command"]) == (
        "A rotation of the signing key was interrupted",
        "muniment audit rotate-key",
    )
    assert [path.name for path in new_key.parent.iterdir()] == [new_key.name]


def test_original_that_is_missing_is_a_problem(tmp_path: Path, address: DatabaseAddress, seed: Seed) -> None:
    environment, person = outside(address, tmp_path), seed.person()
    create_folders(tmp_path, environment)
    document_id = seed.document(seed.knowledge_base(person), person)
    found = problems(tmp_path, environment)
    assert set(found) == {"originals"}
    assert (found["originals"]["detail"], found["originals"]["command"]) == (
        f"The original of document {document_id} is missing",
        "muniment reconcile --read-data-subset 100%",
    )


def test_original_with_other_bytes_is_a_problem_and_the_command_finds_it(
    tmp_path: Path, address: DatabaseAddress, seed: Seed
) -> None:
    environment, person = outside(address, tmp_path), seed.person()
    create_folders(tmp_path, environment)
    document_id = seed.document(seed.knowledge_base(person), person, created_at="2026-01-01", updated_at="2026-01-01")
    key, size = seed.rows("SELECT original_uri, file_size FROM documents")[0]
    original = tmp_path / "blobs" / key
    original.parent.mkdir(parents=True)
    original.write_bytes(b"?" * size)
    found = problems(tmp_path, environment)
    assert found["originals"]["detail"] == f"The original of document {document_id} is damaged"
    assert found["originals"]["command"].startswith("muniment ")
    told = run(tmp_path, *found["originals"]["command"].split()[1:], **environment)
    assert told.returncode == 2
    assert str(document_id) in told.stdout


def test_loss_found_by_the_last_reconciliation_is_a_problem(
    tmp_path: Path, address: DatabaseAddress, seed: Seed
) -> None:
    environment = outside(address, tmp_path)
    create_folders(tmp_path, environment)
    seed.execute(
        "INSERT INTO reconcile_reports (id, began_at, is_repair, outcome, counts)"
        " VALUES (gen_random_uuid(), now(), false, 2, '[]')"
    )
    assert set(problems(tmp_path, environment)) == {"originals"}


def test_full_disk_is_no_reason_to_lower_the_limit(tmp_path: Path, address: DatabaseAddress) -> None:
    environment = {**outside(address, tmp_path), "MUNIMENT_DISK_FLOOR_BYTES": str(10**18)}
    create_folders(tmp_path, environment)
    found = problems(tmp_path, environment)
    assert set(found) == {"disk"}
    assert found["disk"]["command"].startswith("du ")
    assert "MUNIMENT_DISK_FLOOR_BYTES" not in found["disk"]["detail"]


def test_newer_tables_ask_for_an_upgrade_of_the_program(tmp_path: Path, address: DatabaseAddress, seed: Seed) -> None:
    environment = outside(address, tmp_path)
    create_folders(tmp_path, environment)
    seed.execute("UPDATE alembic_version SET version_num = 'later'")
    seed.execute("INSERT INTO schema_compatibility (version, compatible_from) VALUES ('later', 'later')")
    found = problems(tmp_path, environment)["tables"]
    assert "upgrade Muniment" in found["detail"]
    assert found["command"] == "muniment version"


def test_doctor_checks_paperless_with_the_archivers_token(
    tmp_path: Path, address: DatabaseAddress, paperless_servers: FakePaperlessServers
) -> None:
    server = paperless_servers.of(3)
    tokens = {ARCHIVER.token: "version 3.0 at", WITHOUT_TASKS.token: "view_paperlesstask", "0" * 40: "API token"}
    for token, said in tokens.items():
        environment = {"PAPERLESS_URL": server.url, "PAPERLESS_API_TOKEN": token}
        findings = json.loads(run(tmp_path, *PATIENT, "--json", **outside(address, tmp_path), **environment).stdout)
        [found] = [finding for finding in findings if finding["part"] == "paperless"]
        assert found["is_ok"] == (token == ARCHIVER.token)
        assert said in found["detail"]
        assert token not in found["detail"]
