"""OCR result of one image: words with their boxes, and the engine's confidence."""

from dataclasses import dataclass, replace

PixelBox = tuple[int, int, int, int]
"""Left, top, right, bottom."""

_WORD = "5"
"""Level of a word in Tesseract's table."""


class OcrFailed(Exception):
    """No text was recognized in the image; `message` is a sentence for the page's `problem`."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


@dataclass(frozen=True, slots=True)
class OcrWord:
    text: str
    box: PixelBox
    confidence: float
    """From 0 to 1."""
    block: int
    paragraph: int
    """Index within its block."""
    line: int
    """Index within its paragraph."""


@dataclass(frozen=True, slots=True)
class OcrResult:
    """Words in reading order.

    Boxes refer to `width` × `height`, which is smaller than submitted for oversized images.
    """

    words: tuple[OcrWord, ...]
    width: int
    height: int

    @property
    def confidence(self) -> float:
        """Mean confidence of all words, or 0 if there are none."""
        return sum(word.confidence for word in self.words) / len(self.words) if self.words else 0.0

    def rotated_180(self) -> "OcrResult":
        """Return the same words with their positions in the image rotated by 180°."""
        return replace(self, words=tuple(self._rotate_word(word) for word in self.words))

    def _rotate_word(self, word: OcrWord) -> OcrWord:
        left, top, right, bottom = word.box
        return replace(word, box=(self.width - right, self.height - bottom, self.width - left, self.height - top))


def parse_tsv(table: bytes, *, width: int, height: int) -> OcrResult:
    """Parse Tesseract's table (TSV). Raise `ValueError` if it is malformed."""
    lines = table.decode("utf-8").splitlines()
    if not lines or not lines[0].startswith("level\t"):
        raise ValueError("no table")
    rows = (line.split("\t") for line in lines[1:])
    words = tuple(_word(row) for row in rows if row[0] == _WORD and row[11].strip())
    return OcrResult(words, width, height)


def _word(row: list[str]) -> OcrWord:
    _, _, block, paragraph, line, _, left, top, width, height = map(int, row[:10])
    box = (left, top, left + width, top + height)
    return OcrWord(row[11].strip(), box, max(0.0, float(row[10])) / 100, block, paragraph, line)
