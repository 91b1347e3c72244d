import errno
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from muniment import cli
from muniment.accounts.credentials import digest
from muniment.storage.db.address import DatabaseAddress
from tests.support.cluster import PASSWORDS
from tests.support.commands import CommandResult
from tests.support.commands import run_command as run
from tests.support.seed import SIGNING_KEY, Seed

COMMANDS = (
    "serve", "api", "worker", "migrate", "reset-password", "settings", "doctor", "reprocess", "artifacts", "version",
    "search", "mcp", "index", "reconcile", "archiver",
)  # fmt: skip


def run_process(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Start a real process instead of a fork: loading is part of what is tested."""
    return subprocess.run(
        [sys.executable, "-m", "muniment", *arguments],
        cwd=folder,
        env={"PATH": "/usr/bin:/bin", "COLUMNS": "200"},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def outside(address: DatabaseAddress, folder: Path) -> dict[str, str]:
    return {
        "DATABASE_URL": address.conninfo,
        "MUNIMENT_DATABASE_APP_PASSWORD": PASSWORDS.app,
        "MUNIMENT_DATABASE_SERVICE_PASSWORD": PASSWORDS.service,
        "DOCUMENT_HMAC_SECRET": "secret of the tests",
        "MUNIMENT_SIGNING_KEY": SIGNING_KEY,
        "MUNIMENT_DATA_DIR": str(folder),
    }


def test_every_command_is_listed_and_has_help(tmp_path: Path) -> None:
    listed = run_process(tmp_path, "--help").stdout
    for command in COMMANDS:
        assert command in listed
        helped = run(tmp_path, command, "--help")
        assert helped.returncode == 0
        assert "Usage" in helped.stdout


def test_commands_that_print_facts_print_json_too(tmp_path: Path) -> None:
    assert json.loads(run_process(tmp_path, "doctor", "--json").stdout)
    for command in ("settings", "doctor", "version"):
        assert json.loads(run(tmp_path, command, "--json").stdout)


def test_what_cannot_be_done_is_a_sentence_and_no_traceback(tmp_path: Path) -> None:
    for start, command in ((run_process, "api"), (run, "worker"), (run, "migrate")):
        refused = start(tmp_path, command)
        assert refused.returncode == 1
        assert re.match("muniment: .* has no database yet", refused.stderr)
        assert "Traceback" not in refused.stderr


def test_doctor_says_what_is_wrong_and_what_to_type(tmp_path: Path) -> None:
    told = run(tmp_path, "doctor")
    assert told.returncode == 1
    assert "FAIL" in told.stdout
    assert "muniment serve" in told.stdout


def test_a_look_leaves_nothing_behind(tmp_path: Path) -> None:
    assert "MUNIMENT_DATA_DIR" in run(tmp_path, "doctor").stdout
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("url", ["mysql://admin:hunter2@db/muniment", "rubbish hunter2"])
def test_a_wrong_database_address_is_a_sentence_without_its_password(tmp_path: Path, url: str) -> None:
    environment = {"MUNIMENT_DATABASE_APP_PASSWORD": "x", "MUNIMENT_DATABASE_SERVICE_PASSWORD": "x"}
    environment["MUNIMENT_SIGNING_KEY"] = SIGNING_KEY
    refused = run(tmp_path, "api", DATABASE_URL=url, DOCUMENT_HMAC_SECRET="x", **environment)
    assert refused.returncode == 1
    assert "postgresql://" in refused.stderr
    assert "hunter2" not in refused.stderr
    assert "Traceback" not in refused.stderr


def test_a_data_directory_that_cannot_be_made_is_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    refused = run(tmp_path, "serve", MUNIMENT_DATA_DIR=str(tmp_path / "file" / "data"))
    assert refused.returncode == 1
    assert refused.stderr.startswith("muniment: MUNIMENT_DATA_DIR")


def test_another_secret_than_the_documents_were_stored_with_is_refused(
    tmp_path: Path, address: DatabaseAddress, seed: Seed
) -> None:
    person = seed.person()
    seed.document(seed.knowledge_base(person), person, content_hmac="ffffffff:0")
    refused = run(tmp_path, "api", **outside(address, tmp_path))
    assert refused.returncode == 1
    assert "DOCUMENT_HMAC_SECRET" in refused.stderr


def test_a_forgotten_password_is_replaced_by_a_link(tmp_path: Path, address: DatabaseAddress, seed: Seed) -> None:
    person = seed.person(is_operator=True)
    colleague = seed.person()
    seed.session(person)
    told = run(tmp_path, "reset-password", person.email.upper(), "--json", **outside(address, tmp_path))
    facts = json.loads(told.stdout)
    assert (facts["email"], facts["is_active"], facts["revoked_tokens"]) == (person.email, True, 1)
    secret = facts["sign_in_link"].partition("#token=")[2]
    assert seed.rows("SELECT user_id FROM sign_in_links WHERE token_hash = %s", digest(secret)) == [(person.id,)]
    assert seed.rows("SELECT 1 FROM sessions") == []
    assert seed.rows("SELECT user_id FROM api_tokens WHERE revoked_at IS NULL") == [(colleague.id,)]
    unknown = run(tmp_path, "reset-password", "nobody@example.org", **outside(address, tmp_path))
    assert (unknown.returncode, unknown.stderr) == (1, "muniment: No user has this email\n")


def test_resetting_a_password_does_not_migrate_the_database(
    tmp_path: Path, address: DatabaseAddress, seed: Seed
) -> None:
    person = seed.person()
    seed.execute("UPDATE alembic_version SET version_num = '0037'")
    refused = run(tmp_path, "reset-password", person.email, **outside(address, tmp_path))
    said = "muniment: The database is older than this Muniment: run `muniment migrate`\n"
    assert (refused.returncode, refused.stderr) == (1, said)
    assert seed.one("SELECT version_num FROM alembic_version") == "0037"


@pytest.mark.parametrize(("code", "said"), [(errno.ENOSPC, "The disk is full"), (errno.EROFS, "The disk is read-only")])
def test_a_full_disk_is_a_sentence_and_no_traceback(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], code: int, said: str
) -> None:
    def fail() -> None:
        raise OSError(code, os.strerror(code), "somewhere/file")

    monkeypatch.setattr(cli, "app", fail)
    with pytest.raises(SystemExit) as ended:
        cli.main()
    told = capsys.readouterr().err
    assert ended.value.code == 1
    assert told.startswith(f"muniment: {said}")
    assert told.endswith("somewhere/file\n")


def test_an_address_of_several_organizations_needs_the_name_or_id_of_one(
    tmp_path: Path, address: DatabaseAddress, seed: Seed
) -> None:
    names = ("Alfa AS", "Beta AS", "Beta AS")
    people = [seed.person(seed.organization(name), email="person@example.org") for name in names]
    listed = [f"  {person.organization_id}  {name}" for person, name in zip(people, names, strict=True)]

    def reset(*options: str) -> CommandResult:
        return run(tmp_path, "reset-password", "person@example.org", "--json", *options, **outside(address, tmp_path))

    for told, choices in ((reset(), listed), (reset("--organization", "Beta AS"), listed[1:])):
        refusal = "muniment: Several organizations have a user with this email. Choose one with --organization:"
        assert (told.returncode, told.stderr.splitlines()) == (1, [refusal, *choices])
    unknown = reset("--organization", "Gamma AS")
    assert (unknown.returncode, unknown.stderr) == (1, "muniment: No user of this organization has this email\n")
    assert seed.one("SELECT count(*) FROM users WHERE password_hash IS NULL") == 0

    for choice, person in ((str(people[2].organization_id), people[2]), ("Alfa AS", people[0])):
        secret = json.loads(reset("--organization", choice).stdout)["sign_in_link"].partition("#token=")[2]
        assert seed.rows("SELECT user_id FROM sign_in_links WHERE token_hash = %s", digest(secret)) == [(person.id,)]
    assert seed.rows("SELECT id FROM users WHERE password_hash IS NOT NULL") == [(people[1].id,)]


def test_a_reset_password_is_audited_as_a_change_of_the_user(
    tmp_path: Path, address: DatabaseAddress, seed: Seed
) -> None:
    person = seed.person()
    run(tmp_path, "reset-password", person.email, "--json", **outside(address, tmp_path))
    events = {line["action"]: line["payload"] for line in seed.audit_lines()}
    assert list(events) == ["token_revoked", "user_changed", "password_changed", "sign_in_link_created"]
    assert events["user_changed"] == {
        "user_id": str(person.id),
        "before": {"has_password": True},
        "after": {"has_password": False},
    }


def test_a_deactivated_account_stays_deactivated_when_its_password_is_reset(
    tmp_path: Path, address: DatabaseAddress, seed: Seed
) -> None:
    person = seed.person()
    seed.deactivate(person)
    told = run(tmp_path, "reset-password", person.email, **outside(address, tmp_path))
    assert "This account is deactivated. The link works once an admin has activated it again." in told.stdout
    assert seed.one("SELECT is_active FROM users WHERE id = %s", person.id) is False


def test_resetting_a_password_without_an_installation_creates_none(tmp_path: Path) -> None:
    refused = run(tmp_path, "reset-password", "somebody@example.org", MUNIMENT_DATA_DIR=str(tmp_path / "absent"))
    assert refused.returncode == 1
    assert "has no Muniment data yet" in refused.stderr
    assert not (tmp_path / "absent").exists()


@pytest.mark.parametrize(("answer", "revoked"), [("", True), ("n", False)])
def test_a_person_is_asked_whether_the_tokens_are_revoked_too(
    tmp_path: Path, address: DatabaseAddress, seed: Seed, answer: str, revoked: bool
) -> None:
    person = seed.person()
    terminal, its_end = os.openpty()
    command = [sys.executable, "-m", "muniment", "reset-password", person.email]
    environment = {"PATH": "/usr/bin:/bin", **outside(address, tmp_path)}
    os.write(terminal, f"{answer}\n".encode())
    told = subprocess.run(
        command, cwd=tmp_path, env=environment, stdin=its_end, capture_output=True, timeout=60, check=True
    )
    os.close(terminal)
    os.close(its_end)
    assert b"Revoke the API tokens of this account too? [Y/n]" in told.stdout
    assert seed.one("SELECT revoked_at IS NOT NULL FROM api_tokens") is revoked


def test_an_option_keeps_the_tokens_without_asking(tmp_path: Path, address: DatabaseAddress, seed: Seed) -> None:
    person = seed.person()
    told = run(tmp_path, "reset-password", person.email, "--keep-tokens", **outside(address, tmp_path))
    assert told.returncode == 0
    assert seed.one("SELECT revoked_at FROM api_tokens") is None


def test_migrate_prepares_an_outside_database_and_prints_a_link(tmp_path: Path, address: DatabaseAddress) -> None:
    facts = json.loads(run(tmp_path, "migrate", "--json", **outside(address, tmp_path)).stdout)
    assert facts["first_account"] == "admin@localhost"
    assert "#token=" in facts["sign_in_link"]
