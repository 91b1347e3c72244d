"""A language that is not there is said before anything starts."""

import pytest

from muniment.bootstrap.ocr import require_ocr_languages
from muniment.settings import Settings
from muniment.settings.processing import ReaderSettings
from muniment.settings.sources import SettingsError


def settings(languages: str) -> Settings:
    return Settings().model_copy(update={"reader": ReaderSettings(ocr_languages=languages)})


@pytest.mark.parametrize("languages", ["deu+eng", "eng"])
def test_languages_that_come_along_are_accepted(languages: str) -> None:
    require_ocr_languages(settings(languages))


@pytest.mark.parametrize("languages", ["xyz", "deu+xyz", "", "+"])
def test_others_are_refused_and_the_known_ones_named(languages: str) -> None:
    with pytest.raises(SettingsError, match=r"MUNIMENT_OCR_LANGUAGES: .*Available: deu, eng"):
        require_ocr_languages(settings(languages))
