"""Detect the language of a text, as the name of a PostgreSQL text search configuration."""

from functools import lru_cache

from py3langid.langid import MODEL_FILE, LanguageIdentifier

SIMPLE = "simple"
_CONFIGURATIONS = {
    "ar": "arabic",
    "bs": "serbian",
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
    "hr": "serbian",
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
"""Text search configurations that PostgreSQL has since version 15. Bosnian and Croatian have the same inflections as
Serbian, and the same stemmer."""
_MIN_LETTERS = 12
_MIN_LETTERS_FOR_OTHER_LANGUAGES = 60
"""Below this, a language without a configuration is more often a mistake than a fact."""
_MAX_CHARACTERS = 20_000
"""Number of characters examined. More do not improve detection."""


def detect_text_search_config(text: str, *, fallback: str = SIMPLE) -> str:
    """Return the configuration for a text: `simple` if its language has none.

    A text that is too short to tell gets the fallback: the configuration of its document or knowledge base.
    """
    return find_text_search_config(text) or fallback


def find_text_search_config(text: str) -> str | None:
    """Return the configuration for a text, or `None` if the text is too short to tell."""
    sample = text[:_MAX_CHARACTERS]
    letters = sum(map(str.isalpha, sample))
    if letters < _MIN_LETTERS:
        return None
    language, _ = _identifier().classify(sample)
    if language == "sl" and sample.isascii():  # Slovenian has its diacritics; this is Serbian typed without them
        language = "sr"
    known = _CONFIGURATIONS.get(language)
    return SIMPLE if known is None and letters >= _MIN_LETTERS_FOR_OTHER_LANGUAGES else known


@lru_cache
def _identifier() -> LanguageIdentifier:
    return LanguageIdentifier.from_model_file(MODEL_FILE)
