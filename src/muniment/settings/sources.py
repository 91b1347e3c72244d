"""Sources of settings besides the environment: secret files and secrets generated once."""

import os
import secrets
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Any

from dotenv import dotenv_values
from pydantic import AliasChoices, SecretStr
from pydantic.fields import FieldInfo
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource

from muniment.errors import MunimentError

GENERATED = "generated"


class SettingsError(MunimentError):
    """Invalid settings"""


def is_secret(field: FieldInfo) -> bool:
    return "SecretStr" in str(field.annotation)


def is_generated(field: FieldInfo) -> bool:
    return isinstance(field.json_schema_extra, dict) and bool(field.json_schema_extra.get(GENERATED))


class SecretFiles(PydanticBaseSettingsSource):
    """Secrets from files: `<NAME>_FILE` names the file, as mounted by Docker and Kubernetes."""

    def __init__(self, settings_cls: type[BaseSettings]) -> None:
        super().__init__(settings_cls)
        env_file = self.config.get("env_file")
        from_dotenv = dotenv_values(str(env_file)) if env_file else {}
        self._names = {**from_dotenv, **os.environ}

    def get_field_value(self, field: FieldInfo, field_name: str) -> tuple[Any, str, bool]:
        choices = field.validation_alias.choices if isinstance(field.validation_alias, AliasChoices) else []
        for name in choices:  # all sources report a value under the first name
            if path := self._names.get(f"{name}_FILE"):
                return SecretStr(_read_secret(Path(path), f"{name}_FILE")), str(choices[0]), False
        return None, field_name, False

    def __call__(self) -> dict[str, Any]:
        found = (self.get_field_value(f, n)[:2] for n, f in self.settings_cls.model_fields.items() if is_secret(f))
        return {name: value for value, name in found if value is not None}


def _read_secret(path: Path, name: str) -> str:
    try:
        value = path.read_text(encoding="utf-8").strip()
    except OSError as error:
        raise SettingsError(f"{name}: cannot read {path} ({error.strerror})") from None
    if not value:
        raise SettingsError(f"{name}: {path} is empty")
    return value


def read_or_generate_secret(path: Path) -> str:
    """Return the secret in `path`, generating it if it does not exist. Concurrent processes get the same secret."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    if not path.exists():
        # Written to a temporary file and linked: a path that exists always contains the complete secret.
        descriptor, temporary = tempfile.mkstemp(dir=path.parent, prefix=".new-")  # mkstemp creates it with mode 0600
        try:
            with os.fdopen(descriptor, "w") as file:
                file.write(secrets.token_urlsafe(32))
                file.flush()
                os.fsync(file.fileno())
            with suppress(FileExistsError):  # another process was first
                os.link(temporary, path)
        finally:
            Path(temporary).unlink()
        _sync_directory(path.parent)
    return path.read_text(encoding="utf-8").strip()


def _sync_directory(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
