"""A missing OCR language is reported before anything starts."""

import pytest

from muniment.processing.readers.ocr.engine import OcrLanguageMissing, require_languages
from muniment.settings.processing import ReaderSettings


@pytest.mark.parametrize("languages", ["deu+eng", "eng"])
def test_installed_languages_are_accepted(languages: str) -> None:
    require_languages(ReaderSettings(ocr_languages=languages).languages)


@pytest.mark.parametrize("languages", ["xyz", "deu+xyz", "", "+"])
def test_missing_languages_are_refused_and_the_installed_ones_named(languages: str) -> None:
    with pytest.raises(OcrLanguageMissing, match=r"MUNIMENT_OCR_LANGUAGES: .*Available: deu, eng"):
        require_languages(ReaderSettings(ocr_languages=languages).languages)
