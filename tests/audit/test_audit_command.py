"""`muniment audit`: verification in a terminal, and replacing the key."""

import base64
import json
from pathlib import Path
from uuid import UUID

import pytest

from muniment.storage.db.address import DatabaseAddress
from tests.audit.trail import Trail
from tests.cli.test_commands import outside
from tests.support.commands import run_command as run
from tests.support.live_api import RunningApi
from tests.support.seed import Seed

pytestmark = pytest.mark.slow


async def test_verify_says_of_each_chain_that_it_is_in_order(
    trail: Trail, address: DatabaseAddress, tmp_path: Path
) -> None:
    await trail.write_sealed(3)
    told = run(tmp_path, "audit", "verify", **outside(address, tmp_path))
    assert (told.returncode, told.stderr) == (0, "")
    assert told.stdout.splitlines() == [
        "ok     the installation: 0 events in order, signed up to seq 0",
        f"ok     organization {trail.organization_id}: 3 events in order, signed up to seq 3",
    ]


async def test_verify_says_what_is_wrong_where_and_ends_with_1(
    trail: Trail, address: DatabaseAddress, tmp_path: Path
) -> None:
    ids = await trail.write_sealed(3)
    trail.tamper("DELETE FROM audit_events WHERE id = %s", ids[1])
    told = run(tmp_path, "audit", "verify", **outside(address, tmp_path))
    assert told.returncode == 1
    assert f"FAIL   organization {trail.organization_id}: The event at seq 2 is missing" in told.stdout
    only = ("--chain", str(trail.organization_id), "--json")
    (facts,) = json.loads(run(tmp_path, "audit", "verify", *only, **outside(address, tmp_path)).stdout)
    assert (facts["is_intact"], facts["problems"]) == (
        False,
        [{"seq": 2, "sentence": "The event at seq 2 is missing"}],
    )
    installation = ("--chain", str(UUID(int=0)))
    assert run(tmp_path, "audit", "verify", *installation, **outside(address, tmp_path)).returncode == 0


@pytest.fixture
async def export(api: RunningApi, seed: Seed, tmp_path: Path) -> Path:
    admin = seed.person(is_admin=True)
    async with api.client(admin) as client:
        for name in ("A", "B"):
            await client.post("/api/v1/knowledge-bases", json={"name": name})
        (tmp_path / "export.jsonl").write_bytes((await client.get("/api/v1/audit/export")).content)
        (tmp_path / "keys.json").write_bytes((await client.get("/api/v1/audit/key")).content)
    return tmp_path / "export.jsonl"


def test_a_file_is_verified_without_database_and_settings(export: Path, tmp_path: Path) -> None:
    told = run(tmp_path, "audit", "verify", str(export))
    assert (told.returncode, told.stderr) == (0, "")
    assert "2 events in order, 0 not included in the file, seq 1 to 2" in told.stdout
    assert "Compare it with GET /api/v1/audit/key" in told.stdout
    (facts,) = json.loads(run(tmp_path, "audit", "verify", str(export), "--json").stdout)
    trusting = run(tmp_path, "audit", "verify", str(export), "--key", facts["key_id"])
    assert trusting.returncode == 0
    assert "Compare" not in trusting.stdout
    assert run(tmp_path, "audit", "verify", str(export), "--key", "another").returncode == 1


def test_the_saved_keys_of_the_installation_verify_its_files_and_no_others(export: Path, tmp_path: Path) -> None:
    saved = tmp_path / "keys.json"
    trusting = run(tmp_path, "audit", "verify", str(export), "--key", str(saved))
    assert trusting.returncode == 0, trusting.stdout
    assert "Compare" not in trusting.stdout
    foreign = {**json.loads(saved.read_text()), "public_key": base64.b64encode(bytes(32)).decode()}
    saved.write_text(json.dumps(foreign))
    assert run(tmp_path, "audit", "verify", str(export), "--key", str(saved)).returncode == 1


def test_a_file_that_was_changed_ends_with_1(export: Path, tmp_path: Path) -> None:
    export.write_text(export.read_text().replace('"name":"B"', '"name":"C"'))
    told = run(tmp_path, "audit", "verify", str(export))
    assert told.returncode == 1
    assert told.stdout == "FAIL   The event at seq 2 is not what was sealed: it was changed\n"


def test_what_is_no_export_is_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "other.jsonl").write_text("{}\n")
    for name, said in (("other.jsonl", "Not an export"), ("nowhere.jsonl", "File not found")):
        told = run(tmp_path, "audit", "verify", name)
        assert told.returncode == 1
        assert told.stderr.startswith(f"muniment: {said}")
        assert "Traceback" not in told.stderr


def test_another_key_refuses_to_start_until_it_is_said_to_be_meant(
    address: DatabaseAddress, seed: Seed, tmp_path: Path
) -> None:
    old = outside(address, tmp_path)
    new = {**old, "MUNIMENT_SIGNING_KEY": "A" * 43}
    assert run(tmp_path, "artifacts", "gc", **old).returncode == 0
    refused = run(tmp_path, "artifacts", "gc", **new)
    assert refused.returncode == 1
    assert "MUNIMENT_SIGNING_KEY" in refused.stderr
    assert "muniment audit replace-key" in refused.stderr
    assert "MUNIMENT_SIGNING_KEY" in run(tmp_path, "doctor", **new).stdout
    assert run(tmp_path, "audit", "replace-key", **new).stdout == "Replaced.\n"
    assert run(tmp_path, "artifacts", "gc", **new).returncode == 0
    assert run(tmp_path, "artifacts", "gc", **old).returncode == 1
    assert run(tmp_path, "audit", "verify", **new).returncode == 0


@pytest.mark.parametrize("key", ["too short", "x" * 60])
def test_what_is_no_key_is_a_sentence_that_does_not_repeat_it(
    address: DatabaseAddress, tmp_path: Path, key: str
) -> None:
    environment = {**outside(address, tmp_path), "MUNIMENT_SIGNING_KEY": key}
    refused = run(tmp_path, "worker", **environment)
    assert refused.returncode == 1
    assert "MUNIMENT_SIGNING_KEY is not an Ed25519 key" in refused.stderr
    assert key not in refused.stderr
