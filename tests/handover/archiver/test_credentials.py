"""Only the archiver has the credentials of Paperless."""

from typing import Any

from pydantic import SecretStr

from muniment.settings.handover import ArchiverSettings

SECRETS: dict[str, Any] = {
    "paperless_api_token": SecretStr("token"),
    "cf_access_client_secret": SecretStr("secret"),
    "s3_secret_access_key": SecretStr("key"),
    "alert_urls": "mailto://user:password@example.org",
}


def test_what_api_and_worker_load_has_no_secret_of_the_archiver() -> None:
    settings = ArchiverSettings(paperless_url="https://paperless.example.org", **SECRETS).without_secrets()

    assert [name for name in SECRETS if getattr(settings, name) is not None] == []
    assert settings.paperless_url is not None


def test_every_secret_of_the_archiver_is_one_of_these() -> None:
    fields = ArchiverSettings.model_fields.items()
    secrets = {name for name, field in fields if "SecretStr" in str(field.annotation)}

    assert secrets <= SECRETS.keys()


def test_children_of_the_supervisor_other_than_the_archiver_inherit_no_secret_of_it() -> None:
    names = ArchiverSettings.secret_environment_names()

    assert {"PAPERLESS_API_TOKEN", "MUNIMENT_PAPERLESS_API_TOKEN", "PAPERLESS_API_TOKEN_FILE"} <= names
    assert {"CF_ACCESS_CLIENT_SECRET", "MUNIMENT_ARCHIVER_S3_SECRET_ACCESS_KEY", "MUNIMENT_ALERT_URLS"} <= names
    assert "PAPERLESS_URL" not in names
