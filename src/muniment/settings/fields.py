"""Declare settings: environment names, default, meaning and the sources of their values."""

import re
from datetime import timedelta
from typing import Annotated, Any

from pydantic import AliasChoices, BeforeValidator, Field
from pydantic.fields import FieldInfo
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict

from muniment.settings.sources import GENERATED, SecretFiles

UNIT_SECONDS = {"": 1, "s": 1, "m": 60, "h": 3600, "d": 86400}


def _parse_duration(value: Any) -> Any:
    """Parse `30`, `30s`, `5m`, `24h` or `14d`; leave anything else to pydantic, which parses ISO 8601."""
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([smhd]?)\s*", value) if isinstance(value, str) else None
    return timedelta(seconds=float(match[1]) * UNIT_SECONDS[match[2]]) if match else value


Duration = Annotated[timedelta, BeforeValidator(_parse_duration)]


def setting(default: Any, meaning: str, *names: str, generated: bool = False) -> Any:
    """Declare a setting.

    `names` are its environment names: ours first, then those of specifications and other tools.
    """
    return Field(
        default,
        description=meaning,
        validation_alias=AliasChoices(*names),
        json_schema_extra={GENERATED: generated},
    )


class SettingsSection(BaseSettings):
    model_config = SettingsConfigDict(
        env_file=".env", extra="ignore", frozen=True, populate_by_name=True, env_ignore_empty=True
    )

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        return init_settings, env_settings, SecretFiles(settings_cls), dotenv_settings


def environment_names(field: FieldInfo) -> list[str]:
    """Return the environment names of a setting, ours first."""
    alias = field.validation_alias
    return [str(choice) for choice in alias.choices] if isinstance(alias, AliasChoices) else []
