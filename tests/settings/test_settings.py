import os
import stat
from datetime import timedelta
from pathlib import Path

import pytest

from muniment.settings import Settings
from muniment.settings.report import describe
from muniment.settings.sources import SettingsError, read_or_generate_secret


@pytest.fixture(autouse=True)
def in_an_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_environment_wins_over_a_secret_file_and_that_over_dotenv(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / ".env").write_text("DOCUMENT_HMAC_SECRET=from dotenv\n")
    assert _hmac_secret() == "from dotenv"
    (tmp_path / "secret").write_text("from a file\n")
    monkeypatch.setenv("DOCUMENT_HMAC_SECRET_FILE", str(tmp_path / "secret"))
    assert _hmac_secret() == "from a file"
    monkeypatch.setenv("DOCUMENT_HMAC_SECRET", "from the environment")
    assert _hmac_secret() == "from the environment"


@pytest.mark.parametrize("prefix", ["lumikb_", "9lives", "lumi-kb", "lumi kb", "a:b"])
def test_a_prefix_that_makes_no_name_of_a_metric_is_refused(prefix: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MUNIMENT_METRICS_PREFIX", prefix)
    with pytest.raises(SettingsError, match="METRICS_PREFIX"):
        Settings.load()


@pytest.mark.parametrize("name", ["MUNIMENT_S3_BUCKET", "S3_BUCKET", "AWS_S3_BUCKET"])
def test_names_of_the_ecosystem_are_accepted(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(name, "originals")
    assert Settings.load().s3.bucket == "originals"


@pytest.mark.parametrize(
    ("name", "section", "field"),
    [
        ("DATABASE_URL", "database", "url"),
        ("AWS_ENDPOINT_URL", "s3", "endpoint"),
        ("AWS_REGION", "s3", "region"),
        ("AWS_ACCESS_KEY_ID", "s3", "access_key_id"),
        ("AWS_SECRET_ACCESS_KEY", "s3", "secret_access_key"),
        ("QDRANT_URL", "search", "qdrant_url"),
        ("DOCUMENT_HMAC_SECRET", "documents", "hmac_secret"),
        ("INTERNAL_API_KEY", "archive", "internal_api_key"),
        ("OTEL_EXPORTER_OTLP_ENDPOINT", "telemetry", "otlp_endpoint"),
    ],
)
def test_each_foreign_name_reaches_its_setting(
    name: str, section: str, field: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(name, "http://value.example.org/of-the-setting")
    value = getattr(getattr(Settings.load(), section), field)
    assert (
        value.get_secret_value() if hasattr(value, "get_secret_value") else value
    ) == "http://value.example.org/of-the-setting"


@pytest.mark.parametrize(
    ("given", "meant"),
    [("90", timedelta(seconds=90)), ("1.5m", timedelta(seconds=90)), ("2h", timedelta(hours=2)), ("P1D", timedelta(1))],
)
def test_durations_are_written_as_people_write_them(
    given: str, meant: timedelta, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MUNIMENT_UPLOAD_LIFETIME", given)
    assert Settings.load().documents.upload_lifetime == meant


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("MUNIMENT_PORT", "many"),
        ("MUNIMENT_PORT", "99999"),
        ("MUNIMENT_PUBLIC_URL", "documents.example.org"),
        ("MUNIMENT_PUBLIC_URL", "https://example.org/below"),
        ("MUNIMENT_LOG_LEVEL", "LOUD"),
        ("MUNIMENT_ARTIFACT_SCOPE", "everybody"),
        ("DOCUMENT_HMAC_SECRET_FILE", "/nowhere"),
    ],
)
def test_a_wrong_value_is_refused_by_its_name_and_without_its_secret(
    name: str, value: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(name, value)
    with pytest.raises(SettingsError, match=name.removesuffix("_FILE")):
        Settings.load()


def test_on_one_machine_missing_secrets_are_generated_once_and_closed_to_others(tmp_path: Path) -> None:
    first, second = Settings.load().with_secrets(), Settings.load().with_secrets()
    assert first == second
    files = list((tmp_path / "data" / "secrets").iterdir())
    assert len(files) == 5
    assert {stat.S_IMODE(file.stat().st_mode) for file in files} == {0o600}


def test_a_secret_that_was_given_is_not_generated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOCUMENT_HMAC_SECRET", "given")
    Settings.load().with_secrets()
    assert "documents_hmac_secret" not in [file.name for file in (tmp_path / "data" / "secrets").iterdir()]


def test_two_processes_that_generate_at_once_agree(tmp_path: Path) -> None:
    children = []
    for number in range(8):
        child = os.fork()
        if child == 0:
            (tmp_path / f"answer-{number}").write_text(read_or_generate_secret(tmp_path / "secrets" / "one"))
            os._exit(0)
        children.append(child)
    for child in children:
        os.waitpid(child, 0)
    assert len({(tmp_path / f"answer-{number}").read_text() for number in range(8)}) == 1
    assert [file.name for file in (tmp_path / "secrets").iterdir()] == ["one"]


def test_with_an_outside_database_a_missing_secret_refuses_with_the_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DATABASE_URL", "postgresql://db.example.org/muniment")
    monkeypatch.setenv("DOCUMENT_HMAC_SECRET", "given")
    with pytest.raises(SettingsError, match="MUNIMENT_DATABASE_APP_PASSWORD, MUNIMENT_DATABASE_SERVICE_PASSWORD"):
        Settings.load().with_secrets()
    assert not (tmp_path / "data").exists()


def test_the_report_names_every_setting_with_origin_and_meaning_and_hides_secrets(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / ".env").write_text("MUNIMENT_PORT=9000\n")
    monkeypatch.setenv("INTERNAL_API_KEY", "very secret " * 3)
    settings = Settings.load()
    before = {line.name: line for line in describe(settings)}
    assert before["MUNIMENT_DOCUMENT_HMAC_SECRET"].origin == "generated at the first start"
    assert not (tmp_path / "data").exists()  # a report changes nothing
    settings.with_secrets()
    lines = {line.name: line for line in describe(settings)}
    assert lines["MUNIMENT_PORT"].origin == ".env MUNIMENT_PORT"
    assert lines["MUNIMENT_PORT"].value == "9000"
    assert lines["MUNIMENT_INTERNAL_API_KEY"].origin == "environment INTERNAL_API_KEY"
    assert lines["MUNIMENT_DOCUMENT_HMAC_SECRET"].origin.startswith("generated, ")
    assert lines["MUNIMENT_HOST"].origin == "default"
    assert all(line.meaning for line in lines.values())
    told = str(list(lines.values()))
    for file in (tmp_path / "data" / "secrets").iterdir():
        assert file.read_text() not in told
    assert "very secret" not in told


def _hmac_secret() -> str | None:
    secret = Settings.load().documents.hmac_secret
    return secret.get_secret_value() if secret else None


@pytest.mark.parametrize("name", ["INTERNAL_API_KEY", "INTERNAL_API_KEY_OLD"])
def test_a_short_internal_key_is_refused_with_the_command_that_generates_one(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(name, "x" * 31)
    with pytest.raises(SettingsError) as refused:
        Settings.load()
    assert name in refused.value.message
    assert "at least 32 characters" in refused.value.message
    assert "openssl rand -hex 32" in refused.value.message
    assert "x" * 31 not in refused.value.message

    monkeypatch.setenv(name, "x" * 32)
    assert Settings.load().archive.internal_api_keys == ("x" * 32,)
