"""Fold letters: spellings of the same word with and without diacritics, and in both scripts of Serbian."""

import unicodedata

_COMBINING = dict.fromkeys(range(0x300, 0x370))
_LETTERS = str.maketrans(
    {
        "ß": "ss", "ø": "o", "æ": "a", "œ": "oe", "đ": "d", "ð": "d", "þ": "th", "ł": "l", "ı": "i", "ħ": "h",
        "ŋ": "n", "ŧ": "t", "ς": "σ",
    }
)  # fmt: skip
_DIGRAPHS = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "å": "aa", "ø": "oe", "æ": "ae", "đ": "dj"})
_MIXED = str.maketrans({"å": "a", "ø": "o", "æ": "ae"})
_CYRILLIC = str.maketrans(
    {
        "а": "a", "б": "b", "в": "v", "г": "g", "д": "d", "ђ": "đ", "е": "e", "ж": "ž", "з": "z", "и": "i", "ј": "j",
        "к": "k", "л": "l", "љ": "lj", "м": "m", "н": "n", "њ": "nj", "о": "o", "п": "p", "р": "r", "с": "s", "т": "t",
        "ћ": "ć", "у": "u", "ф": "f", "х": "h", "ц": "c", "ч": "č", "џ": "dž", "ш": "š",
    }
)  # fmt: skip
_SERBIAN_LETTERS = frozenset(map(chr, _CYRILLIC))


def fold(word: str) -> str:
    """Return a lower-case word without diacritics: `müller` as `muller`, `straße` as `strasse`, `ærlig` as `arlig`."""
    if word.isascii():
        return word
    decomposed = unicodedata.normalize("NFD", word.translate(_LETTERS))
    return unicodedata.normalize("NFC", decomposed.translate(_COMBINING))


def spellings(word: str) -> tuple[str, ...]:
    """Return the ways in which a lower-case word is typed, itself first: `müller`, `muller`, `mueller`."""
    if word.isascii():
        return (word,)
    variants = [word, fold(word), fold(word.translate(_DIGRAPHS)), fold(word.translate(_MIXED))]
    if _SERBIAN_LETTERS.issuperset(word):
        latin = to_latin(word)
        variants += [latin, fold(latin), fold(latin.translate(_DIGRAPHS))]
    return tuple(dict.fromkeys(variants))


def to_latin(word: str) -> str:
    """Return a word in Serbian Cyrillic in Latin script; other letters are kept."""
    return word.translate(_CYRILLIC)
