"""OCR languages from the settings, checked against the installed ones.

Imports little, because the supervisor loads it.
"""

from muniment.processing.readers.ocr.engine import find_engine, installed_languages
from muniment.settings import Settings
from muniment.settings.sources import SettingsError


def ocr_languages(settings: Settings) -> tuple[str, ...]:
    return tuple(filter(None, settings.reader.ocr_languages.split("+")))


def require_ocr_languages(settings: Settings) -> None:
    """A language that is not there would leave scans without text, and nobody would notice for weeks."""
    engine, wanted = find_engine(), ocr_languages(settings)
    if engine is None:
        return  # `doctor` says so; everything but scans is read
    missing = sorted(set(wanted) - set(installed_languages(engine.data_folder, wanted)))
    if missing or not wanted:
        known = ", ".join(engine.languages)
        raise SettingsError(
            f"MUNIMENT_OCR_LANGUAGES: {'+'.join(missing) or 'nothing'} is not available. Available: {known}"
        )
