"""Detect the language of a text, as the name of a PostgreSQL text search configuration."""

from functools import lru_cache

from py3langid.langid import MODEL_FILE, LanguageIdentifier

SIMPLE = "simple"
_CONFIGURATIONS = {
    "ar": "arabic",
    "ca": "catalan",
    "da": "danish",
    "de": "german",
    "el": "greek",
    "en": "english",
    "es": "spanish",
    "eu": "basque",
    "fi": "finnish",
    "fr": "french",
    "ga": "irish",
    "hi": "hindi",
    "hu": "hungarian",
    "hy": "armenian",
    "id": "indonesian",
    "it": "italian",
    "lt": "lithuanian",
    "ne": "nepali",
    "nl": "dutch",
    "nn": "norwegian",
    "no": "norwegian",
    "pt": "portuguese",
    "ro": "romanian",
    "ru": "russian",
    "sr": "serbian",
    "sv": "swedish",
    "ta": "tamil",
    "tr": "turkish",
}
"""Text search configurations that PostgreSQL has since version 15."""
_MIN_LETTERS = 12
_MAX_CHARACTERS = 20_000
"""Number of characters examined. More do not improve detection."""


def detect_text_search_config(text: str) -> str:
    """Return the configuration for a text: `simple` if its language has none, or if the text is too short to tell."""
    sample = text[:_MAX_CHARACTERS]
    if sum(map(str.isalpha, sample)) < _MIN_LETTERS:
        return SIMPLE
    language, _ = _identifier().classify(sample)
    return _CONFIGURATIONS.get(language, SIMPLE)


@lru_cache
def _identifier() -> LanguageIdentifier:
    return LanguageIdentifier.from_model_file(MODEL_FILE)
