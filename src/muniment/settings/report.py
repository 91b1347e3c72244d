"""Describe every setting with its value, origin and meaning."""

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from dotenv import dotenv_values
from pydantic import SecretStr
from pydantic.fields import FieldInfo

from muniment.settings import Settings
from muniment.settings.fields import environment_names
from muniment.settings.sources import is_generated, is_secret


@dataclass(frozen=True)
class SettingRow:
    group: str
    name: str
    value: str | None
    origin: str
    meaning: str


def describe(settings: Settings, environ: Mapping[str, str] = os.environ) -> Iterator[SettingRow]:
    """Describe every setting without changing anything; secrets that do not exist yet are not generated."""
    completed = settings.with_secrets(generate=False) if settings.database.is_embedded else settings
    for group, section in completed.sections().items():
        for name, field in type(section).model_fields.items():
            yield SettingRow(
                group=group,
                name=environment_names(field)[0],
                value=_display_value(getattr(section, name), field),
                origin=_origin(settings, group, name, field, environ),
                meaning=field.description or "",
            )


def _display_value(value: Any, field: FieldInfo) -> str | None:
    if value is None:
        return None
    return "********" if is_secret(field) or isinstance(value, SecretStr) else str(value)


def _origin(settings: Settings, group: str, name: str, field: FieldInfo, environ: Mapping[str, str]) -> str:
    upper = {key.upper(): value for key, value in environ.items()}
    in_file = {key.upper(): value for key, value in dotenv_values(".env").items()}
    for source, values, suffix in (
        ("environment", upper, ""),
        ("file", upper | in_file, "_FILE"),
        (".env", in_file, ""),
    ):
        for alias in environment_names(field):
            if values.get(alias + suffix) and (not suffix or is_secret(field)):
                return f"{source} {alias}{suffix}"
    if is_generated(field) and settings.database.is_embedded:
        path = settings.secrets_dir / f"{group}_{name}"
        return f"generated, {path}" if path.exists() else "generated at the first start"
    return "default"
